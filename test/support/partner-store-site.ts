/** A store of the Partner service with nothing in it, which several instances may open; on SQLite, or on PostgreSQL. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { parseStoreAddress } from '../../src/partner/store/address.ts';
import type { Actor } from '../../src/partner/store/audit-log.ts';
import type { Customer } from '../../src/partner/store/customer-view.ts';
import { openStoreDatabase, type StoreDatabase } from '../../src/partner/store/database.ts';
import type { EnrolledDevice } from '../../src/partner/store/enrollment.ts';
import type { Partner } from '../../src/partner/store/partners.ts';
import type { BackupOutcome, DeviceReport } from '../../src/partner/store/report.ts';
import { openPartnerStore, type PartnerStores, type StoreOptions } from '../../src/partner/store/store.ts';
import type { WebhookEndpoint } from '../../src/partner/store/webhook-endpoints.ts';
import { tenantFault } from './tenant-wall.ts';
import { manualClock, type ManualClock } from './manual-clock.ts';

export const OWNER: Actor = { name: 'owner', keyId: null, ip: '198.51.100.7' };
export const PLAN = {
  trial: 'plan_01K00000000000000000000001',
  pro: 'plan_01K00000000000000000000002',
  business: 'plan_01K00000000000000000000003',
} as const;

export type StoreKind = 'sqlite' | 'postgres';

/** Where a store may be made. */
export interface StorePlace {
  readonly address: string;
  /** All that is stored in it, as text. */
  stored(): Promise<string>;
  remove(): Promise<void>;
}

export interface StoreSite extends StorePlace {
  /** The time of all instances. */
  readonly clock: ManualClock;
  /** Of the key of the service: another one opens nothing. */
  readonly pepper: Uint8Array;
  /** One more instance, with a connection of its own. */
  open(options?: Partial<StoreOptions>): Promise<PartnerStores>;
  /** The tables below it. */
  database(): StoreDatabase;
}

/** Those that are to be tested here: PostgreSQL where `HOLDFAST_TEST_POSTGRES` is the address of a server. */
export const STORE_KINDS: readonly StoreKind[] =
  process.env['HOLDFAST_TEST_POSTGRES'] === undefined ? ['sqlite'] : ['sqlite', 'postgres'];
/** For tests that stand on one alone. */
export const STORE_KIND: StoreKind =
  process.env['HOLDFAST_TEST_POSTGRES'] === undefined ? 'sqlite' : 'postgres';

export async function storePlace(kind: StoreKind = STORE_KIND): Promise<StorePlace> {
  return kind === 'sqlite' ? filePlace() : await serverPlace();
}

export async function storeSite(kind: StoreKind = STORE_KIND): Promise<StoreSite> {
  const place = await storePlace(kind);
  const clock = manualClock();
  const pepper = randomBytes(32);
  const opened: AsyncDisposable[] = [];
  const faults = new Set<string>();
  const seen = (statement: string): void => {
    const fault = tenantFault(statement);
    if (fault !== undefined) faults.add(fault);
  };
  return {
    address: place.address,
    clock,
    pepper,
    stored: place.stored,
    open: async (options = {}) => {
      const stores = await openPartnerStore(place.address, clock, {
        pepper,
        chance: () => 0,
        sharedClock: clock,
        seen,
        ...options,
      });
      opened.push(stores);
      return stores;
    },
    database: () => {
      const database = openStoreDatabase(parseStoreAddress(place.address), clock, { sharedClock: clock });
      opened.push(database);
      return database;
    },
    remove: async () => {
      for (const one of opened.toReversed()) await one[Symbol.asyncDispose]();
      await place.remove();
      if (faults.size > 0) throw new Error(`statements that name no partner:\n${[...faults].join('\n')}`);
    },
  };
}

function filePlace(): StorePlace {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-store-'));
  return {
    address: `sqlite:${join(directory, 'partner.db')}`,
    // With what is not in the main file yet.
    stored: async () =>
      readdirSync(directory)
        .map((name) => readFileSync(join(directory, name), 'latin1'))
        .join('\n'),
    remove: async () => rmSync(directory, { recursive: true }),
  };
}

