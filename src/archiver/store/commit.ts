import { DestinationError, RepositoryError } from '../../base/errors.ts';
import { holdfastElsewhere } from '../../base/holdfast-command.ts';
import { listNamed, packKey } from '../../repository/objects/listing.ts';
import type { ChunkIndex } from '../../repository/chunk-index.ts';
import { commitWindowMs } from '../../repository/lease-objects.ts';
import type { Lease } from '../../repository/lease.ts';
import type { Repository } from '../../repository/repository.ts';
import {
  commitSnapshot,
  forgetSnapshots,
  type Snapshot,
  type SnapshotList,
} from '../../repository/snapshots.ts';
import type { SnapshotRecord } from '../../format/records.ts';
import { readTombstones, unsoundPacks, type Tombstones } from '../../repository/tombstones.ts';
import { getCopy } from '../../repository/objects/second-copies.ts';
import type { Parent } from '../before/parent.ts';

/** A pack that this run relies on went away before the commit. The run starts again and stores those chunks itself. */
export class ReliedPackGone extends Error {
  override readonly name = 'ReliedPackGone';
  /** The pack, snapshot or key generation. */
  readonly object: string;
  /** The pack is still there, but others have found damage in it meanwhile. */
  readonly isDamaged: boolean;

  constructor(object: string, { isDamaged = false }: { readonly isDamaged?: boolean } = {}) {
    super(object);
    this.object = object;
    this.isDamaged = isDamaged;
  }
}

/** The error to report when starting again does not help or is not possible. */
export function reliedPackGone(cause: ReliedPackGone): RepositoryError {
  const [what, first] = cause.isDamaged
    ? (['Damage was found in packs', 'Let the check finish'] as const)
    : (['Packs were removed', 'Let prune finish'] as const);
  return new RepositoryError('REPOSITORY_LOCKED', `${what} while this backup ran`, {
    hint: `${first}, then run the backup again. Nothing was lost.`,
    retry: 'later',
    cause,
  });
}

/** How often a run that keeps being held up looks, before it commits anyway and looks once more afterwards. */
const LOOKS = 3;

/** What a snapshot relies on, and the session that keeps its packs from being taken for abandoned ones. */
export interface Relied {
  readonly index: ChunkIndex;
  /** Length of each pack that this run has stored, by name. */
  readonly stored: ReadonlyMap<string, number>;
  readonly parent: Parent | undefined;
  /** The key generations that were known before anything was stored. */
  readonly generations: readonly number[];
  readonly session: Pick<Lease, 'assertHeld' | 'storageMs'>;
}

/**
 * Looks at everything a snapshot relies on, and commits it. A machine may fall asleep at any point of this, and wake up
 * after others have pruned. The storage's clock tells how long ago the look was, whatever the machine's own clock says.
 * If that is too long ago the run looks again, also after the commit. A snapshot whose packs had gone before it was
 * stored is forgotten at once.
 *
 * @param make makes the record, once everything is known to be there
 * @throws {ReliedPackGone} {RepositoryError} NO_REPOSITORY, REPOSITORY_LOCKED {DestinationError}
 */
export async function commitRelied(
  repository: Repository,
  relied: Relied,
  make: () => Promise<{ readonly record: SnapshotRecord; readonly live: number }>,
  signal: AbortSignal,
): Promise<Snapshot> {
  const { session } = relied;
  const windowMs = commitWindowMs(repository);
  let lookedMs = await look(repository, relied, signal);
  await session.assertHeld(signal);
  for (let looks = 1; looks < LOOKS && session.storageMs - lookedMs > windowMs; looks += 1) {
    lookedMs = await look(repository, relied, signal);
    await session.assertHeld(signal);
  }
  const { record, live } = await make();
  const { storedMs, ...snapshot } = await commitSnapshot(repository, record, { live }, signal);
  if (storedMs - lookedMs > windowMs) await confirm(repository, relied, snapshot, signal);
  return snapshot;
}

/** Returns a time by the storage's clock that is before the look: that of the last heartbeat. */
async function look(repository: Repository, relied: Relied, signal: AbortSignal): Promise<number> {
  const beforeMs = relied.session.storageMs;
  requireSound(relied, await requireRelied(repository, relied, signal));
  return beforeMs;
}

async function confirm(
  repository: Repository,
  relied: Relied,
  snapshot: Snapshot,
  signal: AbortSignal,
): Promise<void> {
  try {
    // Damage that others found meanwhile is no reason to take the snapshot back: the next backup repairs it.
    await requireRelied(repository, relied, signal);
  } catch (error) {
    if (error instanceof ReliedPackGone) await takeBack(repository, snapshot, error, signal);
    throw error;
  }
}

