/** A deleted endpoint disappears at once; its deliveries, of which there may be millions, are removed in steps. */
export const deletedEndpoints = (): readonly string[] => [
  'ALTER TABLE webhook_endpoints ADD COLUMN deleted_at bigint',
  'CREATE INDEX webhook_endpoints_deleted ON webhook_endpoints (deleted_at) WHERE deleted_at IS NOT NULL',
];
