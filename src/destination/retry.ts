/** A destination that tries again: for failures that pass, and for nothing else. */
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../base/clock.ts';
import { DestinationError } from '../base/errors.ts';
import { waitsToAskAgain } from '../base/waits.ts';
import type { Destination, ListedObject, ObjectStat } from './destination.ts';
import { mayHaveBeenDone } from './kept-connections.ts';
import { leftoversOf } from './leftovers.ts';

export interface RetryPolicy {
  /** Tries per call, the first one included. */
  readonly attempts: number;
  /** Where the store answers, though not as it should, tries go on until so much was waited in all, however many they are. */
  readonly answeredMs?: number;
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

/** A store that wants to be left alone for longer is left to the job, which waits without keeping anything open. */
const LONGEST_WAIT_MS = 15 * 60_000;

/** Nobody has answered for so long, the times of the tries included: a second try there is in any case. */
const SILENT_MS = 185_000;

/**
 * At most 1 + 2 + 4 + 8 + 16 + 32 + 60 + 60 s: a router restarts within three minutes, and longer is for the job. A
 * store that is there and overloaded gets more time: of two calls one may fail, and what was begun comes to its end.
 */
export const defaultRetryPolicy: RetryPolicy = Object.freeze({
  attempts: 9,
  answeredMs: LONGEST_WAIT_MS,
  firstDelayMs: 1000,
  maxDelayMs: 60_000,
  random: Math.random,
});

/** For single requests of what is asked in several: a store that answers is asked again soon, one that does not is away. */
export const briefPolicy: RetryPolicy = Object.freeze({
  attempts: 1,
  answeredMs: 30_000,
  firstDelayMs: 250,
  maxDelayMs: 4_000,
  random: Math.random,
});

export async function sleepFor(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal });
}

/**
 * What `call` comes to, tried again under `policy` when it fails with kind `unreachable` or with `retry: 'now'`; the last
 * failure is thrown as it came. Where the store said when it may be asked again (`details.retryAfterMs`), that is
 * waited for, unless it is more than 15 minutes.
 */
export async function persist<T>(
  call: () => Promise<T>,
  patience: Patience,
  signal: AbortSignal,
): Promise<T> {
  const tries = new Tries(patience);
  for (;;) {
    try {
      return await call();
    } catch (error) {
      await tries.waitAfter(error, signal);
    }
  }
}

/** How long one who calls goes on, and what it waits with. */
export interface Patience {
  readonly policy: RetryPolicy;
  readonly sleep: Sleep;
  /** Aborted when nothing is to be tried again any more: the last failure is thrown then. */
  readonly closed?: AbortSignal;
}

/** Tries of what came garbled: it is soon known whether it always does. */
const FEW = 4;

/** The tries of one call. */
class Tries {
  readonly #policy: RetryPolicy;
  readonly #sleep: Sleep;
  readonly #closed: AbortSignal | undefined;
  #made = 0;
  /** Those that the policy counts: not those that the store has answered. */
  #counted = 0;
  #waitedMs = 0;
  #failingSince: number | undefined;
  /** Waits, and tries to which nobody answered. */
  #silentMs = 0;
  #triedAt = systemClock.monotonic();

  constructor({ policy, sleep, closed }: Patience) {
    this.#policy = policy;
    this.#sleep = sleep;
    this.#closed = closed;
  }

