import type { Clock } from '../base/clock.ts';

/** Milliseconds by which the wall clock may drift from the monotonic clock between two calls. */
const MOST_DRIFT_MS = 60_000;

/**
 * Returns a function that says whether the computer has slept since the last call: the wall clock went on while the
 * monotonic clock stopped. A clock that was set looks the same.
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
