/**
 * Columns that say since when a backup can be late: not before one was expected, nor while the partner was suspended
 * and its devices could not report.
 */
export const heardSince = (): readonly string[] => [
  'ALTER TABLE devices ADD COLUMN expected_since bigint',
  'ALTER TABLE partners ADD COLUMN resumed_at bigint',
];
