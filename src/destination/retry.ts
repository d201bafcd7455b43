/** A destination that tries again: for failures that pass, and for nothing else. */
import { setTimeout as delay } from 'node:timers/promises';
import { DestinationError } from '../base/errors.ts';
import type { Destination, ListedObject, ObjectStat } from './destination.ts';

export interface RetryPolicy {
  /** Tries per call, the first one included. */
  readonly attempts: number;
  /** The longest wait before the second try; it doubles with every further one. */
  readonly firstDelayMs: number;
  /** What the doubling stops at. */
  readonly maxDelayMs: number;
  /** From 0 to just below 1: spreads the tries of writers that failed together. */
  readonly random: () => number;
  /** Told of every failure that is tried again, before the wait. */
  readonly onRetry?: (error: DestinationError, delayMs: number) => void;
}

/** Waits `ms` milliseconds; rejects when the signal is aborted. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

/** At most 1 + 2 + 4 + 8 + 16 + 32 + 60 + 60 s: a router restarts within three minutes, and longer is for the job. */
export const defaultRetryPolicy: RetryPolicy = Object.freeze({
  attempts: 9,
  firstDelayMs: 1000,
  maxDelayMs: 60_000,
  random: Math.random,
});

/** A store that wants to be left alone for longer is left to the job, which waits without keeping anything open. */
const LONGEST_WAIT_MS = 15 * 60_000;

export async function sleepFor(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal });
}

/**
 * `destination` with failures of kind `unreachable`, or with `retry: 'now'`, tried again under `policy`; the last
 * failure is thrown as it came. Where the store said when it may be asked again (`details.retryAfterMs`), that is
 * waited for, unless it is more than 15 minutes. A put may succeed although its reply is lost, so an own repeated put
 * that finds the key taken succeeds when the stored bytes are its own. Two writers that race with equal bytes may
 * therefore both succeed: whoever needs one winner puts something of its own into the body. `body` must not change
 * until the put has settled.
 */
export function withRetry(
  destination: Destination,
  policy: RetryPolicy = defaultRetryPolicy,
  sleep: Sleep = sleepFor,
): Destination {
  /** The wait after try number `attempt` has failed with `error`; throws when that was for good. */
  async function waitAfter(error: unknown, attempt: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (!canPass(error) || attempt >= policy.attempts) throw error;
    const askedMs = waitAskedFor(error);
    if (askedMs > LONGEST_WAIT_MS) throw error;
    const longestMs = Math.min(policy.maxDelayMs, policy.firstDelayMs * 2 ** (attempt - 1));
    // Never below half: a destination that has just failed is given time.
    const ownMs = Math.round((longestMs * (1 + policy.random())) / 2);
    // Never earlier than asked for, and not all at that very moment.
    const delayMs = askedMs > 0 ? Math.round(askedMs + ownMs / 4) : ownMs;
    policy.onRetry?.(error, delayMs);
    try {
      await sleep(delayMs, signal);
    } finally {
      // In place of the error that the timer makes of it: the caller waits for the signal's own reason.
      signal.throwIfAborted();
    }
  }

  async function persist<T>(signal: AbortSignal, call: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await call();
      } catch (error) {
        await waitAfter(error, attempt, signal);
      }
    }
  }

  async function put(key: string, body: Uint8Array, signal: AbortSignal): Promise<ObjectStat> {
    let mayBeStored = false;
    return persist(signal, async () => {
      try {
        return await destination.put(key, body, signal);
      } catch (error) {
        if (mayBeStored && isKind(error, 'exists')) return statIfEqual(destination, key, body, error, signal);
        mayBeStored = true;
        throw error;
      }
    });
  }

  async function* list(prefix: string, signal: AbortSignal): AsyncGenerator<readonly ListedObject[]> {
    // A list cannot be resumed, as it has no order: it starts again and leaves out what was given already.
    const given = new Set<string>();
    for (let attempt = 1; ; attempt += 1) {
      try {
        for await (const page of destination.list(prefix, signal)) {
          const fresh = page.filter(({ key }) => !given.has(key));
          for (const { key } of fresh) given.add(key);
          if (fresh.length > 0) yield fresh;
        }
        return;
      } catch (error) {
        await waitAfter(error, attempt, signal);
      }
    }
  }

  return {
    // A getter may stand behind them.
    get properties() {
      return destination.properties;
    },
    put,
    get: (key, range, signal) => persist(signal, () => destination.get(key, range, signal)),
    stat: (key, signal) => persist(signal, () => destination.stat(key, signal)),
    list,
    delete: (key, signal) => persist(signal, () => destination.delete(key, signal)),
    ...(destination.retain === undefined
      ? {}
      : { retain: (key, signal) => persist(signal, async () => await destination.retain?.(key, signal)) }),
    close: () => destination.close(),
  };
}

/** Milliseconds; 0 when the store said nothing. */
function waitAskedFor({ details: { retryAfterMs } }: DestinationError): number {
  return typeof retryAfterMs === 'number' ? retryAfterMs : 0;
}

function canPass(error: unknown): error is DestinationError {
  // Aborts and errors of the program are none.
  if (!(error instanceof DestinationError)) return false;
  return error.retry === 'now' || error.kind === 'unreachable';
}

function isKind(error: unknown, kind: DestinationError['kind']): error is DestinationError {
  return error instanceof DestinationError && error.kind === kind;
}

/** The stat of the object when it holds `body`, else throws `exists`, the failure of the put. */
async function statIfEqual(
  destination: Destination,
  key: string,
  body: Uint8Array,
  exists: DestinationError,
  signal: AbortSignal,
): Promise<ObjectStat> {
  try {
    const stat = await destination.stat(key, signal);
    if (stat.size !== body.byteLength) throw exists;
    const stored = await destination.get(key, undefined, signal);
    if (Buffer.compare(stored, body) !== 0) throw exists;
    return stat;
  } catch (error) {
    if (!isKind(error, 'not-found')) throw error;
    // "exists" would be taken for "stored", and it no longer is.
    throw new DestinationError('unreachable', `${key} was there and is gone again`, {
      op: 'store',
      hint: 'Try again, and check that nothing else changes the destination.',
      retry: 'now',
      details: { key },
      cause: error,
    });
  }
}
