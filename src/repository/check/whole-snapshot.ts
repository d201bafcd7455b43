import { traverseTrees } from './check-trees.ts';
import { loadForReading } from '../contents/index-for.ts';
import type { Repository } from '../repository.ts';
import type { Snapshot } from '../snapshots.ts';
import { lastPacks, readTombstones } from '../tombstones.ts';

/**
 * Whether everything that a snapshot needs is there: its trees can be read, and packs hold its data, which is not read. For
 * one that may have been stored when others had pruned; what is there now prune keeps for it.
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
