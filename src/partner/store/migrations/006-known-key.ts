import type { MigrationDialect } from './dialect.ts';

/** By what a store knows the key of its service: one row, made by the first that opens it. */
export const serviceKey = ({ text }: MigrationDialect): readonly string[] => [
  `CREATE TABLE service_key (
    place bigint PRIMARY KEY CHECK (place = 1),
    hash ${text} NOT NULL
  )`,
];
