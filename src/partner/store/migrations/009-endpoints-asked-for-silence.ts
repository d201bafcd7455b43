/** A receiver that asks for silence pauses all deliveries to its endpoint, not only the one that it answered. */
export const endpointsAskedForSilence = (): readonly string[] => [
  'ALTER TABLE webhook_endpoints ADD COLUMN silent_until bigint',
];
