/** Work that is given up after a time limit, repeated with a pause after each time, or done in slices so that requests are answered in between. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from './clock.ts';
import { isAbort } from './errors.ts';

/**
 * Runs `work` with a signal that aborts when `signal` does, or with a `TimeoutError` after `ms` milliseconds. Listener
 * and timer are removed when it settles, so `signal` may be long-lived.
 */
export async function withDeadline<T>(
  ms: number,
  work: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  signal.throwIfAborted();
  const controller = new AbortController();
  const abort = (): void => controller.abort(signal.reason);
  const timer = setTimeout(() => controller.abort(new DOMException('too slow', 'TimeoutError')), ms);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}

/** True for an error of the time limit in `withDeadline`, or one that was caused by it. */
export function isTimeout(error: unknown): boolean {
  return error instanceof Error && (error.name === 'TimeoutError' || isTimeout(error.cause));
}

export interface PeriodicOptions {
  readonly clock: Pick<Clock, 'sleep'>;
  readonly signal: AbortSignal;
  /** Called with each failure; the work is tried again after the next pause. */
  readonly trouble: (error: unknown) => void;
}

/** Work whose cost grows with the amount of data may take one part in this many of all time. */
const REST = 20;

/** Milliseconds to pause after work that took `tookMs`, so that slow work is done less often. */
export function pauseAfter(tookMs: number, shortestMs: number): number {
  return Math.max(shortestMs, tookMs * (REST - 1));
}

/** Begins with a pause. Resolves when the signal aborts; never rejects. */
export async function periodically(
  pauseMs: number,
  work: () => void | Promise<void>,
  { clock, signal, trouble }: PeriodicOptions,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await clock.sleep(pauseMs, signal);
      await work();
    } catch (error) {
      if (!isAbort(error) && !signal.aborted) trouble(error);
    }
  }
}

/** Milliseconds of work after which everything else that waits has its turn. Shorter than what a person notices. */
const SLICE_MS = 20;

/**
 * Works through many items in slices, so that requests are answered in between. Calls `work` for each item. The first
 * slice runs before this returns, so a few items are done at once. Between slices settings may change and `signal` may
 * abort: the work checks by itself whether an item still applies.
 * @param signal ends the work early, without an error
 * @throws what `work` throws; the remaining items are then left out
 */
export async function inSlices<T>(
  items: Iterable<T>,
  work: (item: T) => void,
  signal?: AbortSignal,
): Promise<void> {
  let begun = performance.now();
  for (const item of items) {
    if (performance.now() - begun >= SLICE_MS) {
      await nextTurn();
      begun = performance.now();
    }
    if (signal?.aborted === true) return;
    work(item);
  }
}
