/** The real time, which a test may put forward: whatever waits for a time that has then passed wakes up. */
import type { Clock } from '../../src/base/clock.ts';

export interface HastyClock extends Clock {
  /** Moves wall and monotonic clock. */
  skip(ms: number): void;
  /** Moves the wall clock alone: a machine that slept, or a clock that was set. */
  jump(ms: number): void;
}

export function hastyClock(): HastyClock {
  let aheadMs = 0;
  let jumpedMs = 0;
  const sleepers = new Set<() => void>();
  const monotonic = (): number => performance.now() + aheadMs;

  async function sleep(ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const atMs = monotonic() + ms;
    let timer: NodeJS.Timeout | undefined;
    const wait = (): void => {
      clearTimeout(timer);
      const restMs = atMs - monotonic();
      if (restMs <= 0) resolve(undefined);
      else timer = setTimeout(wait, Math.min(restMs, 60_000));
    };
    const abort = (): void => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    sleepers.add(wait);
    try {
      wait();
      await promise;
    } finally {
      clearTimeout(timer);
      sleepers.delete(wait);
      signal.removeEventListener('abort', abort);
    }
  }

  return {
    now: () => Date.now() + aheadMs + jumpedMs,
    monotonic,
    sleep,
    skip(ms) {
      aheadMs += ms;
      for (const wake of sleepers) wake();
    },
    jump(ms) {
      jumpedMs += ms;
    },
  };
}
