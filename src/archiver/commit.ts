import { DestinationError, RepositoryError } from '../base/errors.ts';
import { listNamed, packKey } from '../repository/listing.ts';
import type { ChunkIndex } from '../repository/chunk-index.ts';
import type { Repository } from '../repository/repository.ts';
import type { SnapshotList } from '../repository/snapshots.ts';
import { readTombstones } from '../repository/tombstones.ts';
import type { Parent } from './parent.ts';

/** A pack this run relies on went away before the commit: the run starts again and stores those chunks itself. */
export class ReliedPackGone extends Error {
  override readonly name = 'ReliedPackGone';
}

/** For when starting again does not help, or cannot be done. */
export function reliedPackGone(cause: ReliedPackGone): RepositoryError {
  return new RepositoryError('REPOSITORY_LOCKED', 'Packs were removed while this backup ran', {
    hint: 'Let prune finish, then run the backup again. Nothing was lost.',
    retry: 'later',
    cause,
  });
}

/**
 * Just before the commit: every pack that this run stored or found chunks in must be there with its length and carry no
 * tombstone, and the parent, whose subtrees were taken over unseen, must still be a live snapshot. Without a parent the
 * keyring must be there: what is stored in a place that was emptied meanwhile could never be opened.
 *
 * @param stored length of each pack that this run has stored, by name
 * @throws {ReliedPackGone} {RepositoryError} NO_REPOSITORY
 */
export async function requireRelied(
  repository: Repository,
  index: ChunkIndex,
  stored: ReadonlyMap<string, number>,
  parent: Parent | undefined,
  signal: AbortSignal,
): Promise<void> {
  const relied = new Map(stored);
  for (const number of index.table.reliedPacks()) {
    const pack = index.packs[number];
    if (pack !== undefined) relied.set(pack.name, pack.length);
  }
  repository.lookAnew();
  // Tombstones first: prune takes them away only after the packs that they name.
  const tombstones = await readTombstones(repository, signal);
  const [listed, present] = await Promise.all([
    listNamed(repository.destination, 'packs/', signal),
    parent && listNamed(repository.destination, 'snapshots/', signal),
  ]);
  for (const [name, length] of relied) {
    // A list may lag behind; an object that is asked for by itself is there or not.
    const size = listed.get(name)?.size ?? (await sizeOf(repository, packKey(name), signal));
    if (size !== length || tombstones.packs.has(name)) throw new ReliedPackGone(name);
  }
  if (parent === undefined || present === undefined) {
    await requireKeys(repository, signal);
    return;
  }
  const { id } = parent.snapshot;
  if (!present.has(id) || tombstones.snapshots.has(id)) throw new ReliedPackGone(`snapshot ${id}`);
}

async function requireKeys(repository: Repository, signal: AbortSignal): Promise<void> {
  const { destination, ringNumber } = repository;
  if ((await sizeOf(repository, `keys/ring-${ringNumber}`, signal)) !== undefined) return;
  throw new RepositoryError('NO_REPOSITORY', `The repository has gone from ${destination.properties.url}`, {
    hint: 'Check that the right drive or bucket is there, and run the backup again. What it had just stored there cannot be opened.',
  });
}

async function sizeOf(
  { destination }: Repository,
  key: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  try {
    return (await destination.stat(key, signal)).size;
  } catch (error) {
    if (error instanceof DestinationError && error.kind === 'not-found') return undefined;
    throw error;
  }
}

/** Live snapshots of this writer, for the head. */
export function liveCount(repository: Repository, snapshots: SnapshotList): number {
  return snapshots.live.filter((one) => one.chain.writer === repository.writer.memory.writer).length;
}
