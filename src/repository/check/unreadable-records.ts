/** Removes damaged heads and tombstones: they cannot be read again, and most of what they said is known otherwise. */
import { canReadHead, leaveCopiedIdentity } from '../chain.ts';
import { deleteIfAllowed } from '../objects/objects.ts';
import type { Lease } from '../lease.ts';
import { acquirePruneLease } from '../take-lease.ts';
import { mapParallel } from '../objects/parallel.ts';
import { putTombstone } from '../put-tombstone.ts';
import { plantedKeys } from './planted.ts';
import { knownPlaces, listSnapshots, type SnapshotList } from '../snapshots.ts';
import type { Repository } from '../repository.ts';
import { needlessHeads } from '../contents/returned-objects.ts';
import { highestFence } from '../tombstones.ts';

/**
 * Deletes planted objects (planted.ts), damaged heads whose number is known without them, and damaged tombstones. The
 * statements of a tombstone are lost: snapshots that it forgot and that are still stored are listed again, and packs
 * that it marked are marked anew by the next prune. Where it alone named records that are gone, `forget --lost` gives
 * these up.
 * @returns keys of the deleted objects
 * @throws {RepositoryError} REPOSITORY_LOCKED
 */
export async function removeUnreadable(
  repository: Repository,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { destination, keyring } = repository;
  if (!destination.properties.canDelete || keyring.admin === undefined) return [];
  const heads = await unreadableHeads(repository, signal);
  const snapshots = await listSnapshots(repository, signal);
  // NEWER_FORMAT, for one by a newer program, is not damage.
  const unread = snapshots.tombstones.ignored.filter(({ error }) => error.code === 'CORRUPT_DATA');
  const tombstones = unread.map(({ name }) => name);
  const others = await plantedKeys(repository, signal);
  if (heads.length + tombstones.length + others.length === 0) return [];
  const floor = highestFence(snapshots.tombstones);
  await using lease = await acquirePruneLease(repository, { floor }, signal);
  // Objects that never were records of a chain leave no gap.
  const records = unread.filter(({ isStrange }) => !isStrange).map(({ name }) => name);
  await nameTombstones(repository, snapshots, records, lease, signal);
  const removed: string[] = [];
  for (const key of [...heads, ...tombstones.map((name) => `trash/${name}`), ...others]) {
    await lease.assertHeld(signal);
    if (await deleteIfAllowed(repository, key, signal)) removed.push(key);
  }
  return removed;
}

async function unreadableHeads(repository: Repository, signal: AbortSignal): Promise<readonly string[]> {
  const keys = await needlessHeads(repository, signal);
  const readable = await mapParallel(
    keys,
    repository.destination.properties.maxParallel,
    async (key) => await canReadHead(repository, key, signal),
  );
  return keys.filter((_, n) => readable[n] === false);
}

/** Names tombstones as removed, so that they leave no gaps in their chains. */
async function nameTombstones(
  repository: Repository,
  snapshots: SnapshotList,
  names: readonly string[],
  lease: Lease,
  signal: AbortSignal,
): Promise<void> {
  const { live, tombstones } = snapshots;
  const unnamed = names.filter((name) => !tombstones.snapshots.has(name));
  if (unnamed.length === 0) return;
  const places = await knownPlaces(repository, snapshots, signal);
  await leaveCopiedIdentity(repository, live, signal);
  const { writer } = repository.writer.memory;
  const own = live.filter(({ chain }) => chain.writer === writer).length;
  const record = {
    kind: 'snapshots' as const,
    names: unnamed,
    places: unnamed.map((name) => places.get(name)),
    reason: 'damaged',
    atMs: lease.storageMs,
    fence: lease.epoch,
  };
  await lease.assertHeld(signal);
  await putTombstone(repository, record, { live: own }, signal);
}
