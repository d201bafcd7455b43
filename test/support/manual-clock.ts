/** A clock that stands still until a test moves it. */
import type { Clock } from '../../src/base/clock.ts';

export interface ManualClock extends Clock {
  /** Moves wall and monotonic clock, and lets everything that falls due run. */
  advance(ms: number): Promise<void>;
  /** Moves the wall clock alone: a clock that was set, or a machine that slept. */
  jump(ms: number): void;
  /** How many wait for this clock. */
  sleeping(): number;
}

interface Sleeper {
  readonly atMs: number;
  readonly wake: () => void;
}

/** Begins at 2023-11-14T22:13:20Z. */
export function manualClock(): ManualClock {
  let wallMs = 1_700_000_000_000;
  let monotonicMs = 0;
  const sleepers = new Set<Sleeper>();

  async function sleep(ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const sleeper: Sleeper = { atMs: monotonicMs + ms, wake: () => resolve(undefined) };
    const abort = (): void => reject(signal.reason);
    sleepers.add(sleeper);
    signal.addEventListener('abort', abort, { once: true });
    try {
      await promise;
    } finally {
      sleepers.delete(sleeper);
      signal.removeEventListener('abort', abort);
    }
  }

  async function advance(ms: number): Promise<void> {
    const endMs = monotonicMs + ms;
    for (;;) {
      const next = [...sleepers].filter(({ atMs }) => atMs <= endMs).sort((a, b) => a.atMs - b.atMs)[0];
      const stepMs = Math.max(0, (next?.atMs ?? endMs) - monotonicMs);
      wallMs += stepMs;
      monotonicMs += stepMs;
      if (next === undefined) return;
      sleepers.delete(next);
      next.wake();
      await settle();
    }
  }

  return {
    now: () => wallMs,
    monotonic: () => monotonicMs,
    sleep,
    advance,
    jump: (ms) => {
      wallMs += ms;
    },
    sleeping: () => sleepers.size,
  };
}

/** Lets promises run that wait for nothing but each other. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
