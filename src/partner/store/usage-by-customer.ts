/** Computes what each customer used in a range of days, for bills, with a fixed number of statements for any number of customers. */
import { sql } from 'kysely';
import type { StoreDatabase, StoreReader } from './database.ts';
import { largestExact, startOf, type Day } from './metering.ts';
import { type Page, pageOf, type PageRequest } from './page.ts';
import { levelsByCustomer } from './usage-levels.ts';

export interface CustomerUsage {
  readonly id: string;
  /** Empty once the name of a deleted customer was removed. */
  readonly name: string;
  readonly externalId: string | null;
  /** The plan that it has now, or had when it was deleted. */
  readonly planId: string;
  readonly deletedAt: number | null;
  /** Storage at the end of the last day. */
  readonly storageBytes: number;
  readonly uploadedBytes: number;
  readonly restoredBytes: number;
  readonly backupsCompleted: number;
  readonly backupsFailed: number;
}

export interface DayRange {
  /** Both days are included. */
  readonly from: Day;
  readonly to: Day;
}

const DAY_MS = 86_400_000;

/** Customers that existed on one of the days, also those that were deleted since, newest first. */
export async function usageByCustomer(
  { reader }: Pick<StoreDatabase, 'reader'>,
  partnerId: string,
  { from, to, limit, before }: DayRange & PageRequest,
): Promise<Page<CustomerUsage>> {
  const rows = await reader
    .selectFrom('customers')
    .select(['id', 'name', 'external_id', 'plan_id', 'deleted_at'])
    .where('partner_id', '=', partnerId)
    .where('created_at', '<', startOf(to) + DAY_MS)
    .where((is) => is.or([is('deleted_at', 'is', null), is('deleted_at', '>=', startOf(from))]))
    .$if(before !== undefined, (query) => query.where('id', '<', before ?? ''))
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute();
  const ids = rows.slice(0, limit).map(({ id }) => id);
  const [sums, levels] = await Promise.all([
    sumsOf(reader, partnerId, ids, { from, to }),
    levelsByCustomer(reader, partnerId, ids, to),
  ]);
  return pageOf(rows, limit, (row) => {
    const sum = sums.get(row.id);
    return {
      id: row.id,
      name: row.name,
      externalId: row.external_id,
      planId: row.plan_id,
      deletedAt: row.deleted_at,
      storageBytes: levels.get(row.id) ?? 0,
      uploadedBytes: largestExact(sum?.uploaded ?? 0),
      restoredBytes: largestExact(sum?.restored ?? 0),
      backupsCompleted: sum?.completed ?? 0,
      backupsFailed: sum?.failed ?? 0,
    };
  });
}

interface Sum {
  readonly id: string;
  readonly uploaded: number;
  readonly restored: number;
  readonly completed: number;
  readonly failed: number;
}

/**
 * As floating point, as sums of reported sizes may exceed the integers of SQLite. Through the devices, as for one customer:
 * each page would otherwise read the rows of all customers.
 */
async function sumsOf(
  reader: StoreReader,
  partnerId: string,
  ids: readonly string[],
  { from, to }: DayRange,
): Promise<ReadonlyMap<string, Sum>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<Sum>`
    SELECT d.customer_id AS id,
      sum(CAST(m.uploaded_bytes AS double precision)) AS uploaded,
      sum(CAST(m.restored_bytes AS double precision)) AS restored,
      sum(m.backups_completed) AS completed, sum(m.backups_failed) AS failed
    FROM devices d CROSS JOIN meter_rows m
    WHERE d.partner_id = ${partnerId} AND d.customer_id IN (${sql.join(ids)})
      AND m.device_id = d.id AND m.day >= ${from} AND m.day <= ${to}
    GROUP BY d.customer_id`.execute(reader);
  return new Map(rows.map((row) => [row.id, row]));
}
