import { RepositoryError } from '../base/errors.ts';
import { readNewestHeads } from './chain.ts';
import type { Repository } from './repository.ts';
import { listSnapshots, type SnapshotList } from './snapshots.ts';
import { chainView, verifyChains } from './verify-chains.ts';

/**
 * Lists every snapshot and every tombstone, or none: for whoever decides what goes by what there is. A list that hides a
 * snapshot makes its data look needless; one that hides a tombstone makes a forgotten snapshot look like the newest one.
 *
 * @param consequence what is not done because of it, for the error
 * @throws {RepositoryError} CORRUPT_DATA when a record of a chain is neither there nor said to be removed
 */
export async function listEverySnapshot(
  repository: Repository,
  consequence: 'prune removes nothing' | 'the rules remove nothing',
  signal: AbortSignal,
): Promise<SnapshotList> {
  for (let last = false; ; last = true) {
    const heads = await readNewestHeads(repository, signal);
    const snapshots = await listSnapshots(repository, signal);
    const problems = verifyChains(chainView(snapshots, [], heads), repository.writer.memory);
    const missing = problems.find(({ kind }) => kind === 'missing');
    if (missing === undefined) return snapshots;
    // A record that was written between the lists looks like a gap; the second time it is there.
    if (!last) continue;
    throw new RepositoryError(
      'CORRUPT_DATA',
      `${missing.object}: ${missing.reason}; ${consequence} until that is settled`,
      {
        hint: 'Run: holdfast check. What is gone for good is given up with: holdfast forget --lost',
        details: { object: missing.object },
      },
    );
  }
}
