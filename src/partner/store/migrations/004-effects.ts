import type { MigrationDialect } from './dialect.ts';

export const effects = ({ text }: MigrationDialect): readonly string[] => [
  `ALTER TABLE idempotency ADD COLUMN effect ${text}`,
];
