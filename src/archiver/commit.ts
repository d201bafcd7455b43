import { DestinationError, RepositoryError } from '../base/errors.ts';
import { listNamed, packKey } from '../repository/listing.ts';
import type { ChunkIndex } from '../repository/chunk-index.ts';
import type { Lease } from '../repository/lease.ts';
import type { Repository } from '../repository/repository.ts';
import { forgetSnapshots, type Snapshot, type SnapshotList } from '../repository/snapshots.ts';
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
async function requireRelied(
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
  const { generations } = repository.keyring;
  // Tombstones first: prune takes them away only after the packs that they name.
  const tombstones = await readTombstones(repository, signal);
  // They may have told of newer keys. What this run stored under a generation that is gone nobody could open.
  if (!generations.every(({ g }) => repository.keys.knows(g))) throw new ReliedPackGone('key generation');
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

/** Of the grace period: a commit may lag so far behind the look at what it relies on. */
const WINDOW_PART = 6;
/** How often a run that is held up looks again before it commits all the same, and looks once more afterwards. */
const LOOKS = 3;

export interface Commit {
  readonly repository: Repository;
  readonly index: ChunkIndex;
  /** Length of each pack that this run has stored, by name. */
  readonly stored: ReadonlyMap<string, number>;
  readonly parent: Parent | undefined;
  readonly session: Lease;
}

/**
 * Looks at what the run relies on, and commits while that is still true. What prune marks after the look it deletes once
 * the grace period is over, so a run that was held up in between for a part of that time, asleep with its machine for
 * instance, looks again; one that was held up in the commit itself looks afterwards, and takes its snapshot back when
 * something has gone.
 *
 * @throws {ReliedPackGone} {RepositoryError} {DestinationError}
 */
export async function commitRelied(
  { repository, index, stored, parent, session }: Commit,
  commit: () => Promise<Snapshot>,
  signal: AbortSignal,
): Promise<Snapshot> {
  const { clock, config } = repository;
  const windowMs = (config.graceSeconds * 1_000) / WINDOW_PART;
  const look = async (): Promise<() => boolean> => {
    const [wall, monotonic] = [clock.now(), clock.monotonic()];
    await requireRelied(repository, index, stored, parent, signal);
    return () => Math.max(clock.monotonic() - monotonic, Math.abs(clock.now() - wall)) <= windowMs;
  };
  let isRecent = await look();
  await session.assertHeld(signal);
  for (let looks = 1; !isRecent() && looks < LOOKS; looks += 1) isRecent = await look();
  const snapshot = await commit();
  if (isRecent()) return snapshot;
  try {
    await requireRelied(repository, index, stored, parent, signal);
  } catch (error) {
    if (error instanceof ReliedPackGone) await takeBack(repository, snapshot, error, signal);
    throw error;
  }
  return snapshot;
}

async function takeBack(
  repository: Repository,
  { id }: Snapshot,
  cause: ReliedPackGone,
  signal: AbortSignal,
): Promise<void> {
  try {
    await forgetSnapshots(repository, [id], 'committed too late', signal);
  } catch (error) {
    if (!(error instanceof RepositoryError)) throw error;
    throw new RepositoryError(
      'CORRUPT_DATA',
      `Snapshot ${id} was committed too late, when packs that it needs had been removed, and cannot be taken back`,
      { hint: `Run the backup again, and on a host that may remove snapshots: holdfast forget ${id}`, cause },
    );
  }
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
