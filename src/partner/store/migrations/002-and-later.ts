/** The steps after the first tables, in the order in which they are applied. */
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

export const signInLog = ({ text }: MigrationDialect): readonly string[] => [
  `CREATE TABLE sign_in_log (
    name ${text} PRIMARY KEY,
    times text NOT NULL,
    expires_at bigint NOT NULL
  )`,
  'CREATE INDEX sign_in_log_age ON sign_in_log (expires_at)',
];

export const effects = ({ text }: MigrationDialect): readonly string[] => [
  `ALTER TABLE idempotency ADD COLUMN effect ${text}`,
];

/** Indexes for filtered lists: without them, a filter that matches nothing reads all rows of a partner. */
export const filteredLists = (): readonly string[] => [
  'CREATE INDEX events_of_customer ON events (partner_id, customer_id, seq)',
  'CREATE INDEX events_of_kind ON events (partner_id, kind, seq)',
  'CREATE INDEX deliveries_of_status ON deliveries (partner_id, endpoint_id, status, id)',
];

/** The single row by which a store recognises the key of its service, created when the store is first opened. */
export const serviceKey = ({ text }: MigrationDialect): readonly string[] => [
  `CREATE TABLE service_key (
    place bigint PRIMARY KEY CHECK (place = 1),
    hash ${text} NOT NULL
  )`,
];

/**
 * Columns that say since when a backup can be late: not before one was expected, nor while the partner was suspended
 * and its devices could not report.
 */
export const heardSince = (): readonly string[] => [
  'ALTER TABLE devices ADD COLUMN expected_since bigint',
  'ALTER TABLE partners ADD COLUMN resumed_at bigint',
];

/** A deleted endpoint disappears at once; its deliveries, of which there may be millions, are removed in steps. */
export const deletedEndpoints = (): readonly string[] => [
  'ALTER TABLE webhook_endpoints ADD COLUMN deleted_at bigint',
  'CREATE INDEX webhook_endpoints_deleted ON webhook_endpoints (deleted_at) WHERE deleted_at IS NOT NULL',
];

/** A receiver that asks for silence pauses all deliveries to its endpoint, not only the one that it answered. */
export const endpointsAskedForSilence = (): readonly string[] => [
  'ALTER TABLE webhook_endpoints ADD COLUMN silent_until bigint',
];

/** A customer has one trial: one who leaves it for another plan and comes back keeps the original end. */
export const oneTrial = (): readonly string[] => [
  'ALTER TABLE customers ADD COLUMN first_trial_ends_at bigint',
  'UPDATE customers SET first_trial_ends_at = trial_ends_at',
];
