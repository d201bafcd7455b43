import { RepositoryError } from '../../base/errors.ts';
import { holdfastThere } from '../../base/holdfast-command.ts';
import { traverseTrees } from '../check/check-trees.ts';
import { loadPacks, type ChunkIndex, type LoadOptions } from '../chunk-index.ts';
import { believed } from '../contents/false-claims.ts';
import { liveSessions, type LiveSession } from '../live-sessions.ts';
import { listNamed, type Listed } from '../objects/listing.ts';
import type { Repository } from '../repository.ts';
import type { SlotSet } from '../packs/slot-set.ts';
import type { DamagedSnapshot, Snapshot, SnapshotList } from '../snapshots.ts';
import { writersOfKeys } from '../chain-view.ts';
import { writeOnlyInUse } from '../keys/keys.ts';
import { lastPacks, unsoundPacks } from '../tombstones.ts';
import { heldByUnsoundAlone } from '../check/damaged-packs.ts';
import { listEverySnapshot } from '../chains/whole-list.ts';

export interface StockedPack {
  readonly name: string;
  readonly bytes: number;
  /** When the storage received the pack, by its own clock. */
  readonly storedMs: number;
  /** False when neither an index object nor the pack's own directory tells what it holds. */
  readonly readable: boolean;
  /** Raw bytes that snapshots need. Chunks that only damaged packs hold are counted for each of these packs. */
  readonly liveBytes: number;
  /** The part of `liveBytes` that is read from this pack: each chunk is located in one pack only. */
  readonly locatedBytes: number;
  readonly rawBytes: number;
  /** Number of the write-only key that sealed the pack, or 0. */
  readonly sealedBy: number;
}

/** Everything on which prune bases its decisions, as of one moment. */
export interface PruneStock {
  /** The storage's time when stock was taken. */
  readonly nowMs: number;
  readonly snapshots: SnapshotList;
  /**
   * Numbers of write-only keys in use whose snapshots are partly hidden or unreadable. If the data of such snapshots
   * exists, it is in packs of the same key. Those packs are left alone, so that false claims by the key's holder do not
   * stop prune.
   */
  readonly doubtful: ReadonlySet<number>;
  readonly sessions: readonly LiveSession[];
  /** Chunks are located in packs with a tombstone only when no other pack holds them. */
  readonly index: ChunkIndex;
  /** The chunks that live snapshots need. */
  readonly reachable: SlotSet;
  readonly packs: ReadonlyMap<string, StockedPack>;
  readonly indexObjects: ReadonlyMap<string, Listed>;
}

/**
 * Reads every snapshot and follows every tree. Stops at the first problem, because what is not seen would count as not
 * needed.
 *
 * @throws {RepositoryError} CORRUPT_DATA, REFUSED
 * @throws {DestinationError}
 */
export async function takeStock(
  repository: Repository,
  nowMs: number,
  signal: AbortSignal,
  options: Pick<LoadOptions, 'preferGeneration'> = {},
): Promise<PruneStock> {
  const { destination } = repository;
  const sessions = await liveSessions(repository, nowMs, signal);
  const { doubtful, ...snapshots } = await allSnapshots(repository, signal);
  const listed = await listNamed(destination, 'packs/', signal);
  const indexObjects = await listNamed(destination, 'index/', signal);
  const last = lastPacks(snapshots.tombstones);
  const loaded = await loadPacks(repository, { ...options, without: new Set(), last }, signal);
  const index = await believed(repository, loaded, signal);
  const readable = new Map(index.packs.map((pack, number) => [pack.name, number]));
  requireNoneLost('packs', listed.keys(), await listNamed(destination, 'packs/', signal));
  const keyOf = writersOfKeys(repository);
  const byKey = ({ chain }: Snapshot): number | undefined => {
    const key = keyOf(chain.writer);
    return key !== undefined && writeOnlyInUse(repository.keyring).has(key) ? key : undefined;
  };
  const vouched = snapshots.live.filter((one) => byKey(one) === undefined);
  const traversal = await traverseTrees(repository, index, vouched, signal);
  const lacking = [...traversal.missing.values()].map((id) => `chunk ${id.toString('hex')}`);
  const broken = [...traversal.unreadable.values()].map(({ error }) => error.message);
  if (lacking.length + broken.length > 0) {
    throw new RepositoryError(
      'CORRUPT_DATA',
      `Snapshots need ${lacking.length + broken.length} chunks that cannot be found or read (${[...broken, ...lacking][0]}); prune removes nothing until that is resolved`,
      { hint: `Run: ${holdfastThere`check`}` },
    );
  }
  const { referenced: reachable } = traversal;
  for (const [key, claimed] of Map.groupBy(snapshots.live, byKey)) {
    if (key === undefined) continue;
    const walk = await traverseTrees(repository, index, claimed, signal);
    walk.referenced.forEach((slot) => reachable.add(slot));
    if (walk.missing.size + walk.unreadable.size > 0) doubtful.add(key);
  }
  const live = liveBytesOf(index, reachable);
  const unsound = unsoundPacks(snapshots.tombstones);
  const held = heldByUnsoundAlone(loaded.packs, unsound, index, reachable);
  const packs = new Map<string, StockedPack>();
  for (const [name, { size, modifiedMs }] of listed) {
    const number = readable.get(name);
    const facts = { name, bytes: size, storedMs: modifiedMs, readable: number !== undefined };
    const locatedBytes = number === undefined ? 0 : (live[number] ?? 0);
    const liveBytes = number === undefined ? 0 : (held.get(name) ?? locatedBytes);
    const rawBytes = number === undefined ? 0 : rawBytesOf(index, number);
    const sealedBy = number === undefined ? 0 : (index.packs[number]?.sealedBy ?? 0);
    packs.set(name, { ...facts, liveBytes, locatedBytes, rawBytes, sealedBy });
  }
  return { nowMs, snapshots, doubtful, sessions, index, reachable, packs, indexObjects };
}

