/**
 * Limits the requests of partners by a sliding log in the store. It is exact across instances and restarts, because
 * each request is counted while the partner's row is locked, by the time that all instances share. An accepted request
 * also counts towards the day's usage.
 */
import { sql } from 'kysely';
import type { RateVerdict } from '../../db/rate-log.ts';
import { forUpdate, type StoreDatabase, type StoreTransaction } from './database.ts';
import { dayOf } from './metering.ts';

export interface LogStep {
  readonly verdict: RateVerdict;
  /** The times to store, oldest first. */
  readonly times: readonly number[];
}

/**
 * A sliding log of accepted requests, as a list of times. Pure. Accepts a request at `nowMs` if fewer than `limit` were
 * accepted in the window that ends then. Times in the future, from before the clock was set back, count as accepted
 * just now: that never lets more through, and ends after one window.
 * @param times in ascending order
 */
export function takeFromLog(
  times: readonly number[],
  limit: number,
  windowMs: number,
  nowMs: number,
): LogStep {
  const used = times.map((at) => Math.min(at, nowMs)).filter((at) => at > nowMs - windowMs);
  const accepted = used.length < limit;
  const kept = accepted ? [...used, nowMs] : used;
  // After the limit was lowered, there may be more entries than it allows: a place becomes free only when all but
  // `limit - 1` have left.
  const leaving = limit <= 0 ? undefined : kept[accepted ? 0 : used.length - limit];
  const resetAtMs = (leaving ?? nowMs) + windowMs;
  return {
    verdict: {
      accepted,
      remaining: Math.max(0, limit - kept.length),
      resetAtMs,
      retryAfterMs: accepted ? 0 : resetAtMs - nowMs,
    },
    times: kept,
  };
}

export interface PartnerRateLog {
  /** Accepts and records a request, or refuses it, which records nothing. */
  tryAccept(partnerId: string, limit: number, windowMs: number): Promise<RateVerdict>;
}

export function createPartnerRateLog(db: StoreDatabase): PartnerRateLog {
  return {
    tryAccept: async (partnerId, limit, windowMs) =>
      await db.relaxed(async (trx) => {
        const known = await timesOf(db, trx, partnerId);
        // Read after the row is locked, so that it is later than the times of earlier holders of the lock.
        const now = await db.sharedNow(trx);
        const { verdict, times } = takeFromLog(known, limit, windowMs, now);
        if (!verdict.accepted) return verdict;
        await trx
          .updateTable('rate_log')
          .set({ times: JSON.stringify(times) })
          .where('partner_id', '=', partnerId)
          .execute();
        await trx
          .insertInto('api_request_days')
          .values({ partner_id: partnerId, day: dayOf(now), requests: 1 })
          .onConflict((conflict) =>
            conflict
              .columns(['partner_id', 'day'])
              .doUpdateSet({ requests: sql`api_request_days.requests + 1` }),
          )
          .execute();
        return verdict;
      }),
  };
}

async function timesOf(
  db: StoreDatabase,
  trx: StoreTransaction,
  partnerId: string,
): Promise<readonly number[]> {
  const select = trx
    .selectFrom('rate_log')
    .select('times')
    .where('partner_id', '=', partnerId)
    .$call(forUpdate(db));
  const row = await select.executeTakeFirst();
  if (row !== undefined) return JSON.parse(row.times) as readonly number[];
  // The first request ever; another one may be the first at the same time.
  await trx
    .insertInto('rate_log')
    .values({ partner_id: partnerId, times: '[]' })
    .onConflict((conflict) => conflict.column('partner_id').doNothing())
    .execute();
  const { times } = await select.executeTakeFirstOrThrow();
  return JSON.parse(times) as readonly number[];
}
