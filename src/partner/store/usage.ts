/** Computes the usage of a partner, or of one of its customers, by day or month, from meter rows and counted requests. */
import { sql } from 'kysely';
import { ApiError } from '../../api/wire/api-error.ts';
import type { StoreDatabase } from './database.ts';
import type { Page, PageRequest } from './page.ts';
import { type CustomerUsage, type DayRange, usageByCustomer } from './usage-by-customer.ts';
import { dayOf, largestExact, startOf, type Day } from './metering.ts';
import { levelsAtEnds, levelsByDay, rowsInRange, type UsageOwner } from './usage-levels.ts';

export interface UsageQuery {
  /** Both days are included. */
  readonly from: Day;
  readonly to: Day;
  readonly granularity: 'day' | 'month';
  readonly customerId?: string | undefined;
}

export interface Usage {
  /** Storage at the end of the period. */
  readonly storageBytes: number;
  readonly uploadedBytes: number;
  readonly restoredBytes: number;
  readonly backupsCompleted: number;
  readonly backupsFailed: number;
  /** Customers with a backup or restore that ended, successfully or not. */
  readonly activeCustomers: number;
  /** Requests of the partner; 0 when a single customer is requested. */
  readonly apiRequests: number;
}

export interface UsageItem extends Usage {
  /** `2026-11-22` or `2026-11`. */
  readonly period: string;
}

export interface UsageReport {
  readonly totals: Usage;
  /** One item for each day or month, oldest first, including those without usage. */
  readonly items: readonly UsageItem[];
}

export interface UsageStore {
  /** @throws {ApiError} INVALID_REQUEST for an invalid range, or one longer than 366 days */
  usage(partnerId: string, query: UsageQuery): Promise<UsageReport>;
  /** @throws {ApiError} as `usage` */
  byCustomer(partnerId: string, query: DayRange & PageRequest): Promise<Page<CustomerUsage>>;
}

const MOST_DAYS = 366;
const DAY_MS = 86_400_000;

