/** What a receiver asks for that gets too much holds for all that waits for it. */
export const endpointsAskedForSilence = (): readonly string[] => [
  'ALTER TABLE webhook_endpoints ADD COLUMN silent_until bigint',
];
