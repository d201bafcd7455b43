/** Usage of a partner, or of one of its customers, by day or month: from meter rows alone. */
import { sql } from 'kysely';
import { ApiError } from '../../api/api-error.ts';
import type { StoreDatabase } from './database.ts';
import { dayOf, largestExact, type Day } from './metering.ts';

export interface UsageQuery {
  /** Both are counted. */
  readonly from: Day;
  readonly to: Day;
  readonly granularity: 'day' | 'month';
  readonly customerId?: string | undefined;
}

export interface Usage {
  /** At the end of the period. */
  readonly storageBytes: number;
  readonly uploadedBytes: number;
  readonly restoredBytes: number;
  readonly backupsCompleted: number;
  readonly backupsFailed: number;
  /** Those with a backup or a restore that ended, well or not. */
  readonly activeCustomers: number;
  /** Of the partner; 0 when a customer is asked for. */
  readonly apiRequests: number;
}

export interface UsageItem extends Usage {
  /** `2026-11-22` or `2026-11`. */
  readonly period: string;
}

export interface UsageReport {
  readonly totals: Usage;
  /** One for each day or month, oldest first, also where nothing happened. */
  readonly items: readonly UsageItem[];
}

export interface UsageStore {
  /** @throws {ApiError} INVALID_REQUEST for a range that is none, or longer than 366 days */
  usage(partnerId: string, query: UsageQuery): Promise<UsageReport>;
}

export const MOST_DAYS = 366;
const DAY_MS = 86_400_000;

export function createUsageStore(db: StoreDatabase): UsageStore {
  return {
    async usage(partnerId, query) {
      const days = daysOf(query);
      const [sums, levels, requests, active] = await Promise.all([
        sumsByPeriod(db, partnerId, query),
        levelsByDay(db, partnerId, query, days),
        query.customerId === undefined ? requestsByPeriod(db, partnerId, query) : new Map<string, number>(),
        activeInRange(db, partnerId, query),
      ]);
      const periods = [...new Set(days.map((day) => periodOf(day, query)))];
      const items = periods.map((period): UsageItem => {
        const sum = sums.get(period);
        const last = days.findLast((day) => periodOf(day, query) === period) ?? period;
        return {
          period,
          storageBytes: levels.get(last) ?? 0,
          uploadedBytes: largestExact(sum?.uploaded ?? 0),
          restoredBytes: largestExact(sum?.restored ?? 0),
          backupsCompleted: sum?.completed ?? 0,
          backupsFailed: sum?.failed ?? 0,
          activeCustomers: sum?.customers ?? 0,
          apiRequests: requests.get(period) ?? 0,
        };
      });
      const total = (of: (item: UsageItem) => number): number =>
        largestExact(items.reduce((sum, item) => sum + of(item), 0));
      return {
        totals: {
          storageBytes: items.at(-1)?.storageBytes ?? 0,
          uploadedBytes: total((item) => item.uploadedBytes),
          restoredBytes: total((item) => item.restoredBytes),
          backupsCompleted: total((item) => item.backupsCompleted),
          backupsFailed: total((item) => item.backupsFailed),
          activeCustomers: active,
          apiRequests: total((item) => item.apiRequests),
        },
        items,
      };
    },
  };
}

function daysOf({ from, to }: UsageQuery): readonly Day[] {
  const [first, last] = [startOf(from), startOf(to)];
  const count = (last - first) / DAY_MS + 1;
  if (count >= 1 && count <= MOST_DAYS)
    return Array.from({ length: count }, (_, index) => dayOf(first + index * DAY_MS));
  throw new ApiError('INVALID_REQUEST', `The range is not 1 to ${MOST_DAYS} days`, {
    hint: 'from and to are days such as 2026-11-22, and to is not before from.',
    details: { from, to, most_days: MOST_DAYS },
  });
}