async function takeBack(
  repository: Repository,
  { id }: Snapshot,
  cause: ReliedPackGone,
  signal: AbortSignal,
): Promise<void> {
  try {
    await forgetSnapshots(repository, [id], 'its packs were removed before it was stored', signal);
  } catch (error) {
    if (!(error instanceof RepositoryError)) throw error;
    throw new RepositoryError(
      'CORRUPT_DATA',
      `Snapshot ${id} was committed too late, when packs that it needs had been removed, and cannot be withdrawn`,
      {
        hint: `Run the backup again, and on a host that can remove snapshots: ${holdfastElsewhere`forget ${id}`}`,
        cause,
      },
    );
  }
}

/**
 * Makes sure that everything relied on is still there. Every pack that this run stored or found chunks in must exist with its
 * length and carry no tombstone. The parent, whose subtrees were taken over unseen, must still be a live snapshot. Without a
 * parent the keyring must exist: had the destination been emptied meanwhile, what this run stored could never be opened.
 *
 * @returns the tombstones that the decision is based on
 * @throws {ReliedPackGone} {RepositoryError} NO_REPOSITORY
 */
async function requireRelied(
  repository: Repository,
  { index, stored, parent, generations }: Relied,
  signal: AbortSignal,
): Promise<Tombstones> {
  const relied = new Map(stored);
  for (const number of index.table.reliedPacks()) {
    const pack = index.packs[number];
    if (pack !== undefined) relied.set(pack.name, pack.length);
  }
  repository.lookAnew();
  const requireGenerations = generationsCheck(repository, generations);
  // Tombstones are read before the packs, since prune removes a tombstone only after the pack that it names.
  const tombstones = await readTombstones(repository, signal);
  // Reading tombstones may have brought a newer keyring.
  requireGenerations();
  const [listed, present] = await Promise.all([
    listNamed(repository.destination, 'packs/', signal),
    parent && listNamed(repository.destination, 'snapshots/', signal),
  ]);
  const unsound = unsoundPacks(tombstones);
  for (const [name, length] of relied) {
    // A list may lag behind the storage's state; asking for a single object is reliable.
    const size = listed.get(name)?.size ?? (await sizeOf(repository, packKey(name), signal));
    if (size !== length) throw new ReliedPackGone(name);
    if (tombstones.packs.has(name)) throw new ReliedPackGone(name, { isDamaged: unsound.has(name) });
  }
  if (parent === undefined || present === undefined) {
    await requireKeys(repository, signal);
    requireGenerations();
    return tombstones;
  }
  const { id } = parent.snapshot;
  if (!present.has(id) || tombstones.snapshots.has(id)) throw new ReliedPackGone(`snapshot ${id}`);
  return tombstones;
}

/**
 * Makes sure that no pack of the index has been marked as damaged since it was loaded. The parent may need such a pack,
 * and being needed by a live snapshot does not make it sound.
 * @throws {ReliedPackGone}
 */
function requireSound({ index, parent }: Relied, tombstones: Tombstones): void {
  if (parent === undefined) return;
  const unsound = unsoundPacks(tombstones);
  const damaged = index.packs.find(({ name }) => unsound.has(name));
  if (damaged !== undefined) throw new ReliedPackGone(damaged.name, { isDamaged: true });
}

/**
 * Returns a check that all key generations of this run still exist: what it stored under one that has gone could not be
 * opened.
 */
function generationsCheck(repository: Repository, before: readonly number[]): () => void {
  const generations = new Set([...before, ...generationsNow(repository)]);
  return () => {
    if (![...generations].every((g) => repository.keys.knows(g))) throw new ReliedPackGone('key generation');
  };
}

async function requireKeys(repository: Repository, signal: AbortSignal): Promise<void> {
  const isThere = async (): Promise<boolean> => {
    const ring = `keys/ring-${repository.ringNumber}`;
    if ((await sizeOf(repository, ring, signal)) !== undefined) return true;
    return (await getCopy(repository.destination, ring, signal)) !== undefined;
  };
  if (await isThere()) return;
  // A change of keys may have removed earlier keyrings.
  await repository.followRing(signal);
  if (await isThere()) return;
  const { destination } = repository;
  throw new RepositoryError('NO_REPOSITORY', `The repository at ${destination.properties.url} is gone`, {
    hint: 'Check that the right drive or bucket is there, and run the backup again. The data that it just stored there cannot be opened.',
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

/** The key generations that this run may use for storing. To be called before it stores anything. */
export function generationsNow({ keyring }: Repository): readonly number[] {
  return keyring.generations.map(({ g }) => g);
}

/** The number of live snapshots of this writer, including the one being made; 0 where they cannot be counted. */
export function liveWithNew(repository: Repository, snapshots: SnapshotList): number {
  return repository.isWriteOnly ? 0 : liveCount(repository, snapshots) + 1;
}

/** The number of live snapshots of this writer, for the head. */
export function liveCount(repository: Repository, snapshots: SnapshotList): number {
  return snapshots.live.filter((one) => one.chain.writer === repository.writer.memory.writer).length;
}
