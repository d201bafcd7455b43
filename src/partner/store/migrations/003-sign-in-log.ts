import type { MigrationDialect } from './dialect.ts';

export const signInLog = ({ text }: MigrationDialect): readonly string[] => [
  `CREATE TABLE sign_in_log (
    name ${text} PRIMARY KEY,
    times text NOT NULL,
    expires_at bigint NOT NULL
  )`,
  'CREATE INDEX sign_in_log_age ON sign_in_log (expires_at)',
];
