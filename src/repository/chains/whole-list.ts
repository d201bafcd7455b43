import { RepositoryError } from '../../base/errors.ts';
import { holdfastThere } from '../../base/holdfast-command.ts';
import { readLaterHeads, readNewestHeads, type Head } from '../chain.ts';
import { writeOnlyInUse } from '../keys/keys.ts';
import type { Repository } from '../repository.ts';
import { listSnapshots, type SnapshotList } from '../snapshots.ts';
import { chainView, type ChainView } from '../chain-view.ts';
import { highestNumbers, isGone, verifyChains } from './verify-chains.ts';

export interface WholeList extends SnapshotList {
  /** Numbers of write-only keys of which something may be hidden. */
  readonly doubtful: ReadonlySet<number>;
}

/**
 * Lists every snapshot and every tombstone, or none: for whoever decides what goes by what there is. A list that hides a
 * snapshot makes its data look needless; one that hides a tombstone makes a forgotten snapshot look like the newest one.
 * A head tells of both, and where lists lag it is asked for by its name: that costs one request a writer.
 *
 * What is missing by the word of a write-only key in use holds nobody up: whoever has it may have made that up. What such a
 * key stored refers to nothing but what it has stored itself, which is left alone then. Once the key is removed nothing of it
 * is: `forget --lost` says then that it is gone for good.
 *
 * @param consequence what is not done because of it, for the error
 * @throws {RepositoryError} CORRUPT_DATA when a record of a chain is neither there nor said to be removed
 */
export async function listEverySnapshot(
  repository: Repository,
  consequence: 'prune removes nothing' | 'the rules remove nothing',
  signal: AbortSignal,
): Promise<WholeList> {
  const inUse = writeOnlyInUse(repository.keyring);
  let later: readonly Head[] = [];
  for (let last = false; ; last = true) {
    const heads = await readNewestHeads(repository, signal);
    const snapshots = await listSnapshots(repository, signal);
    const view = chainView(repository, snapshots, [], [...heads, ...later]);
    const problems = verifyChains(view, repository.writer.memory);
    const missing = problems.find((one) => isGone(one, inUse));
    const ofKeys = problems.filter(({ kind, key }) => key !== undefined && kind !== 'fork');
    if (!last) later = await readLaterHeads(repository, numbersIn(view), signal);
    // A record that was written between the lists looks like a gap; the second time it is there.
    if (!last && (missing !== undefined || ofKeys.length > 0 || later.length > 0)) continue;
    if (missing === undefined)
      return { ...snapshots, doubtful: new Set(ofKeys.flatMap(({ key }) => key ?? [])) };
    throw new RepositoryError(
      'CORRUPT_DATA',
      `${missing.object}: ${missing.reason}; ${consequence} until that is settled`,
      {
        hint: `Run: ${holdfastThere`check`}. What is gone for good is given up with: ${holdfastThere`forget --lost`}`,
        details: { object: missing.object },
      },
    );
  }
}

/** The highest number that anything tells of each writer, heads that cannot be read included. */
function numbersIn(view: ChainView): ReadonlyMap<string, number> {
  const numbers = highestNumbers(view);
  for (const { chain } of view.heads)
    numbers.set(chain.writer, Math.max(chain.seq, numbers.get(chain.writer) ?? 0));
  return numbers;
}
