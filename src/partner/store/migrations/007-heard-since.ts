/** From when on a backup can be late: not before one was expected, nor while a partner's devices were not heard. */
export const heardSince = (): readonly string[] => [
  'ALTER TABLE devices ADD COLUMN expected_since bigint',
  'ALTER TABLE partners ADD COLUMN resumed_at bigint',
];
