import type { Clock } from '../base/clock.ts';

/** Milliseconds by which the wall clock may drift from the other between two looks. */
const MOST_DRIFT_MS = 60_000;

/**
 * Says whether the computer slept since the last time it was asked: the wall clock went on, the monotonic one stood
 * still. A clock that was set looks the same.
 */
export function sleepDetector(clock: Clock): () => boolean {
  let offset = clock.now() - clock.monotonic();
  return () => {
    const now = clock.now() - clock.monotonic();
    const jumped = Math.abs(now - offset) > MOST_DRIFT_MS;
    offset = now;
    return jumped;
  };
}
