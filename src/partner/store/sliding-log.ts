/** A sliding log of accepted requests, as a list of times. Pure. */
import type { RateVerdict } from '../../db/rate-log.ts';

export interface LogStep {
  readonly verdict: RateVerdict;
  /** The times to store, oldest first. */
  readonly times: readonly number[];
}

/**
 * Accepts a request at `nowMs` if fewer than `limit` were accepted in the window that ends then. Times in the future,
 * from before the clock was set back, count as accepted just now: that never lets more through, and ends after one
 * window.
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
