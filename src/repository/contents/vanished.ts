import { isFull } from '../../base/stored-by.ts';
import { readNewestHeads, type Head } from '../chain.ts';
import type { Repository } from '../repository.ts';
import { listSnapshots, type SnapshotList } from '../snapshots.ts';
import { chainView } from '../chain-view.ts';
import { verifyChains } from '../chains/verify-chains.ts';

/**
 * Whether an empty list is what is left of a longer one: a directory that was moved away looks like one that nothing was
 * saved in; and so does one in which a write-only key alone goes on storing. The heads of writers, which stand elsewhere, tell. A list with something of full keys is left to check: this costs a list
 * and a request for each writer.
 */
export async function haveAllVanished(
  repository: Repository,
  list: SnapshotList,
  signal: AbortSignal,
): Promise<boolean> {
  if (hasFull(list)) return false;
  const heads = await readNewestHeads(repository, signal);
  if (!isAnyMissing(repository, list, heads)) return false;
  // What was stored after that list was read looks missing. In one that is read after the heads it is there.
  const later = await listSnapshots(repository, signal);
  return !hasFull(later) && isAnyMissing(repository, later, heads);
}

function hasFull({ live }: SnapshotList): boolean {
  return live.some(({ storedBy }) => isFull(storedBy));
}

function isAnyMissing(repository: Repository, list: SnapshotList, heads: readonly Head[]): boolean {
  const view = chainView(repository, list, [], heads);
  return verifyChains(view, repository.writer.memory).some(({ kind }) => kind === 'missing');
}
