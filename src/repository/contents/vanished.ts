import { isFull } from '../../base/stored-by.ts';
import { readNewestHeads, type Head } from '../chain.ts';
import type { Repository } from '../repository.ts';
import { listSnapshots, type SnapshotList } from '../snapshots.ts';
import { chainView } from '../chain-view.ts';
import { verifyChains } from '../chains/verify-chains.ts';

/**
 * Whether snapshots have vanished from a repository whose list has none by full keys. If the destination's directory
 * was moved away, the list looks like that of a new repository, possibly with snapshots of write-only keys that go on
 * storing. The heads of writers, which are stored elsewhere, reveal it. A list that has snapshots by full keys is left
 * to check. The cost is one list and a request for each writer.
 */
export async function haveAllVanished(
  repository: Repository,
  list: SnapshotList,
  signal: AbortSignal,
): Promise<boolean> {
  if (hasFull(list)) return false;
  const heads = await readNewestHeads(repository, signal);
  if (!isAnyMissing(repository, list, heads)) return false;
  // A record that was stored after the list was made looks missing; a list that is made after the heads were read has it.
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
