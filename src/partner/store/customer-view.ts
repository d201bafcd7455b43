/** Reads customers together with the sums of their devices. */
import type { StoreReader } from './database.ts';
import { largestExact } from './metering.ts';
import type { BackupOutcome } from './report.ts';
import type { CustomerTable } from './schema.ts';

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
  /** The most recently ended backup of all devices of the customer. */
  readonly lastBackup: BackupOutcome | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface CustomerQuery {
  readonly id?: string | undefined;
  readonly status?: 'active' | 'suspended' | undefined;
  readonly planId?: string | undefined;
  readonly externalId?: string | undefined;
  readonly before?: string | undefined;
  readonly limit?: number;
}

/** Newest first, without deleted customers. */
export async function selectCustomers(
  reader: StoreReader,
  partnerId: string,
  { id, status, planId, externalId, before, limit = 1 }: CustomerQuery,
): Promise<readonly Customer[]> {
  let query = reader
    .selectFrom('customers')
    .innerJoin('plans', 'plans.id', 'customers.plan_id')
    .selectAll('customers')
    .select('plans.storage_limit_bytes')
    .where('customers.partner_id', '=', partnerId)
    .where('customers.deleted_at', 'is', null);
  if (id !== undefined) query = query.where('customers.id', '=', id);
  if (status !== undefined) query = query.where('customers.status', '=', status);
  if (planId !== undefined) query = query.where('customers.plan_id', '=', planId);
  if (externalId !== undefined) query = query.where('customers.external_id', '=', externalId);
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
      lastBackup: sum?.lastBackup ?? null,
      createdAt: row.created_at,
      updatedAt: row.updated_at,
    };
  });
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

export async function countCustomers(reader: StoreReader, partnerId: string): Promise<number> {
  const { count } = await reader
    .selectFrom('customers')
    .select((is) => is.fn.countAll<number>().as('count'))
    .where('partner_id', '=', partnerId)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow();
  return count;
}

interface DeviceSum {
  readonly storageUsedBytes: number;
  readonly devicesCount: number;
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
          lastBackup: text === null ? null : (JSON.parse(text) as BackupOutcome),
        },
      ];
    }),
  );
}
