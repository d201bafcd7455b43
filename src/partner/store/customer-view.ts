/** Reads customers together with the sums of their devices. */
import { type ExpressionBuilder, sql } from 'kysely';
import type { StoreReader } from './database.ts';
import { largestExact } from './metering.ts';
import type { BackupOutcome } from './report.ts';
import type { CustomerTable, Tables } from './schema.ts';

export interface Customer {
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
  /** The partner's own id for the customer, unique among its customers. */
  readonly externalId: string | null;
  readonly planId: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly status: 'active' | 'suspended';
  readonly trialEndsAt: number | null;
  readonly storageUsedBytes: number;
  readonly storageLimitBytes: number;
  readonly devicesCount: number;
  /** Devices whose backup is late, and devices whose last backup failed. */
  readonly devicesLate: number;
  readonly devicesFailing: number;
  /** The most recently ended backup of all devices of the customer. */
  readonly lastBackup: BackupOutcome | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface CustomerFilter {
  readonly status?: 'active' | 'suspended' | undefined;
  readonly planId?: string | undefined;
  readonly externalId?: string | undefined;
  /** Part of a name, an e-mail address or an external id, in upper or lower case. */
  readonly search?: string | undefined;
  /** A time in milliseconds since 1970: only customers whose trial ends before it, or has ended. */
  readonly trialEndsBefore?: number | undefined;
  /**
   * As `trialEndsBefore`, and customers with a device whose backup is late or whose last backup failed, or with more
   * storage than their plan has.
   */
  readonly attentionBefore?: number | undefined;
}

export interface CustomerQuery extends CustomerFilter {
  readonly id?: string | undefined;
  readonly before?: string | undefined;
  readonly limit?: number;
}

/** Newest first, without deleted customers. */
export async function selectCustomers(
  reader: StoreReader,
  partnerId: string,
  { id, before, limit = 1, ...filter }: CustomerQuery,
): Promise<readonly Customer[]> {
  let query = customersWith(reader, partnerId, filter)
    .selectAll('customers')
    .select('plans.storage_limit_bytes');
  if (id !== undefined) query = query.where('customers.id', '=', id);
  if (before !== undefined) query = query.where('customers.id', '<', before);
  const rows = await query.orderBy('customers.id', 'desc').limit(limit).execute();
  const sums = await deviceSums(
    reader,
    partnerId,
    rows.map((row) => row.id),
  );
  return rows.map((row) => {
    const sum = sums.get(row.id);
    return {
      id: row.id,
      name: row.name,
      email: row.email,
      externalId: row.external_id,
      planId: row.plan_id,
      metadata: JSON.parse(row.metadata) as Customer['metadata'],
      status: row.status === 'suspended' ? 'suspended' : 'active',
      trialEndsAt: row.trial_ends_at,
      storageUsedBytes: sum?.storageUsedBytes ?? 0,
      storageLimitBytes: row.storage_limit_bytes,
      devicesCount: sum?.devicesCount ?? 0,
      devicesLate: sum?.devicesLate ?? 0,
      devicesFailing: sum?.devicesFailing ?? 0,
      lastBackup: sum?.lastBackup ?? null,
      createdAt: row.created_at,
      updatedAt: row.updated_at,
    };
  });
}

function customersWith(reader: StoreReader, partnerId: string, filter: CustomerFilter) {
  const { status, planId, externalId, search, trialEndsBefore, attentionBefore } = filter;
  let query = reader
    .selectFrom('customers')
    .innerJoin('plans', 'plans.id', 'customers.plan_id')
    .where('customers.partner_id', '=', partnerId)
    .where('customers.deleted_at', 'is', null);
  if (status !== undefined) query = query.where('customers.status', '=', status);
  if (planId !== undefined) query = query.where('customers.plan_id', '=', planId);
  if (externalId !== undefined) query = query.where('customers.external_id', '=', externalId);
  if (search !== undefined)
    query = query.where((is) => is.or(MATCHED.map((column) => holds(column, search))));
  if (trialEndsBefore !== undefined) query = query.where('customers.trial_ends_at', '<', trialEndsBefore);
  if (attentionBefore !== undefined)
    query = query.where((is) =>
      is.or([
        is('customers.trial_ends_at', '<', attentionBefore),
        is.exists(
          devicesOf(is)
            .select('devices.id')
            .where((device) => device.or([device('devices.missed_since', 'is not', null), HAS_FAILED])),
        ),
        is(
          devicesOf(is).select(
            sql<number>`coalesce(sum(CAST(devices.storage_used_bytes AS double precision)), 0)`.as('used'),
          ),
          '>',
          is.ref('plans.storage_limit_bytes'),
        ),
      ]),
    );
  return query;
}

/** The present devices of the customer in the outer query. */
function devicesOf(is: ExpressionBuilder<Tables, 'customers'>) {
  return is
    .selectFrom('devices')
    .whereRef('devices.partner_id', '=', 'customers.partner_id')
    .whereRef('devices.customer_id', '=', 'customers.id')
    .where('devices.removed_at', 'is', null);
}

/** Whether the last backup of a device failed. The JSON holds no text that anybody chose. */
const HAS_FAILED = sql<boolean>`devices.last_backup LIKE '%"status":"failed"%'`;

const MATCHED = ['customers.name', 'customers.email', 'customers.external_id'] as const;

function holds(column: (typeof MATCHED)[number], part: string) {
  const pattern = `%${part.toLowerCase().replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
  return sql<boolean>`lower(${sql.ref(column)}) LIKE ${pattern} ESCAPE '\\'`;
}

/** The names of customers by their ids, also of deleted ones until their names are removed. */
export async function customerNames(
  reader: StoreReader,
  partnerId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await reader
    .selectFrom('customers')
    .select(['id', 'name'])
    .where('partner_id', '=', partnerId)
    .where('id', 'in', ids)
    .where('name', '!=', '')
    .execute();
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** The row of a customer; undefined when it was deleted. */
export async function customerRow(
  reader: StoreReader,
  partnerId: string,
  id: string,
): Promise<CustomerTable | undefined> {
  return await reader
    .selectFrom('customers')
    .selectAll()
    .where('partner_id', '=', partnerId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}

/** Does not count deleted customers. */
export async function countCustomers(
  reader: StoreReader,
  partnerId: string,
  filter: CustomerFilter = {},
): Promise<number> {
  const { count } = await customersWith(reader, partnerId, filter)
    .select((is) => is.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

interface DeviceSum {
  readonly storageUsedBytes: number;
  readonly devicesCount: number;
  readonly devicesLate: number;
  readonly devicesFailing: number;
  readonly lastBackup: BackupOutcome | null;
}

async function deviceSums(
  reader: StoreReader,
  partnerId: string,
  customerIds: readonly string[],
): Promise<ReadonlyMap<string, DeviceSum>> {
  if (customerIds.length === 0) return new Map();
  const devices = reader
    .selectFrom('devices')
    .where('partner_id', '=', partnerId)
    .where('customer_id', 'in', customerIds);
  const sums = await devices
    .where('removed_at', 'is', null)
    .select((is) => [
      'customer_id',
      is.fn.countAll<number>().as('devices'),
      is.fn.sum<number>('storage_used_bytes').as('bytes'),
      is.fn.count<number>('missed_since').as('late'),
      sql<number>`sum(CASE WHEN ${HAS_FAILED} THEN 1 ELSE 0 END)`.as('failing'),
    ])
    .groupBy('customer_id')
    .execute();
  const newest = await reader
    .selectFrom(
      devices
        .select((is) => [
          'customer_id',
          'last_backup',
          is.fn
            .agg<number>('row_number')
            .over((over) => over.partitionBy('customer_id').orderBy('last_backup_at', 'desc').orderBy('id'))
            .as('place'),
        ])
        .where('last_backup_at', 'is not', null)
        .as('ordered'),
    )
    .select(['customer_id', 'last_backup'])
    .where('place', '=', 1)
    .execute();
  const backups = new Map(newest.map((row) => [row.customer_id, row.last_backup]));
  return new Map(
    [...new Set([...sums.map((row) => row.customer_id), ...backups.keys()])].map((id) => {
      const sum = sums.find((row) => row.customer_id === id);
      const text = backups.get(id) ?? null;
      return [
        id,
        {
          storageUsedBytes: largestExact(sum?.bytes ?? 0),
          devicesCount: sum?.devices ?? 0,
          devicesLate: sum?.late ?? 0,
          devicesFailing: sum?.failing ?? 0,
          lastBackup: text === null ? null : (JSON.parse(text) as BackupOutcome),
        },
      ];
    }),
  );
}
