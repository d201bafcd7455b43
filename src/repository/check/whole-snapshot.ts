import { traverseTrees } from './check-trees.ts';
import { loadForReading } from '../contents/index-for.ts';
import type { Repository } from '../repository.ts';
import type { Snapshot } from '../snapshots.ts';
import { lastPacks, readTombstones } from '../tombstones.ts';

/**
 * Whether everything that a snapshot needs is stored: its trees can be read, and packs hold its data, which is not
 * read. Used for a snapshot that may have been stored after a prune had removed its data. What is found here is safe,
 * since prune keeps it for the snapshot.
 */
export async function isWhole(
  repository: Repository,
  snapshot: Snapshot,
  signal: AbortSignal,
): Promise<boolean> {
  const last = lastPacks(await readTombstones(repository, signal));
  const index = await loadForReading(repository, last, signal);
  const { missing, unreadable } = await traverseTrees(repository, index, [snapshot], signal);
  return missing.size === 0 && unreadable.size === 0;
}
