import { traverseTrees } from './check-trees.ts';
import { loadForWriting } from './index-for.ts';
import type { Repository } from './repository.ts';
import type { Snapshot } from './snapshots.ts';
import { readTombstones } from './tombstones.ts';

/**
 * Whether everything that a snapshot needs is there, and nothing of it is about to be deleted: its trees can be read, and
 * packs without a mark hold its data, which is not read. For one that may have been stored when others had pruned.
 */
export async function isWhole(
  repository: Repository,
  snapshot: Snapshot,
  signal: AbortSignal,
): Promise<boolean> {
  const { packs } = await readTombstones(repository, signal);
  const index = await loadForWriting(repository, packs, signal);
  const { missing, unreadable } = await traverseTrees(repository, index, [snapshot], signal);
  return missing.size === 0 && unreadable.size === 0;
}