export function createUsageStore(db: StoreDatabase): UsageStore {
  return {
    async byCustomer(partnerId, query) {
      requireRange(query);
      return await usageByCustomer(db, partnerId, query);
    },

    async usage(partnerId, query) {
      const days = daysOf(query);
      const periods = periodsOf(days, query);
      const owner = { partnerId, customerId: query.customerId };
      const isDaily = query.granularity === 'day';
      const [sums, levels, requests, active, activeInAll] = await Promise.all([
        sumsByDay(db, owner, query),
        isDaily
          ? levelsByDay(db.reader, owner, days)
          : levelsAtEnds(
              db.reader,
              owner,
              periods.map(({ to }) => to),
            ),
        query.customerId === undefined ? requestsByPeriod(db, partnerId, query) : new Map<string, number>(),
        isDaily ? activeByDay(db, owner, query) : activeByPeriod(db, partnerId, query, periods),
        periods.length === 1 ? undefined : activeBetween(db, partnerId, query),
      ]);
      const items = periods.map(({ period, to, days: daysOfIt }): UsageItem => {
        const total = (value: (sum: DaySum) => number): number =>
          largestExact(daysOfIt.reduce((sum, day) => sum + value(sums.get(day) ?? NO_SUM), 0));
        return {
          period,
          storageBytes: levels.get(to) ?? 0,
          uploadedBytes: total(({ uploaded }) => uploaded),
          restoredBytes: total(({ restored }) => restored),
          backupsCompleted: total(({ completed }) => completed),
          backupsFailed: total(({ failed }) => failed),
          activeCustomers: active.get(period) ?? 0,
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
          activeCustomers: activeInAll ?? items[0]?.activeCustomers ?? 0,
          apiRequests: total((item) => item.apiRequests),
        },
        items,
      };
    },
  };
}

interface Period {
  /** `2026-11-22` or `2026-11`. */
  readonly period: string;
  /** The days of the period within the range. */
  readonly days: readonly Day[];
  readonly from: Day;
  readonly to: Day;
}

function periodsOf(days: readonly Day[], query: UsageQuery): readonly Period[] {
  return [...Map.groupBy(days, (day) => periodOf(day, query))].map(([period, its]) => ({
    period,
    days: its,
    from: its[0] ?? period,
    to: its.at(-1) ?? period,
  }));
}

function daysOf(query: UsageQuery): readonly Day[] {
  const first = startOf(query.from);
  return Array.from({ length: requireRange(query) }, (_, index) => dayOf(first + index * DAY_MS));
}

/** The number of days. @throws {ApiError} INVALID_REQUEST */
function requireRange({ from, to }: DayRange): number {
  const count = (startOf(to) - startOf(from)) / DAY_MS + 1;
  if (count >= 1 && count <= MOST_DAYS) return count;
  throw new ApiError('INVALID_REQUEST', `The range is not 1 to ${MOST_DAYS} days`, {
    hint: 'from and to are days such as 2026-11-22, and to is not before from.',
    details: { from, to, most_days: MOST_DAYS },
  });
}

function periodOf(day: Day, { granularity }: UsageQuery): string {
  return granularity === 'month' ? day.slice(0, 7) : day;
}

/** As `periodOf`, as SQL. */
function periodIn({ granularity }: UsageQuery) {
  return sql<string>`substr(day, 1, ${sql.lit(granularity === 'month' ? 7 : 10)})`;
}

/** Whether a backup or restore ended, successfully or not. */
const WAS_ACTIVE = sql<boolean>`backups_completed + backups_failed + restores_completed + restores_failed > 0`;

interface DaySum {
  readonly uploaded: number;
  readonly restored: number;
  readonly completed: number;
  readonly failed: number;
}

const NO_SUM: DaySum = { uploaded: 0, restored: 0, completed: 0, failed: 0 };

/**
 * Sums by day, which is the order of the index; months are added up in the program. Sizes are summed as floating point
 * and exact up to `largestExact`, since sums of reported sizes may exceed the integers of SQLite, which would be an
 * error.
 */
async function sumsByDay(
  db: StoreDatabase,
  owner: UsageOwner,
  { from, to }: UsageQuery,
): Promise<ReadonlyMap<Day, DaySum>> {
  const { rows } = await sql<DaySum & { readonly day: Day }>`
    SELECT m.day,
      sum(CAST(m.uploaded_bytes AS double precision)) AS uploaded,
      sum(CAST(m.restored_bytes AS double precision)) AS restored,
      sum(m.backups_completed) AS completed, sum(m.backups_failed) AS failed
    ${rowsInRange(owner, from, to)} GROUP BY m.day`.execute(db.reader);
  return new Map(rows.map((row) => [row.day, row]));
}

async function activeByDay(
  db: StoreDatabase,
  owner: UsageOwner,
  { from, to }: UsageQuery,
): Promise<ReadonlyMap<Day, number>> {
  const { rows } = await sql<{ readonly day: Day; readonly customers: number }>`
    SELECT m.day, count(DISTINCT m.customer_id) AS customers
    ${rowsInRange(owner, from, to)} AND ${WAS_ACTIVE} GROUP BY m.day`.execute(db.reader);
  return new Map(rows.map(({ day, customers }) => [day, customers]));
}

async function activeByPeriod(
  db: StoreDatabase,
  partnerId: string,
  query: UsageQuery,
  periods: readonly Period[],
): Promise<ReadonlyMap<string, number>> {
  const active = new Map<string, number>();
  for (const { period, from, to } of periods)
    active.set(period, await activeBetween(db, partnerId, { ...query, from, to }));
  return active;
}

/** Looks at each customer only until one active day is found. */
async function activeBetween(
  db: StoreDatabase,
  partnerId: string,
  { from, to, customerId }: Pick<UsageQuery, 'from' | 'to' | 'customerId'>,
): Promise<number> {
  const { count } = await db.reader
    .selectFrom('customers')
    .select((is) => is.fn.countAll<number>().as('count'))
    .where('customers.partner_id', '=', partnerId)
    .$if(customerId !== undefined, (query) => query.where('customers.id', '=', customerId ?? ''))
    .where((is) =>
      is.exists(
        is
          .selectFrom('meter_rows')
          .select('meter_rows.day')
          .whereRef('meter_rows.partner_id', '=', 'customers.partner_id')
          .whereRef('meter_rows.customer_id', '=', 'customers.id')
          .where('meter_rows.day', '>=', from)
          .where('meter_rows.day', '<=', to)
          .where(WAS_ACTIVE),
      ),
    )
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
