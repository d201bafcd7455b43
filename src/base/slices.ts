/** Works through many items in slices, so that requests are answered in between. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Milliseconds of work after which everything else that waits has its turn. Shorter than what a person notices. */
const SLICE_MS = 20;

/**
 * Calls `work` for each item. The first slice runs before this returns, so a few items are done at once.
 * Between slices settings may change and `signal` may abort: the work checks by itself whether an item still applies.
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
