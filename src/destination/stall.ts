/** Calls over a network that must go on: one that moves no byte for a while counts as failed. */
import { systemClock } from '../base/clock.ts';
import { DestinationError } from '../base/errors.ts';
import { waitsForAnswer } from '../base/waits.ts';

/**
 * So few bytes in all that time are no progress: at that pace nothing would come to an end. Less than the slowest of
 * lines gives each of many calls.
 */
const LEAST_BYTES = 1024;

/** Longer than any server thinks about one request, short enough to go on soon after a lost line. */
export const STALL_MS = 60_000;

/**
 * What the system has taken of an upload waits in its memory when the line is slow, and nothing is seen of how it goes on:
 * so much is waited for at a pace of four kilobytes a second, four minutes more at most.
 */
const MOST_HELD = 1024 ** 2;
const HELD_PER_STALL = 256 * 1024;

export interface Moving {
  /** Aborted with the caller's signal, and when nothing moved for too long. */
  readonly signal: AbortSignal;
  /** Tells that something moved: so many bytes, or a step that counts for itself. */
  readonly moved: (bytes?: number) => void;
  /** Tells that the system has taken more of an upload, and holds so many bytes that must go before anything moves. */
  readonly held: (bytes: number) => void;
}

/**
 * Runs `work` until it settles, the signal is aborted or nothing has moved for `stallMs`. Rejects with the signal's
 * reason at once, also when `work` does not end by itself, and with `unreachable` after a stall.
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
    // First the caller's answer: what the aborted work itself rejects with is of no use to anybody.
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
    // What is still being sent, after an answer that did not wait for it, keeps nobody waiting.
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
    // Nobody waits for it when the work was faster.
    ended.promise.catch(() => {});
  }
}

function stalled(what: string, stallMs: number): DestinationError {
  const seconds = Math.round(stallMs / 1000);
  const reason = `nothing has moved for ${seconds} seconds`;
  return new DestinationError('unreachable', `Cannot ${what}: ${reason}`, {
    op: what,
    what: reason,
    hint: 'Check the network and whether the server answers others.',
    retry: 'later',
    details: { stalled: true },
  });
}
