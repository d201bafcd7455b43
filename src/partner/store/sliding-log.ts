/** A sliding log of accepted requests, as plain times: pure. */
import type { RateVerdict } from '../../db/rate-log.ts';

export interface LogStep {
  readonly verdict: RateVerdict;
  /** The times that count from now on, oldest first. */
  readonly times: readonly number[];
}

/**
 * Accepts a request at `nowMs` when fewer than `limit` were accepted in the window that ends with it. `times`: rising.
 * Times ahead of the clock, which was set back then, count as accepted just now: that lets nothing more through, and ends
 * after one window.
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
  // After the limit was lowered there are more than it: all but `limit - 1` have to leave before one is free.
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
