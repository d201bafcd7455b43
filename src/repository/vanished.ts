import { readNewestHeads } from './chain.ts';
import type { Repository } from './repository.ts';
import type { SnapshotList } from './snapshots.ts';
import { chainView, verifyChains } from './verify-chains.ts';

/**
 * Whether an empty list is what is left of a longer one: a directory that was moved away looks like one that nothing was
 * saved in. The heads of writers, which stand elsewhere, tell. A list that is not empty is left to check: this costs a list
 * and a request for each writer.
 */
export async function haveAllVanished(
  repository: Repository,
  list: SnapshotList,
  signal: AbortSignal,
): Promise<boolean> {
  if (list.live.length > 0) return false;
  const view = chainView(list, [], await readNewestHeads(repository, signal));
  return verifyChains(view, repository.writer.memory).some(({ kind }) => kind === 'missing');
}
