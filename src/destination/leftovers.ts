/** What puts leave behind when their process dies: which of it may go, for destinations with temporary names. */
import type { Destination, Leftovers, ObjectStat } from './destination.ts';

/** Longer than anything that is stored is under way. */
const STALE_AFTER_MS = 24 * 60 * 60 * 1000;

/** For a destination that wraps another one: the same ability, by way of `through`. */
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

/** A temporary name that a list shows. */
export interface Leftover extends ObjectStat {
  readonly name: string;
}

/**
 * Has `remove` take those away that are a day older than something that was stored just now.
 * @param nowMs when that was, by the storage's clock
 * @param remove false: somebody else was faster
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
