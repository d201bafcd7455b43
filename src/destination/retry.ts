/** Retries calls to a destination after failures that may pass, and after no others. */
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../base/clock.ts';
import { DestinationError } from '../base/errors.ts';
import { readsList, waitsToAskAgain } from '../base/waits.ts';
import type { Destination, ListedObject, ObjectStat } from './destination.ts';
import { mayHaveBeenDone } from './kept-connections.ts';
import { leftoversOf } from './leftovers.ts';

export interface RetryPolicy {
  /** Tries per call, including the first. */
  readonly attempts: number;
  /**
   * When the store answers, though with a failure, the call is retried until this many milliseconds were spent waiting,
   * however many tries that takes.
   */
  readonly answeredMs?: number;
  /** The longest wait before the second try, in milliseconds; it doubles with every further try. */
  readonly firstDelayMs: number;
  /** The longest wait of all, in milliseconds, at which the doubling stops. */
  readonly maxDelayMs: number;
  /** From 0 to just below 1: spreads the retries of writers that failed together. */
  readonly random: () => number;
  /** Called before the wait, for every failure that is retried. */
  readonly onRetry?: (error: DestinationError, delayMs: number) => void;
}

/** Waits `ms` milliseconds; rejects when the signal is aborted. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

/** The longest wait within a call. When a store asks for more, the job waits instead, without keeping anything open. */
const LONGEST_WAIT_MS = 15 * 60_000;

/**
 * A call gives up when nobody has answered for this long, counting waits and unanswered tries; there is always a second
 * try.
 */
export const SILENT_MS = 185_000;

/**
 * Waits at most 1 + 2 + 4 + 8 + 16 + 32 + 60 + 60 s: a router restarts within three minutes, and longer outages are
 * left to the job. A store that answers but is overloaded gets more time: even if half of the calls fail, what was
 * begun gets finished.
 */
export const defaultRetryPolicy: RetryPolicy = Object.freeze({
  attempts: 9,
  answeredMs: LONGEST_WAIT_MS,
  firstDelayMs: 1000,
  maxDelayMs: 60_000,
  random: Math.random,
});

/**
 * For operations that consist of several requests, such as opening: a store that answers is asked again soon, one that
 * does not counts as away.
 */
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
 * Runs `call`, and retries it under the policy while it fails with kind `unreachable` or with `retry: 'now'`; the last
 * failure is thrown unchanged. A wait that the store asks for (`details.retryAfterMs`) is kept, unless it is more than
 * 15 minutes.
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

/** How long to go on trying, and how to wait in between. */
export interface Patience {
  readonly policy: RetryPolicy;
  readonly sleep: Sleep;
  /** Aborted when nothing may be retried any more; the last failure is then thrown. */
  readonly closed?: AbortSignal;
}

/** Tries for an answer that makes no sense: a few are enough to see whether all do. */
const FEW = 4;

/** The tries of one call. */
class Tries {
  readonly #policy: RetryPolicy;
  readonly #sleep: Sleep;
  readonly #closed: AbortSignal | undefined;
  #made = 0;
  /** The tries that count towards `attempts`: not those that the store has answered. */
  #counted = 0;
  #waitedMs = 0;
  #failingSince: number | undefined;
  /** Time spent in waits and in tries that nobody answered. */
  #silentMs = 0;
  #triedAt = systemClock.monotonic();

  constructor({ policy, sleep, closed }: Patience) {
    this.#policy = policy;
    this.#sleep = sleep;
    this.#closed = closed;
  }

