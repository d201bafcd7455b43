/**
 * Computes the storage at the end of days from meter rows. A device that reports nothing keeps its last reported
 * storage.
 */
import { sql } from 'kysely';
import type { StoreReader } from './database.ts';
import { largestExact, startOf, type Day } from './metering.ts';

/** The owner of usage: one customer, or the whole partner. */
export interface UsageOwner {
  readonly partnerId: string;
  readonly customerId?: string | undefined;
}

/**
 * The `FROM` and `WHERE` for meter rows, as `m`. Rows of one customer are found through its devices, since SQLite would
 * otherwise read the rows of all customers.
 */
export function rowsInRange({ partnerId, customerId }: UsageOwner, from: Day, to: Day) {
  const those =
    customerId === undefined
      ? sql`FROM meter_rows m WHERE m.partner_id = ${partnerId}`
      : sql`FROM devices d CROSS JOIN meter_rows m
          WHERE d.partner_id = ${partnerId} AND d.customer_id = ${customerId} AND m.device_id = d.id`;
  return sql`${those} AND m.day >= ${from} AND m.day <= ${to}`;
}

/** The storage at the end of each of a few days. Costs a look-up for each device and day. */
export async function levelsAtEnds(
  reader: StoreReader,
  of: UsageOwner,
  ends: readonly Day[],
): Promise<ReadonlyMap<Day, number>> {
  const levels = new Map<Day, number>();
  for (const end of ends) levels.set(end, await levelAtEnd(reader, of, end));
  return levels;
}

async function levelAtEnd(
  reader: StoreReader,
  { partnerId, customerId }: UsageOwner,
  end: Day,
): Promise<number> {
  const ofOwner = customerId === undefined ? sql`` : sql`AND d.customer_id = ${customerId}`;
  const { rows } = await sql<{ level: number | null }>`
    SELECT ${storedAt(end)} AS level FROM devices d
    WHERE d.partner_id = ${partnerId} ${ofOwner} AND ${thereAt(end)}`.execute(reader);
  return largestExact(rows[0]?.level ?? 0);
}

/** The storage of each of a few customers at the end of a day. Customers without devices are left out. */
export async function levelsByCustomer(
  reader: StoreReader,
  partnerId: string,
  ids: readonly string[],
  end: Day,
): Promise<ReadonlyMap<string, number>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<{ readonly id: string; readonly level: number | null }>`
    SELECT d.customer_id AS id, ${storedAt(end)} AS level FROM devices d
    WHERE d.partner_id = ${partnerId} AND d.customer_id IN (${sql.join(ids)}) AND ${thereAt(end)}
    GROUP BY d.customer_id`.execute(reader);
  return new Map(rows.map(({ id, level }) => [id, largestExact(level ?? 0)]));
}

/** The sum over the devices `d`. One that reports nothing keeps its last reported storage. */
function storedAt(end: Day) {
  return sql<number | null>`sum(CAST((
      SELECT m.storage_bytes FROM meter_rows m
      WHERE m.device_id = d.id AND m.day <= ${end} AND m.storage_bytes IS NOT NULL ORDER BY m.day DESC LIMIT 1
    ) AS double precision))`;
}

/** Whether the device `d` was there on that day. */
function thereAt(end: Day) {
  return sql<boolean>`(d.removed_at IS NULL OR d.removed_at >= ${startOf(end)})`;
}

/**
 * The storage at the end of each of the consecutive days. Each row contributes its difference from the device's
 * previous row; the first in the range, from the last one before it.
 */
export async function levelsByDay(
  reader: StoreReader,
  { partnerId, customerId }: UsageOwner,
  days: readonly Day[],
): Promise<ReadonlyMap<Day, number>> {
  const [from, to] = [days[0] ?? '', days.at(-1) ?? ''];
  const ofOwner = customerId === undefined ? sql`` : sql`AND d.customer_id = ${customerId}`;
  const { rows } = await sql<{ day: Day; change: number }>`
    SELECT day, sum(CAST(storage_bytes - known AS double precision)) AS change FROM (
      SELECT day, storage_bytes,
        lag(storage_bytes, 1, CAST(0 AS bigint)) OVER (PARTITION BY device_id ORDER BY day) AS known
      FROM (
        SELECT m.device_id, m.day, m.storage_bytes ${rowsInRange({ partnerId, customerId }, from, to)}
          AND m.storage_bytes IS NOT NULL
        UNION ALL
        SELECT m.device_id, m.day, m.storage_bytes FROM devices d
        JOIN meter_rows m ON m.device_id = d.id AND m.day = (
          SELECT max(e.day) FROM meter_rows e
          WHERE e.device_id = d.id AND e.day < ${from} AND e.storage_bytes IS NOT NULL
        )
        WHERE d.partner_id = ${partnerId} AND (d.removed_at IS NULL OR d.removed_at >= ${startOf(from)}) ${ofOwner}
      ) AS told
    ) AS changes GROUP BY day ORDER BY day`.execute(reader);
  const levels = new Map<Day, number>();
  let [level, next] = [0, 0];
  for (const day of days) {
    for (; next < rows.length && (rows[next]?.day ?? '') <= day; next += 1) level += rows[next]?.change ?? 0;
    levels.set(day, largestExact(level));
  }
  return levels;
}
