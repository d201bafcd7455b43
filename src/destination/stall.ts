/** Time limits for calls over a network: a call on which nothing moves for a while fails. */
import { systemClock } from '../base/clock.ts';
import { DestinationError } from '../base/errors.ts';
import { waitsForAnswer } from '../base/waits.ts';

/**
 * Fewer bytes than this within the time limit are no progress: at that pace nothing would ever finish. It is less than
 * even a very slow line gives each of many calls.
 */
const LEAST_BYTES = 1024;

/** Longer than any server needs for one request, and short enough to retry soon after a lost connection. */
export const STALL_MS = 60_000;

/**
 * On a slow line the system holds a part of an upload in its own buffers, where no progress can be seen. Up to this
 * many bytes extend the time limit, at a pace of 4 KiB a second, by four minutes at most.
 */
const MOST_HELD = 1024 ** 2;
const HELD_PER_STALL = 256 * 1024;

export interface Moving {
  /** Aborted with the caller's signal, and when nothing moved for too long. */
  readonly signal: AbortSignal;
  /** Reports progress: a number of bytes, or without one a step that is progress in itself. */
  readonly moved: (bytes?: number) => void;
  /**
   * Reports that the system has accepted more of an upload, and how many bytes it may hold that must be sent before
   * anything is seen to move.
   */
  readonly held: (bytes: number) => void;
}

/**
 * Runs `work` until it settles, the signal is aborted or nothing has moved for `stallMs`. Rejects with the signal's
 * reason at once, even when `work` does not end, and with `unreachable` after a stall.
 */
export async function whileMoving<T>(
  what: string,
  stallMs: number,
  signal: AbortSignal,
  work: (moving: Moving) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const inner = new AbortController();
  const ended = Promise.withResolvers<never>();
  const stop = (reason: unknown): void => {
    // The caller's promise is rejected first, so that it does not get the aborted work's own error.
    ended.reject(reason);
    inner.abort(reason);
  };
  const onAbort = (): void => stop(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  let allowedMs = stallMs;
  const wait = (): NodeJS.Timeout => setTimeout(() => stop(stalled(what, allowedMs)), allowedMs);
  let timer = wait();
  let isOver = false;
  const allow = (ms: number): void => {
    clearTimeout(timer);
    allowedMs = ms;
    // An upload may still be going on after an answer that did not wait for it; nobody waits for that.
    if (!isOver) timer = wait();
  };
  let movedAt = systemClock.monotonic();
  const answered = waitsForAnswer(
    'store',
    () => movedAt,
    () => allowedMs,
  );
  let few = 0;
  const moved = (bytes = LEAST_BYTES): void => {
    few += bytes;
    if (few < LEAST_BYTES || isOver) return;
    few = 0;
    movedAt = systemClock.monotonic();
    if (allowedMs === stallMs) timer.refresh();
    else allow(stallMs);
  };
  const held = (bytes: number): void => {
    const usualMs = Math.min(stallMs, STALL_MS);
    movedAt = systemClock.monotonic();
    allow(stallMs + usualMs * (Math.min(bytes, MOST_HELD) / HELD_PER_STALL));
  };
  try {
    return await Promise.race([work({ signal: inner.signal, moved, held }), ended.promise]);
  } finally {
    isOver = true;
    answered();
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    // Without this handler a later rejection would count as unhandled when the work was faster.
    ended.promise.catch(() => {});
  }
}

function stalled(what: string, stallMs: number): DestinationError {
  const seconds = Math.round(stallMs / 1000);
  const reason = `no data was transferred for ${seconds} seconds`;
  return new DestinationError('unreachable', `Cannot ${what}: ${reason}`, {
    op: what,
    what: reason,
    hint: 'Check the network, and whether the server answers others.',
    retry: 'later',
    details: { stalled: true },
  });
}

/**
 * Lets callers stop waiting for calls that cannot be interrupted. Settles as `work` does, or rejects with the signal's
 * reason as soon as that is aborted. The work then goes on by itself.
 */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/**
 * Milliseconds that closing waits for calls to clean up after themselves. A server that answers needs less. Behind one
 * that does not, whoever pressed Ctrl-C would wait for as long as the program has patience; prune removes what is left.
 */
const CLOSING_MS = 700;

/** Waits for the calls under way, for a moment. */
export async function settledSoon(calls: Iterable<Promise<unknown>>): Promise<void> {
  const moment = Promise.withResolvers<void>();
  const timer = setTimeout(moment.resolve, CLOSING_MS);
  try {
    await Promise.race([Promise.allSettled(calls), moment.promise]);
  } finally {
    clearTimeout(timer);
  }
}