  /** Waits after a try that failed with `error`; throws when it must not be retried. */
  async waitAfter(error: unknown, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.#made += 1;
    if (!canPass(error) || this.#isClosed()) throw error;
    const { attempts, answeredMs = 0, firstDelayMs, maxDelayMs, onRetry, random } = this.#policy;
    const askedMs = waitAskedFor(error);
    if (askedMs > LONGEST_WAIT_MS) throw error;
    const longestMs = Math.min(maxDelayMs, firstDelayMs * 2 ** (this.#made - 1));
    // Never less than half of it, as a destination that has just failed needs time.
    const ownMs = Math.round((longestMs * (1 + random())) / 2);
    // Never earlier than the store asked for, and spread, so that not all callers come back at the same moment.
    const delayMs = askedMs > 0 ? Math.round(askedMs + ownMs / 4) : ownMs;
    // A store that answers gets its time, in any number of tries, but not more, however long it asks callers to wait.
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
      // Replaces the timer's own abort error: the caller expects the signal's reason.
      signal.throwIfAborted();
    }
  }

  #isClosed(): boolean {
    return this.#closed?.aborted === true;
  }
}

/** The store's or the network's code of the failure, for people, with what the store says; otherwise a phrase for its kind. */
function reasonOf({ kind, details: { code, status, says } }: DestinationError): string {
  const named =
    typeof code === 'string'
      ? code
      : typeof status === 'number' && status >= 300
        ? `status ${status}`
        : kind === 'corrupt-reply'
          ? 'its answer is not valid'
          : undefined;
  if (typeof says !== 'string') return named ?? 'it cannot be reached';
  const quoted = `"${says.length > MOST_SAID ? `${says.slice(0, MOST_SAID)}…` : says}"`;
  return named === undefined ? quoted : `${named}: ${quoted}`;
}

/** A wait is one line. The whole sentence is part of the error, should the call fail in the end. */
const MOST_SAID = 160;

/**
 * How often to try. A complete answer that makes no sense will hardly change; one that was cut short may arrive
 * complete.
 */
function triesFor(error: DestinationError, attempts: number): number {
  if (!isNonsense(error)) return attempts;
  const { status, whole } = error.details;
  return typeof status === 'number' || whole === true ? FEW : Math.max(attempts, FEW);
}

function isNonsense({ kind, retry }: DestinationError): boolean {
  return kind === 'corrupt-reply' && retry === 'now';
}

/** Whether the whole try passed without an answer. */
export function hasNoAnswer({ details: { code, stalled } }: DestinationError): boolean {
  return stalled === true || code === 'ETIMEDOUT';
}

/** Whether the store itself answered that it cannot do it at the moment. */
function isAnswer({ kind, details: { status } }: DestinationError): boolean {
  return typeof status === 'number' && kind !== 'corrupt-reply';
}

/**
 * `destination` with retries as by `persist`. A put may have succeeded although its reply was lost. So a repeated put
 * that finds the key taken succeeds when the stored bytes are its own. Two writers that race with equal bytes may
 * therefore both succeed: a caller that needs a single winner must put something unique into the body. `body` must not
 * change until the put has settled.
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
    // A list has no order and cannot be resumed: it starts again and leaves out what was already given.
    const given = new Set<string>();
    const tries = new Tries(patience);
    const isRead = readsList(() => given.size);
    // A list that nobody waits for any more might have no end, and closing waits for what is under way.
    const wanted = AbortSignal.any([signal, closing.signal]);
    try {
      for (;;) {
        try {
          for await (const page of destination.list(prefix, wanted)) {
            const fresh = page.filter(({ key }) => !given.has(key));
            for (const { key } of fresh) given.add(key);
            if (fresh.length > 0) yield fresh;
          }
          return;
        } catch (error) {
          await tries.waitAfter(error, signal);
        }
      }
    } finally {
      isRead();
    }
  }

  return {
    // Read anew each time: the wrapped destination may compute its properties.
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
      // When one of several calls has failed for good, nobody waits for the others, which would otherwise be retried
      // for minutes.
      closing.abort();
      await destination.close();
    },
  };
}

/** The wait that the store asked for, in milliseconds; 0 when it did not. */
function waitAskedFor({ details: { retryAfterMs } }: DestinationError): number {
  return typeof retryAfterMs === 'number' ? retryAfterMs : 0;
}

function canPass(error: unknown): error is DestinationError {
  // Aborts and programming errors never pass.
  if (!(error instanceof DestinationError)) return false;
  return error.retry === 'now' || error.kind === 'unreachable';
}

function isKind(error: unknown, kind: DestinationError['kind']): error is DestinationError {
  return error instanceof DestinationError && error.kind === kind;
}

/** The stat of the object if it holds `body`; otherwise throws `exists`, the failure of the put. */
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
    // The caller would take "exists" for "stored", which it no longer is.
    throw new DestinationError('unreachable', `${key} appeared and disappeared again`, {
      op: 'store',
      hint: 'Try again, and check that nothing else changes the destination.',
      retry: 'now',
      details: { key },
      cause: error,
    });
  }
}
