/**
 * What snapshots need that were forgotten a moment ago. A backup takes over subtrees of its parent unseen, because prune
 * keeps what a live snapshot needs, also where a pack was marked while that snapshot was on its way. When the parent is
 * forgotten after the backup looked for the last time, nothing would hold such a pack until the backup is stored.
 */
import { DestinationError, RepositoryError, type DestinationKind } from '../../base/errors.ts';
import { traverseTrees } from '../check/check-trees.ts';
import { commitWindowMs } from '../commit-window.ts';
import { mapParallel } from '../objects/parallel.ts';
import type { PruneStock } from './prune-stock.ts';
import type { Repository } from '../repository.ts';
import { readSnapshot, type Snapshot } from '../snapshots.ts';

/**
 * A list may hide for so long from a backup that its parent was forgotten. A shorter grace period says of a storage that its
 * lists are not that old: marks would come too late to writers, too.
 */
const HIDDEN_MS = 900_000;

/** What a destination says of one object that it does not give, where it answers all the same. */
const OF_ONE_OBJECT: ReadonlySet<DestinationKind> = new Set(['not-found', 'denied', 'corrupt-reply']);

/**
 * A snapshot that was forgotten before may be the parent of no backup that is not stored yet. The storage's time, in
 * milliseconds.
 */
export function relyingSinceMs(repository: Repository, nowMs: number): number {
  const hiddenMs = Math.min(HIDDEN_MS, repository.config.graceSeconds * 1_000);
  return nowMs - commitWindowMs(repository) - hiddenMs;
}

/**
 * Names of the packs that hold what only such snapshots need. Unknown where something of them cannot be read: a backup may
 * have read it before.
 * @throws {DestinationError}
 */
export async function packsOfLastParents(
  repository: Repository,
  stock: PruneStock,
  signal: AbortSignal,
): Promise<ReadonlySet<string> | 'unknown'> {
  return await packsNeededBy(
    repository,
    stock,
    async () => await lastParents(repository, stock, signal),
    signal,
  );
}

/**
 * The same of any forgotten snapshots.
 * @throws {DestinationError}
 */
export async function packsNeededBy(
  repository: Repository,
  { index, reachable }: Pick<PruneStock, 'index' | 'reachable'>,
  forgotten: () => Promise<readonly Snapshot[]>,
  signal: AbortSignal,
): Promise<ReadonlySet<string> | 'unknown'> {
  try {
    const parents = await forgotten();
    const walk = await traverseTrees(repository, index, parents, signal, { passed: reachable });
    if (walk.missing.size + walk.unreadable.size > 0) return 'unknown';
    const names = new Set<string>();
    walk.referenced.forEach((slot) => {
      const pack = index.packs[index.table.locationAt(slot).pack];
      if (pack !== undefined && !reachable.has(slot)) names.add(pack.name);
    });
    return names;
  } catch (error) {
    signal.throwIfAborted();
    if (!isAboutOneObject(error)) throw error;
    return 'unknown';
  }
}

async function lastParents(
  repository: Repository,
  { snapshots: { forgotten, tombstones }, nowMs }: PruneStock,
  signal: AbortSignal,
): Promise<readonly Snapshot[]> {
  const sinceMs = relyingSinceMs(repository, nowMs);
  const late = new Set(
    tombstones.all
      .filter(({ record, storedMs }) => record.kind === 'snapshots' && storedMs > sinceMs)
      .flatMap(({ record }) => record.names),
  );
  const ids = forgotten.filter((id) => late.has(id));
  const { maxParallel } = repository.destination.properties;
  return await mapParallel(ids, maxParallel, async (id) => await readSnapshot(repository, id, signal));
}

function isAboutOneObject(error: unknown): boolean {
  if (error instanceof RepositoryError) return error.code !== 'WRONG_PASSPHRASE';
  return error instanceof DestinationError && OF_ONE_OBJECT.has(error.kind);
}
