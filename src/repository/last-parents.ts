/**
 * What snapshots need that were forgotten a moment ago. A backup takes over subtrees of its parent unseen, because prune
 * keeps what a live snapshot needs, also where a pack was marked while that snapshot was on its way. When the parent is
 * forgotten after the backup looked for the last time, nothing would hold such a pack until the backup is stored.
 */
import { traverseTrees } from './check-trees.ts';
import type { ChunkIndex } from './chunk-index.ts';
import { commitWindowMs } from './commit-window.ts';
import { damageTo } from './lost-object.ts';
import type { Repository } from './repository.ts';
import type { SlotSet } from './slot-set.ts';
import { readSnapshot, type Snapshot, type SnapshotList } from './snapshots.ts';

/** The clock of the storage, by which both times are, may be put right between them. */
const ROUNDING_MS = 300_000;

/**
 * Names of the packs that hold what only such snapshots need. What cannot be read of them no backup takes over.
 * @param nowMs the storage's clock, from before the snapshots were listed
 * @param reachable what live snapshots need
 */
export async function packsOfLastParents(
  repository: Repository,
  { forgotten, tombstones }: SnapshotList,
  { index, reachable, nowMs }: { index: ChunkIndex; reachable: SlotSet; nowMs: number },
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const sinceMs = nowMs - commitWindowMs(repository) - ROUNDING_MS;
  const late = new Set(
    tombstones.all
      .filter(({ record, storedMs }) => record.kind === 'snapshots' && storedMs > sinceMs)
      .flatMap(({ record }) => record.names),
  );
  const parents: Snapshot[] = [];
  for (const id of forgotten) {
    const parent = late.has(id) ? await readableSnapshot(repository, id, signal) : undefined;
    if (parent !== undefined) parents.push(parent);
  }
  const { referenced } = await traverseTrees(repository, index, parents, signal, reachable);
  const names = new Set<string>();
  referenced.forEach((slot) => {
    const pack = index.packs[index.table.locationAt(slot).pack];
    if (pack !== undefined && !reachable.has(slot)) names.add(pack.name);
  });
  return names;
}

async function readableSnapshot(
  repository: Repository,
  id: string,
  signal: AbortSignal,
): Promise<Snapshot | undefined> {
  try {
    return await readSnapshot(repository, id, signal);
  } catch (error) {
    if (damageTo(error) === undefined) throw error;
    return undefined;
  }
}
