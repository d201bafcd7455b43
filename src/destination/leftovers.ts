/** Which leftovers of puts whose process died may be removed, for destinations that use temporary names. */
import type { Destination, Leftovers, ObjectStat } from './destination.ts';

/** Longer than any put takes. */
const STALE_AFTER_MS = 24 * 60 * 60 * 1000;

/**
 * `removeLeftovers` of a destination that wraps another one, called by way of `through`; nothing where `inner` has
 * none.
 */
export function leftoversOf(
  inner: Destination,
  through: <T>(signal: AbortSignal, call: () => Promise<T>) => Promise<T> = async (_, call) => await call(),
): Pick<Destination, 'removeLeftovers'> {
  const removeLeftovers = inner.removeLeftovers?.bind(inner);
  if (removeLeftovers === undefined) return {};
  return {
    removeLeftovers: async (signal) => await through(signal, async () => await removeLeftovers(signal)),
  };
}

/** A file with a temporary name, as a list shows it. */
export interface Leftover extends ObjectStat {
  readonly name: string;
}

/**
 * Calls `remove` for the files that are at least a day older than something that was stored just now.
 * @param nowMs the time of what was stored just now, by the storage's clock
 * @param remove resolves with false when the file was already gone
 * @returns what was removed
 */
export async function removeStale(
  found: Iterable<Leftover> | AsyncIterable<Leftover>,
  nowMs: number,
  remove: (name: string) => Promise<boolean>,
  signal: AbortSignal,
): Promise<Leftovers> {
  let files = 0;
  let bytes = 0;
  for await (const { name, modifiedMs, size } of found) {
    signal.throwIfAborted();
    if (modifiedMs > nowMs - STALE_AFTER_MS || !(await remove(name))) continue;
    files += 1;
    bytes += size;
  }
  return { files, bytes };
}