  /** The wait after a try that has failed with `error`; throws when that was for good. */
  async waitAfter(error: unknown, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.#made += 1;
    if (!canPass(error) || this.#isClosed()) throw error;
    const { attempts, answeredMs = 0, firstDelayMs, maxDelayMs, onRetry, random } = this.#policy;
    const askedMs = waitAskedFor(error);
    if (askedMs > LONGEST_WAIT_MS) throw error;
    const longestMs = Math.min(maxDelayMs, firstDelayMs * 2 ** (this.#made - 1));
    // Never below half: a destination that has just failed is given time.
    const ownMs = Math.round((longestMs * (1 + random())) / 2);
    // Never earlier than asked for, and not all at that very moment.
    const delayMs = askedMs > 0 ? Math.round(askedMs + ownMs / 4) : ownMs;
    // A store that answers is given its time, in however many tries, and no more, however long it asks for.
    const isPatient = (isAnswer(error) || askedMs > 0) && answeredMs > 0;
    if (!isPatient) this.#counted += 1;
    if (hasNoAnswer(error)) this.#silentMs += systemClock.monotonic() - this.#triedAt;
    const isSilent = this.#made > 1 && this.#silentMs >= SILENT_MS;
    const isOver = isPatient
      ? this.#waitedMs + delayMs >= answeredMs
      : isSilent || this.#counted >= triesFor(error, attempts);
    if (isOver) throw error;
    this.#waitedMs += delayMs;
    this.#silentMs += delayMs;
    onRetry?.(error, delayMs);
    this.#failingSince ??= systemClock.monotonic();
    const isOverNow = waitsToAskAgain('store', reasonOf(error), delayMs, this.#failingSince);
    try {
      await this.#sleep(
        delayMs,
        this.#closed === undefined ? signal : AbortSignal.any([signal, this.#closed]),
      );
    } catch (broken) {
      throw this.#isClosed() ? error : broken;
    } finally {
      isOverNow();
      this.#triedAt = systemClock.monotonic();
      // In place of the error that the timer makes of it: the caller waits for the signal's own reason.
      signal.throwIfAborted();
    }
  }

  #isClosed(): boolean {
    return this.#closed?.aborted === true;
  }
}

/** The store's own name for it, or the network's; else the kind of failure. */
function reasonOf({ kind, details: { code, status } }: DestinationError): string {
  if (typeof code === 'string') return code;
  if (typeof status === 'number' && status >= 300) return `status ${status}`;
  return kind === 'corrupt-reply' ? 'its answer makes no sense' : 'it cannot be reached';
}

/** An answer that came whole and makes no sense will hardly make some; one that was cut short may come whole. */
function triesFor(error: DestinationError, attempts: number): number {
  if (!isNonsense(error)) return attempts;
  const { status, whole } = error.details;
  return typeof status === 'number' || whole === true ? FEW : Math.max(attempts, FEW);
}

function isNonsense({ kind, retry }: DestinationError): boolean {
  return kind === 'corrupt-reply' && retry === 'now';
}

/** All the time of the try went by without one. */
function hasNoAnswer({ details: { code, stalled } }: DestinationError): boolean {
  return stalled === true || code === 'ETIMEDOUT';
}

/** The store itself said that it cannot do it now. */
function isAnswer({ kind, details: { status } }: DestinationError): boolean {
  return typeof status === 'number' && kind !== 'corrupt-reply';
}

/**
 * `destination` with what passes tried again, as `persist` does. A put may succeed although its reply is lost, so an
 * own repeated put that finds the key taken succeeds when the stored bytes are its own. Two writers that race with
 * equal bytes may therefore both succeed: whoever needs one winner puts something of its own into the body. `body` must
 * not change until the put has settled.
 */
export function withRetry(
  destination: Destination,
  policy: RetryPolicy = defaultRetryPolicy,
  sleep: Sleep = sleepFor,
): Destination {
  const closing = new AbortController();
  const patience: Patience = { policy, sleep, closed: closing.signal };
  const again = async <T>(signal: AbortSignal, call: () => Promise<T>): Promise<T> =>
    await persist(call, patience, signal);

  async function put(key: string, body: Uint8Array, signal: AbortSignal): Promise<ObjectStat> {
    let mayBeStored = false;
    return await again(signal, async () => {
      try {
        return await destination.put(key, body, signal);
      } catch (error) {
        const wasTaken = isKind(error, 'exists') && !mayBeStored && !mayHaveBeenDone(error);
        mayBeStored = true;
        if (!isKind(error, 'exists') || wasTaken) throw error;
        return await statIfEqual(destination, key, body, error, signal);
      }
    });
  }

  async function* list(prefix: string, signal: AbortSignal): AsyncGenerator<readonly ListedObject[]> {
    // A list cannot be resumed, as it has no order: it starts again and leaves out what was given already.
    const given = new Set<string>();
    const tries = new Tries(patience);
    for (;;) {
      try {
        for await (const page of destination.list(prefix, signal)) {
          const fresh = page.filter(({ key }) => !given.has(key));
          for (const { key } of fresh) given.add(key);
          if (fresh.length > 0) yield fresh;
        }
        return;
      } catch (error) {
        await tries.waitAfter(error, signal);
      }
    }
  }

  return {
    // A getter may stand behind them.
    get properties() {
      return destination.properties;
    },
    put,
    get: (key, range, signal) => again(signal, () => destination.get(key, range, signal)),
    stat: (key, signal) => again(signal, () => destination.stat(key, signal)),
    list,
    delete: (key, signal) => again(signal, () => destination.delete(key, signal)),
    ...(destination.retain === undefined
      ? {}
      : { retain: (key, signal) => again(signal, async () => await destination.retain?.(key, signal)) }),
    ...leftoversOf(destination, again),
    ...(destination.makeDurable === undefined
      ? {}
      : {
          makeDurable: (keys, signal) =>
            again(signal, async () => await destination.makeDurable?.(keys, signal)),
        }),
    async close() {
      // Of several calls under way one may have failed for good: nobody waits for the others, which would go on for minutes.
      closing.abort();
      await destination.close();
    },
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
