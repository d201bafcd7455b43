/** How long the client waits before it asks again, and the clock that it goes by. */

/** Replaced by tests. */
export interface Clock {
  /** Milliseconds, for durations only. */
  monotonic(): number;
  /** Rejects with the signal's reason. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** Node.js fires longer timers at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  monotonic: () => performance.now(),
  sleep: async (ms, signal) => {
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const abort = (): void => {
        clearTimeout(timer);
        reject(signal.reason as Error);
      };
      const timer = setTimeout(
        () => {
          signal.removeEventListener('abort', abort);
          resolve();
        },
        Math.min(ms, LONGEST_TIMER_MS),
      );
      signal.addEventListener('abort', abort, { once: true });
    });
  },
};

/** Where nobody says when: twice as long each time, and a minute at most. */
export function growingPauseMs(firstMs: number, times: number): number {
  return Math.min(60_000, firstMs * 2 ** times);
}
