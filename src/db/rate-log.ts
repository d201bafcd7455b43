/**
 * Rate limits by a sliding log: a request is accepted when fewer than `limit` were accepted in the window that ends
 * with it. The times of the accepted ones are kept on disk, so that a restart forgives nothing.
 */
import { relaxed, type Database } from './database.ts';

export interface RateVerdict {
  readonly accepted: boolean;
  /** How many more would be accepted right now. */
  readonly remaining: number;
  /** When the next slot becomes free; now when all are. Milliseconds since 1970. */
  readonly resetAtMs: number;
  /** Until a request is accepted; 0 when this one was. */
  readonly retryAfterMs: number;
}

export interface RateLog {
  /** Accepts and records a request, or refuses it, which records nothing. */
  tryAccept(bucket: string, limit: number, windowMs: number, nowMs: number): RateVerdict;
  /** What `tryAccept` would say of `accepted` and `retryAfterMs`, and what is left, recording nothing. */
  look(bucket: string, limit: number, windowMs: number, nowMs: number): RateVerdict;
  /** Forgets what no window of `windowMs` holds any more. */
  prune(windowMs: number, nowMs: number): void;
}

export function createRateLog(db: Database): RateLog {
  const count = db.prepare<[string, number], number>(
    'SELECT count(*) FROM rate_log WHERE bucket = ? AND at > ?',
  );
  count.pluck();
  const nth = db.prepare<[string, number, number], number>(
    'SELECT at FROM rate_log WHERE bucket = ? AND at > ? ORDER BY at LIMIT 1 OFFSET ?',
  );
  nth.pluck();
  const newest = db.prepare<[string], number | null>('SELECT max(at) FROM rate_log WHERE bucket = ?');
  newest.pluck();
  const bringBack = db.prepare<[number, string, number]>(
    'UPDATE rate_log SET at = ? WHERE bucket = ? AND at > ?',
  );
  const insert = db.prepare<[string, number]>('INSERT INTO rate_log (bucket, at) VALUES (?, ?)');
  const forget = db.prepare<[string, number]>('DELETE FROM rate_log WHERE bucket = ? AND at <= ?');
  const forgetAll = db.prepare<[number]>('DELETE FROM rate_log WHERE at <= ?');

  /**
   * A clock that was set back leaves times ahead of it. They count as accepted just now: that lets nothing more
   * through, and ends after one window even when the clock had been years ahead.
   */
  const mend = (bucket: string, nowMs: number): void => {
    if ((newest.get(bucket) ?? nowMs) > nowMs) bringBack.run(nowMs, bucket, nowMs);
  };
  const look = (bucket: string, limit: number, windowMs: number, nowMs: number): RateVerdict => {
    mend(bucket, nowMs);
    const since = nowMs - windowMs;
    const used = count.get(bucket, since) ?? 0;
    const accepted = used < limit;
    // More than the limit are in the window after the limit was lowered: all but `limit - 1` have to leave it.
    const leaving = limit <= 0 ? undefined : nth.get(bucket, since, accepted ? 0 : used - limit);
    const resetAtMs = leaving === undefined ? nowMs + (accepted ? 0 : windowMs) : leaving + windowMs;
    return {
      accepted,
      remaining: Math.max(0, limit - used),
      resetAtMs,
      retryAfterMs: accepted ? 0 : resetAtMs - nowMs,
    };
  };
  const accept = db.transaction(
    (bucket: string, limit: number, windowMs: number, nowMs: number): RateVerdict => {
      const verdict = look(bucket, limit, windowMs, nowMs);
      if (!verdict.accepted) return verdict;
      forget.run(bucket, nowMs - windowMs);
      insert.run(bucket, nowMs);
      const resetAtMs = verdict.resetAtMs === nowMs ? nowMs + windowMs : verdict.resetAtMs;
      return { ...verdict, remaining: verdict.remaining - 1, resetAtMs };
    },
  );

  return {
    // Every request passes here: waiting for the disk each time would hold up all the others.
    tryAccept: (bucket, limit, windowMs, nowMs) => relaxed(db, () => accept(bucket, limit, windowMs, nowMs)),
    look: (bucket, limit, windowMs, nowMs) => relaxed(db, () => look(bucket, limit, windowMs, nowMs)),
    prune: (windowMs, nowMs) => {
      relaxed(db, () => forgetAll.run(nowMs - windowMs));
    },
  };
}
