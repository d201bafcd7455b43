import type { MigrationDialect } from './dialect.ts';

/** The single row by which a store recognises the key of its service, created when the store is first opened. */
export const serviceKey = ({ text }: MigrationDialect): readonly string[] => [
  `CREATE TABLE service_key (
    place bigint PRIMARY KEY CHECK (place = 1),
    hash ${text} NOT NULL
  )`,
];
