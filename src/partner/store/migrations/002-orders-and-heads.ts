import type { MigrationDialect } from './dialect.ts';

export const ordersAndHeads = ({ text }: MigrationDialect): readonly string[] => [
  `CREATE TABLE orders (
    id ${text} PRIMARY KEY,
    partner_id ${text} NOT NULL,
    device_id ${text} NOT NULL REFERENCES devices (id),
    kind ${text} NOT NULL CHECK (kind IN ('run_backup', 'report')),
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    taken_at bigint
  )`,
  // Queried with every report; most devices have no open orders.
  'CREATE INDEX orders_open ON orders (partner_id, device_id, id) WHERE taken_at IS NULL',
  'CREATE INDEX orders_age ON orders (expires_at)',
  `CREATE TABLE snapshot_heads (
    partner_id ${text} NOT NULL,
    customer_id ${text} NOT NULL,
    device_id ${text} NOT NULL REFERENCES devices (id),
    repository_id ${text} NOT NULL,
    writer ${text} NOT NULL,
    seq bigint NOT NULL,
    hash ${text} NOT NULL,
    report_seq bigint NOT NULL,
    told_at bigint NOT NULL,
    refused_at bigint,
    PRIMARY KEY (device_id, repository_id, writer)
  )`,
  'CREATE INDEX snapshot_heads_of_repository ON snapshot_heads (partner_id, customer_id, repository_id, writer, device_id)',
];
