/** Repeats work, with a pause after each time. */
import type { Clock } from './clock.ts';
import { isAbort } from './errors.ts';

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
