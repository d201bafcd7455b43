/** Decides which entries have a ctime that would show any change since a run began. */

/** Nanoseconds for which the clock of a file system may stand still, with a margin. */
const TICK_NS = 20_000_000n;
const SECOND_NS = 1_000_000_000n;
/** Some file systems keep whole seconds only (ext3, HFS+, SFTP), and FAT only even ones. */
const COARSEST_NS = 2n * SECOND_NS;

/**
 * False when a change since the run began may have left the entry with this very ctime, so that it has to be looked at again.
 */
export type IsSettled = (ctimeNs: bigint) => boolean;

/**
 * A change after the run began has a ctime that is rounded down to the last tick. A ctime of whole seconds may be finer
 * and whole only by chance, but looking at such an entry again costs little.
 *
 * @param startedMs when the run began, milliseconds since 1970
 */
export function settledBefore(startedMs: number): IsSettled {
  const beforeNs = BigInt(startedMs) * 1_000_000n - TICK_NS;
  const coarseBeforeNs = beforeNs - COARSEST_NS;
  return (ctimeNs) => ctimeNs < coarseBeforeNs || (ctimeNs < beforeNs && ctimeNs % SECOND_NS !== 0n);
}