/** A database of its own on the server that the tests were given. */
async function serverPlace(): Promise<StorePlace> {
  const server = process.env['HOLDFAST_TEST_POSTGRES'] ?? '';
  const name = `store_${randomBytes(8).toString('hex')}`;
  await administer(server, `CREATE DATABASE ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return {
    address: url.href,
    stored: async () => {
      const [all] = await administer(url.href, 'SELECT database_to_xml(true, true, $$$$)::text AS text');
      return String(all?.['text']);
    },
    remove: async () => {
      await administer(server, `DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

async function administer(
  server: string,
  statement: string,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const client = new Client(server);
  await client.connect();
  try {
    const { rows }: { rows: Record<string, unknown>[] } = await client.query(statement);
    return rows;
  } finally {
    await client.end();
  }
}

export async function somePartner({ partners }: PartnerStores, name = 'acme'): Promise<Partner> {
  return await partners.create(
    { name, company: null, email: `${name}@example.com`, passwordHash: 'argon2id' },
    OWNER,
  );
}

export async function someCustomer(
  { customers }: PartnerStores,
  partnerId: string,
  more: Partial<Parameters<PartnerStores['customers']['create']>[1]> = {},
): Promise<Customer> {
  return await customers.create(
    partnerId,
    { name: 'Ada', email: null, externalId: null, planId: PLAN.business, metadata: {}, ...more },
    OWNER,
  );
}

export async function someEndpoint(
  { webhooks }: PartnerStores,
  partnerId: string,
  more: Partial<Parameters<PartnerStores['webhooks']['create']>[1]> = {},
): Promise<WebhookEndpoint> {
  const url = 'https://hooks.example.com/a';
  const sealSecret = (): string => 'sealed-1';
  return await webhooks.create(partnerId, { url, events: [], description: null, sealSecret, ...more }, OWNER);
}

/** When the next delivery is due that nobody has, in milliseconds since 1970; undefined when none waits. */
export async function nextDueAt({ reader }: StoreDatabase): Promise<number | undefined> {
  const rows = await reader
    .selectFrom('deliveries')
    .select(['next_attempt_at', 'claimed_until'])
    .where('status', '=', 'pending')
    .execute();
  const times = rows.map((row) => Math.max(row.next_attempt_at, row.claimed_until ?? 0));
  return times.length === 0 ? undefined : Math.min(...times);
}

export async function someDevice(
  { enrollment }: PartnerStores,
  partnerId: string,
  customerId: string,
): Promise<EnrolledDevice> {
  const made = await enrollment.createToken(partnerId, customerId, OWNER);
  return await enrollment.enroll(
    made?.token ?? '',
    { name: 'laptop', platform: 'linux', agentVersion: '0.1.0' },
    '203.0.113.9',
  );
}

/** Makes all devices ones that were enrolled three years ago, which can report what was done meanwhile. */
export async function enrolledLongAgo({ database, clock }: StoreSite): Promise<void> {
  const enrolled_at = clock.now() - 3 * 365 * 86_400_000;
  await database().write(async (trx) => await trx.updateTable('devices').set({ enrolled_at }).execute());
}

export function report(seq: number, more: Partial<DeviceReport> = {}): DeviceReport {
  return { seq, agentVersion: '0.1.0', expectedEverySeconds: null, storage: null, results: [], ...more };
}

export function backup(finishedAt: number, more: Partial<BackupOutcome> = {}): BackupOutcome {
  return {
    kind: 'backup',
    status: 'completed',
    finishedAt,
    durationSeconds: 60,
    filesBackedUp: 10,
    sizeBytes: 1_000,
    uploadedBytes: 100,
    errorCode: null,
    ...more,
  };
}

/** The kinds of the partner's events, oldest first. */
export async function eventKinds({ events }: PartnerStores, partnerId: string): Promise<readonly string[]> {
  const { items } = await events.list(partnerId, { limit: 100 });
  return items.map(({ kind }) => kind).toReversed();
}

/** The actions of the partner's audit records, oldest first. */
export async function auditActions({ audit }: PartnerStores, partnerId: string): Promise<readonly string[]> {
  const { items } = await audit.list(partnerId, { limit: 100 });
  return items.map(({ action }) => action).toReversed();
}
