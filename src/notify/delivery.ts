/** Delivery of one notice by one sender, tried again while that can help. */
import { randomInt } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import type { Notice } from './notice.ts';
import { DeliveryError, type Sender } from './sender.ts';

export interface RetryPolicy {
  /** Tries per notice, the first one included. */
  readonly attempts: number;
  /** The longest wait before the second try; it is four times as long before each further one. */
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
}

/** At most 2 + 8 + 32 + 128 + 300 s: a router or receiver restarts within eight minutes. */
export const defaultRetryPolicy: RetryPolicy = Object.freeze({
  attempts: 6,
  firstDelayMs: 2000,
  maxDelayMs: 300_000,
});

export interface DeliveryContext {
  readonly clock: Clock;
  readonly policy: RetryPolicy;
  /** Aborted when there is no more time for waits: the notice is tried once more at once. */
  readonly hurry: AbortSignal;
  /** The receiver wants to hear nothing for now: this notice waits, and all behind it. */
  readonly waits: (error: DeliveryError) => void;
}

/** Milliseconds before a receiver hears of it again that wants to hear nothing for less. */
const SHORTEST_SILENCE_MS = 2_000;
/** Milliseconds that one notice waits for that, in all. */
const LONGEST_SILENCE_MS = 24 * 3_600_000;

/** @throws the error of the last try */
export async function deliver(
  sender: Sender,
  notice: Notice,
  { clock, policy, hurry, waits }: DeliveryContext,
  signal: AbortSignal,
): Promise<void> {
  const begunMs = clock.monotonic();
  let last = false;
  for (let attempt = 1; ; attempt += 1) {
    try {
      await sender.send(notice, signal);
      return;
    } catch (error) {
      signal.throwIfAborted();
      const again = error instanceof DeliveryError && error.retry !== 'never' && attempt < policy.attempts;
      const isAsked = error instanceof DeliveryError && error.silenceMs !== null;
      if (isAsked && !last && clock.monotonic() - begunMs < LONGEST_SILENCE_MS) {
        // As asked for, so that it is none of the tries.
        attempt -= 1;
        waits(error);
        last = !(await slept(clock, Math.max(error.silenceMs ?? 0, SHORTEST_SILENCE_MS), hurry));
        continue;
      }
      if (!again || last) throw error;
      last = !(await slept(clock, delayAfter(attempt, policy), hurry));
    }
  }
}

function delayAfter(attempt: number, policy: RetryPolicy): number {
  const longest = Math.min(policy.maxDelayMs, policy.firstDelayMs * 4 ** (attempt - 1));
  // From half to all of it: machines that failed together do not come back together.
  return Math.round((longest * (1000 + randomInt(1001))) / 2000);
}

/** False when the wait was cut short. */
async function slept(clock: Clock, ms: number, hurry: AbortSignal): Promise<boolean> {
  try {
    await clock.sleep(ms, hurry);
    return true;
  } catch (error) {
    if (!hurry.aborted) throw error;
    return false;
  }
}