/**
 * Looks at the lists again immediately before something is deleted. True when nothing relevant has changed; false when
 * stock has to be taken again.
 *
 * @param own names of the objects that the caller itself has deleted and written since
 * @throws {RepositoryError} REFUSED when something that was listed before is missing
 */
export async function stillHolds(
  repository: Repository,
  stock: PruneStock,
  own: { readonly gone: ReadonlySet<string>; readonly written: ReadonlySet<string> },
  signal: AbortSignal,
): Promise<boolean> {
  const { destination } = repository;
  const { live, forgotten, tombstones } = stock.snapshots;
  const trash = await listNamed(destination, 'trash/', signal);
  const snapshots = await listNamed(destination, 'snapshots/', signal);
  const packs = await listNamed(destination, 'packs/', signal);
  const seenTrash = [...tombstones.all, ...tombstones.ignored].map(({ name }) => name);
  const seenSnapshots = [...live.map(({ id }) => id), ...forgotten];
  const notGone = (names: readonly string[]): string[] => names.filter((name) => !own.gone.has(name));
  requireNoneLost('tombstones', notGone(seenTrash), trash);
  requireNoneLost('snapshots', notGone(seenSnapshots), snapshots);
  requireNoneLost('packs', notGone([...stock.packs.keys()]), packs);
  const known = new Set([...seenTrash, ...seenSnapshots, ...own.written]);
  return [...trash.keys(), ...snapshots.keys()].every((name) => known.has(name));
}

function requireNoneLost(what: string, before: Iterable<string>, now: ReadonlyMap<string, unknown>): void {
  const lost = [...before].filter((name) => !now.has(name));
  if (lost.length === 0) return;
  throw new RepositoryError(
    'REFUSED',
    `The destination lists ${lost.length} ${what} less than a moment ago (${lost[0]}); prune cannot trust its lists`,
    { hint: `Nothing was removed because of it. Run: ${holdfastThere`check`}`, retry: 'later' },
  );
}

/** Lists every snapshot of the repository, or throws: the data of one that is hidden or unreadable would be deleted. */
async function allSnapshots(
  repository: Repository,
  signal: AbortSignal,
): Promise<SnapshotList & { readonly doubtful: Set<number> }> {
  const { doubtful, ...snapshots } = await listEverySnapshot(repository, 'prune removes nothing', signal);
  const inUse = writeOnlyInUse(repository.keyring);
  const isOfKey = ({ sealedBy }: DamagedSnapshot): boolean => sealedBy !== undefined && inUse.has(sealedBy);
  const unreadable = snapshots.damaged.find((one) => !isOfKey(one));
  const all = [...doubtful, ...snapshots.damaged.flatMap(({ sealedBy }) => sealedBy ?? [])];
  if (unreadable === undefined)
    return { ...snapshots, doubtful: new Set(all.filter((key) => inUse.has(key))) };
  throw new RepositoryError(
    'CORRUPT_DATA',
    `Snapshot ${unreadable.id} cannot be read, so prune cannot know what it needs`,
    {
      hint: `Run: ${holdfastThere`check`}. To give up the snapshot, forget it by its id, then prune again.`,
      cause: unreadable.error,
    },
  );
}

/** Raw bytes of the needed chunks of each pack, by pack number. */
function liveBytesOf(index: ChunkIndex, reachable: SlotSet): Float64Array {
  const live = new Float64Array(index.packs.length);
  reachable.forEach((slot) => {
    const { pack, length } = index.table.locationAt(slot);
    live[pack] = (live[pack] ?? 0) + length;
  });
  return live;
}

function rawBytesOf(index: ChunkIndex, number: number): number {
  const segments = index.packs[number]?.segments ?? [];
  let bytes = 0;
  for (let i = 2; i < segments.length; i += 3) bytes += (segments[i] ?? 0) & 0x7fff_ffff;
  return bytes;
}
