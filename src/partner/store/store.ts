/** Opens the store of the Partner service: one connection or pool, with one part for each group of tables. */
import type { Clock } from '../../base/clock.ts';
import { RequestError, StateError } from '../../base/errors.ts';
import { holdfast } from '../../base/holdfast-command.ts';
import { openDatabase, saveCopy } from '../../db/database.ts';
import { parseStoreAddress } from './address.ts';
import { type ApiKeyStore, createApiKeyStore } from './api-keys.ts';
import { type AuditLog, createAuditLog } from './audit-log.ts';
import { createCustomerStore, type CustomerStore } from './customers.ts';
import { type DatabaseOptions, openStoreDatabase, type StoreDatabase } from './database.ts';
import { createDeliveryStore, type DeliveryStore } from './deliveries.ts';
import { createDeviceStore, type DeviceStore } from './devices.ts';
import { createEnrollmentStore, type EnrollmentStore } from './enrollment.ts';
import { createEventStore, type EventStore } from './events.ts';
import { createPartnerIdempotencyStore, type PartnerIdempotencyStore } from './idempotency.ts';
import { createKeyedHash, type KeyedHash } from './keyed-hash.ts';
import { migrate, type Migration, MIGRATIONS } from './migrate.ts';
import { createOrderStore, type OrderStore } from './orders.ts';
import { createPartnerStore, type PartnerStore } from './partners.ts';
import { createPlanStore, type PlanStore } from './plans.ts';
import { createPartnerRateLog, type PartnerRateLog } from './rate-log.ts';
import { createReportStore, type ReportStore } from './reports.ts';
import { createSessionStore, type SessionStore } from './sessions.ts';
import { createSignInLog, type SignInLog } from './sign-in-log.ts';
import { createSnapshotHeadStore, type SnapshotHeadStore } from './snapshot-heads.ts';
import { createUsageStore, type UsageStore } from './usage.ts';
import { createWebhookEndpointStore, type WebhookEndpointStore } from './webhook-endpoints.ts';

export interface PartnerStores extends AsyncDisposable {
  readonly kind: StoreDatabase['kind'];
  readonly partners: PartnerStore;
  readonly apiKeys: ApiKeyStore;
  readonly plans: PlanStore;
  readonly customers: CustomerStore;
  readonly devices: DeviceStore;
  readonly enrollment: EnrollmentStore;
  readonly reports: ReportStore;
  readonly orders: OrderStore;
  readonly heads: SnapshotHeadStore;
  readonly usage: UsageStore;
  readonly events: EventStore;
  readonly webhooks: WebhookEndpointStore;
  readonly deliveries: DeliveryStore;
  readonly rateLog: PartnerRateLog;
  readonly idempotency: PartnerIdempotencyStore;
  readonly sessions: SessionStore;
  readonly signIns: SignInLog;
  readonly audit: AuditLog;
  /** Whether the database answers. */
  ping(): Promise<void>;
  /** Removes everything that has expired. To be called from time to time, by any instance. */
  prune(): Promise<void>;
}

export interface StoreOptions extends DatabaseOptions {
  /** 32 random bytes that are kept outside the database. Without them, no key in the database can be found again. */
  readonly pepper: Uint8Array;
  /** Returns a number from 0 to just below 1. */
  readonly chance: () => number;
  readonly migrations?: readonly Migration[];
}

/** How long events can be read and delivered again, in milliseconds. */
const EVENTS_KEPT_MS = 90 * 86_400_000;

/**
 * Opens the store at `address`, and creates or migrates it if necessary.
 * @throws {RequestError} INVALID_URL; {StateError} as `openDatabase`, `migrate` and `requireServiceKey`; errors of
 * PostgreSQL unchanged
 */
export async function openPartnerStore(
  address: string,
  clock: Pick<Clock, 'now'>,
  { pepper, chance, migrations = MIGRATIONS, ...options }: StoreOptions,
): Promise<PartnerStores> {
  const hash = createKeyedHash(pepper);
  const db = openStoreDatabase(parseStoreAddress(address), clock, options);
  try {
    await migrate(db, migrations);
    await requireServiceKey(db, hash);
  } catch (error) {
    await db[Symbol.asyncDispose]();
    throw error;
  }
  const [customers, enrollment, sessions, signIns] = [
    createCustomerStore(db),
    createEnrollmentStore(db, hash),
    createSessionStore(db, hash),
    createSignInLog(db, hash),
  ];
  const [events, idempotency, orders, reports, webhooks] = [
    createEventStore(db),
    createPartnerIdempotencyStore(db),
    createOrderStore(db),
    createReportStore(db),
    createWebhookEndpointStore(db),
  ];
  return {
    kind: db.kind,
    partners: createPartnerStore(db),
    apiKeys: createApiKeyStore(db, hash),
    plans: createPlanStore(db),
    customers,
    devices: createDeviceStore(db, hash),
    enrollment,
    reports,
    orders,
    heads: createSnapshotHeadStore(db),
    usage: createUsageStore(db),
    events,
    webhooks,
    deliveries: createDeliveryStore(db, chance),
    rateLog: createPartnerRateLog(db),
    idempotency,
    sessions,
    signIns,
    audit: createAuditLog(db),
    ping: async () => {
      await db.reader.selectFrom('schema_version').select('version').executeTakeFirstOrThrow();
    },
    prune: async () => {
      while ((await customers.purge()) > 0);
      await enrollment.prune();
      await sessions.prune();
      await signIns.prune();
      await idempotency.prune();
      await orders.prune();
      await reports.prune();
      await webhooks.prune();
      await events.prune(db.now() - EVENTS_KEPT_MS);
    },
    [Symbol.asyncDispose]: async () => await db[Symbol.asyncDispose](),
  };
}

/**
 * Checks that the store is opened with its own key, which is the first one that it was opened with.
 * @throws {StateError} WRONG_SERVICE_KEY for any other
 */
async function requireServiceKey(db: StoreDatabase, hash: KeyedHash): Promise<void> {
  const own = hash('service key', '');
  const known = await db.write(async (trx) => {
    await trx
      .insertInto('service_key')
      .values({ place: 1, hash: own })
      .onConflict((conflict) => conflict.column('place').doNothing())
      .execute();
    return await trx.selectFrom('service_key').select('hash').executeTakeFirstOrThrow();
  });
  if (known.hash === own) return;
  throw new StateError('WRONG_SERVICE_KEY', 'The database of the service belongs to another key', {
    hint: 'Restore the key file that belongs to it (keyFile in partner.json, partner.key unless it names another).',
  });
}

/**
 * Copies the store to one file, for backups, because the store itself is written to all the time. Writes a copy of an
 * SQLite store to `file`, replacing an older one, while the service runs.
 * @throws {RequestError} UNSUPPORTED for PostgreSQL; {StateError} as `openDatabase`
 */
export function copyStore(address: string, file: string): void {
  const store = parseStoreAddress(address);
  if (store.kind === 'postgres') {
    throw new RequestError(
      'UNSUPPORTED',
      'The store is a PostgreSQL database, which has a program for that',
      {
        hint: `Use pg_dump: ${holdfast`backup --stdin-command "pg_dump -Fc DATABASE" --stdin-name partner.dump`}`,
      },
    );
  }
  const database = openDatabase(store.path);
  try {
    saveCopy(database, file);
  } finally {
    database.close();
  }
}