/** NaN when there is no such day. */
function startOf(day: Day): number {
  const start = /^\d{4}-\d\d-\d\d$/.test(day) ? Date.parse(`${day}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(start) && dayOf(start) === day ? start : Number.NaN;
}

function periodOf(day: Day, { granularity }: UsageQuery): string {
  return granularity === 'month' ? day.slice(0, 7) : day;
}

/** As `periodOf`, in the database. */
function periodIn({ granularity }: UsageQuery) {
  return sql<string>`substr(day, 1, ${sql.lit(granularity === 'month' ? 7 : 10)})`;
}

function rowsInRange(db: StoreDatabase, partnerId: string, { from, to, customerId }: UsageQuery) {
  const rows = db.reader
    .selectFrom('meter_rows')
    .where('partner_id', '=', partnerId)
    .where('day', '>=', from)
    .where('day', '<=', to);
  return customerId === undefined ? rows : rows.where('customer_id', '=', customerId);
}

const ACTIVE = sql<number>`count(DISTINCT CASE WHEN
  backups_completed + backups_failed + restores_completed + restores_failed > 0 THEN customer_id END)`;

interface PeriodSum {
  readonly uploaded: number;
  readonly restored: number;
  readonly completed: number;
  readonly failed: number;
  readonly customers: number;
}

async function sumsByPeriod(
  db: StoreDatabase,
  partnerId: string,
  query: UsageQuery,
): Promise<ReadonlyMap<string, PeriodSum>> {
  const period = periodIn(query);
  const rows = await rowsInRange(db, partnerId, query)
    .select((is) => [
      period.as('period'),
      is.fn.sum<number>('uploaded_bytes').as('uploaded'),
      is.fn.sum<number>('restored_bytes').as('restored'),
      is.fn.sum<number>('backups_completed').as('completed'),
      is.fn.sum<number>('backups_failed').as('failed'),
      ACTIVE.as('customers'),
    ])
    .groupBy(period)
    .execute();
  return new Map(rows.map((row) => [row.period, row]));
}

async function activeInRange(db: StoreDatabase, partnerId: string, query: UsageQuery): Promise<number> {
  const { count } = await rowsInRange(db, partnerId, query)
    .select(ACTIVE.as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

async function requestsByPeriod(
  db: StoreDatabase,
  partnerId: string,
  query: UsageQuery,
): Promise<ReadonlyMap<string, number>> {
  const period = periodIn(query);
  const rows = await db.reader
    .selectFrom('api_request_days')
    .select((is) => [period.as('period'), is.fn.sum<number>('requests').as('requests')])
    .where('partner_id', '=', partnerId)
    .where('day', '>=', query.from)
    .where('day', '<=', query.to)
    .groupBy(period)
    .execute();
  return new Map(rows.map((row) => [row.period, row.requests]));
}

/**
 * What is stored at the end of each day. A device that says nothing stores what it last said: each row counts by what it
 * changes against the device's row before, the first in the range against the last one before it.
 */
async function levelsByDay(
  db: StoreDatabase,
  partnerId: string,
  { from, to, customerId }: UsageQuery,
  days: readonly Day[],
): Promise<ReadonlyMap<Day, number>> {
  const ofCustomer = customerId === undefined ? sql`` : sql`AND m.customer_id = ${customerId}`;
  const ofOwner = customerId === undefined ? sql`` : sql`AND d.customer_id = ${customerId}`;
  const { rows } = await sql<{ day: Day; change: number }>`
    SELECT day, sum(storage_bytes - known) AS change FROM (
      SELECT day, storage_bytes,
        lag(storage_bytes, 1, CAST(0 AS bigint)) OVER (PARTITION BY device_id ORDER BY day) AS known
      FROM (
        SELECT m.device_id, m.day, m.storage_bytes FROM meter_rows m
        WHERE m.partner_id = ${partnerId} AND m.day >= ${from} AND m.day <= ${to}
          AND m.storage_bytes IS NOT NULL ${ofCustomer}
        UNION ALL
        SELECT m.device_id, m.day, m.storage_bytes FROM devices d
        JOIN meter_rows m ON m.device_id = d.id AND m.day = (
          SELECT max(e.day) FROM meter_rows e
          WHERE e.device_id = d.id AND e.day < ${from} AND e.storage_bytes IS NOT NULL
        )
        WHERE d.partner_id = ${partnerId} AND (d.removed_at IS NULL OR d.removed_at >= ${startOf(from)}) ${ofOwner}
      ) AS told
    ) AS changes GROUP BY day ORDER BY day`.execute(db.reader);
  const levels = new Map<Day, number>();
  let [level, next] = [0, 0];
  for (const day of days) {
    for (; next < rows.length && (rows[next]?.day ?? '') <= day; next += 1) level += rows[next]?.change ?? 0;
    levels.set(day, largestExact(level));
  }
  return levels;
}
