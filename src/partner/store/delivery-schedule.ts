/** Decides when a delivery is tried again. Pure: clock and chance are parameters. */
import { LONGEST_ASKED_MS } from '../../base/web/http-reply.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/**
 * The delay before the first attempt, the second and so on, each counted from the end of the previous attempt: ten
 * attempts in 76 hours.
 */
export const ATTEMPT_DELAYS_MS: readonly number[] = Object.freeze([
  0,
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
]);

/** The shortest pause for a receiver that asks for silence, since it may ask for no time at all. */
const SHORTEST_SILENCE_MS = 5 * SECOND;

/** Each delay is up to this share longer, so that deliveries that failed together are not retried together. */
const JITTER = 0.1;

/**
 * When the next attempt is due, in milliseconds since 1970; null when there is none. Not before the time that the
 * receiver asked for, up to `LONGEST_ASKED_MS`.
 * @param attempts how many have been made
 * @param endedAt when the last one ended
 * @param retryAfterMs what the receiver asked for; null for nothing
 * @param chance from 0 to 1
 */
export function nextAttemptAt(
  attempts: number,
  endedAt: number,
  retryAfterMs: number | null,
  chance: number,
): number | null {
  const delay = ATTEMPT_DELAYS_MS[attempts];
  if (delay === undefined) return null;
  const spread = Math.round(delay * (1 + JITTER * chance));
  return endedAt + Math.max(spread, Math.min(retryAfterMs ?? 0, LONGEST_ASKED_MS));
}

/** Milliseconds until the next delivery to a receiver that asked for silence. */
export function pauseOf(silenceMs: number, chance: number): number {
  const pauseMs = Math.max(SHORTEST_SILENCE_MS, Math.min(silenceMs, LONGEST_ASKED_MS));
  return Math.round(pauseMs * (1 + JITTER * chance));
}

const ALL_MS = ATTEMPT_DELAYS_MS.reduce((sum, delay) => sum + delay, 0);

/**
 * Whether all attempts would have been made by now, so that a receiver that asks for silence for ever is given up as
 * well.
 */
export function isTriedForLong(firstAttemptAt: number, now: number): boolean {
  return now - firstAttemptAt >= ALL_MS;
}
