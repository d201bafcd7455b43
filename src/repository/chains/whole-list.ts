import { RepositoryError } from '../../base/errors.ts';
import { holdfastThere } from '../../base/holdfast-command.ts';
import { readLaterHeads, readNewestHeads, type Head } from '../chain.ts';
import { writeOnlyInUse } from '../keys/keys.ts';
import type { Repository } from '../repository.ts';
import { listSnapshots, type SnapshotList } from '../snapshots.ts';
import { chainView, type ChainView } from '../chain-view.ts';
import { highestNumbers, isGone, verifyChains } from './verify-chains.ts';

export interface WholeList extends SnapshotList {
  /** Numbers of write-only keys some of whose records may be hidden. */
  readonly doubtful: ReadonlySet<number>;
}

/**
 * Lists every snapshot and every tombstone, or throws: for callers that decide what to delete by what exists. A list
 * that hides a snapshot makes its data look unneeded; one that hides a tombstone makes a forgotten snapshot look like
 * the newest. Heads reveal both, and where lists lag they are requested by name, at the cost of one request for each
 * writer.
 *
 * Records that are missing only by the word of a write-only key in use do not stop the caller, since the key's holder
 * may have made them up. Snapshots of such a key refer only to what the key itself has stored, and that is left alone
 * meanwhile. After the key is removed it is not left alone: missing records then stop the caller until `forget --lost`
 * gives them up.
 *
 * @param consequence what is not done because of the problem, for the error
 * @throws {RepositoryError} CORRUPT_DATA when a record of a chain is neither stored nor known to be removed
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
    // A record that was written between the two lists looks like a gap; the second list has it.
    if (!last && (missing !== undefined || ofKeys.length > 0 || later.length > 0)) continue;
    if (missing === undefined)
      return { ...snapshots, doubtful: new Set(ofKeys.flatMap(({ key }) => key ?? [])) };
    throw new RepositoryError(
      'CORRUPT_DATA',
      `${missing.object}: ${missing.reason}; ${consequence} until that is resolved`,
      {
        hint: `Run: ${holdfastThere`check`}. To give up what is gone for good, run: ${holdfastThere`forget --lost`}`,
        details: { object: missing.object },
      },
    );
  }
}

/** The highest number of each writer that any object shows, including unreadable heads. */
function numbersIn(view: ChainView): ReadonlyMap<string, number> {
  const numbers = highestNumbers(view);
  for (const { chain } of view.heads)
    numbers.set(chain.writer, Math.max(chain.seq, numbers.get(chain.writer) ?? 0));
  return numbers;
}
