/** When a notice is tried again that a receiver has not taken, and for how long it is kept. */
import { randomInt } from 'node:crypto';

export interface RetryPolicy {
  /** Tries of a notice, the first one included, after which the receiver counts as failing. */
  readonly attempts: number;
  /** The longest wait before the second try; it is four times as long before each further one. */
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  /** Between two tries when those are used up. */
  readonly pauseMs: number;
}

/**
 * At most 2 + 8 + 32 + 128 + 300 s: a router or receiver restarts within eight minutes. Then every quarter of an hour: mail
 * servers that refuse the first tries of a stranger take them within an hour or two, and a network may be away for days.
 */
export const defaultRetryPolicy: RetryPolicy = Object.freeze({
  attempts: 6,
  firstDelayMs: 2000,
  maxDelayMs: 300_000,
  pauseMs: 900_000,
});

/** Milliseconds that a notice waits for its receiver, in all: as long as a mail server keeps what it cannot pass on. */
export const KEPT_MS = 4 * 24 * 3_600_000;

/** Milliseconds before a receiver hears of it again that wants to hear nothing for less. */
const SHORTEST_SILENCE_MS = 2_000;

export function silenceOf(askedMs: number): number {
  return Math.max(askedMs, SHORTEST_SILENCE_MS);
}

/** After so many tries of a notice. */
export function delayAfter(tries: number, policy: RetryPolicy): number {
  const { attempts, firstDelayMs, maxDelayMs, pauseMs } = policy;
  const longest = tries < attempts ? Math.min(maxDelayMs, firstDelayMs * 4 ** (tries - 1)) : pauseMs;
  // From half to all of it: machines that failed together do not come back together.
  return Math.round((longest * (1000 + randomInt(1001))) / 2000);
}
