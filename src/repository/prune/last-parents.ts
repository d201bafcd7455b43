/**
 * Finds packs that only recently forgotten snapshots need. A backup takes over subtrees of its parent without looking
 * at the packs, since prune keeps what a live snapshot needs, even when the pack was already marked. If the parent is
 * forgotten after the backup's last look, nothing else protects such packs until the backup is stored.
 */
import { DestinationError, RepositoryError, type DestinationKind } from '../../base/errors.ts';
import { traverseTrees } from '../check/check-trees.ts';
import { commitWindowMs } from '../lease-objects.ts';
import { mapParallel } from '../objects/parallel.ts';
import type { PruneStock } from './prune-stock.ts';
import type { Repository } from '../repository.ts';
import { readSnapshot, type Snapshot } from '../snapshots.ts';

/**
 * For how long a list may hide from a backup that its parent was forgotten. A shorter grace period implies that the
 * storage's lists lag less: otherwise writers would not see marks in time either.
 */
const HIDDEN_MS = 900_000;

/** Errors that concern one object, from a destination that otherwise answers. */
const OF_ONE_OBJECT: ReadonlySet<DestinationKind> = new Set(['not-found', 'denied', 'corrupt-reply']);

/**
 * The storage time, in milliseconds, from which a forgotten snapshot may still be the parent of a backup that is not
 * stored yet.
 */
export function relyingSinceMs(repository: Repository, nowMs: number): number {
  const hiddenMs = Math.min(HIDDEN_MS, repository.config.graceSeconds * 1_000);
  return nowMs - commitWindowMs(repository) - hiddenMs;
}

/**
 * Names of the packs that hold what only such snapshots need. `unknown` when part of the snapshots cannot be read: a
 * backup may have read it earlier.
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
 * Like `packsOfLastParents`, for any forgotten snapshots.
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
