/** Which entries have a ctime that tells of every change since a run that looked at them began. */

/** Nanoseconds for which the clock of a file system may stand still, with room to spare. */
const TICK_NS = 20_000_000n;
const SECOND_NS = 1_000_000_000n;
/** Some file systems keep whole seconds only (ext3, HFS+, SFTP), and FAT every other one. */
const COARSEST_NS = 2n * SECOND_NS;

/** False when a change since the run began may have left the entry with this very ctime: it is to be looked at again. */
export type IsSettled = (ctimeNs: bigint) => boolean;

/**
 * A change after the run began has a ctime that is rounded down to the last tick. A whole second may be one by chance;
 * to look at such an entry again costs little.
 *
 * @param startedMs when the run began, milliseconds since 1970
 */
export function settledBefore(startedMs: number): IsSettled {
  const beforeNs = BigInt(startedMs) * 1_000_000n - TICK_NS;
  const coarseBeforeNs = beforeNs - COARSEST_NS;
  return (ctimeNs) => ctimeNs < coarseBeforeNs || (ctimeNs < beforeNs && ctimeNs % SECOND_NS !== 0n);
}
