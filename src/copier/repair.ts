/** Restores what a repository has lost from another one that has it. */
import { PackStore } from '../archiver/store/pack-store.ts';
import { liveCount } from '../archiver/store/commit.ts';
import { DEFAULT_COMPRESSION } from '../codec/compress.ts';
import { encodeIndexedPack } from '../format/index-object.ts';
import type { ChunkIndex } from '../repository/chunk-index.ts';
import { loadForReading, loadForSalvage, loadForWriting } from '../repository/contents/index-for.ts';
import { markDamaged } from '../repository/check/damaged-packs.ts';
import type { Lease } from '../repository/lease.ts';
import { acquirePruneLease } from '../repository/take-lease.ts';
import { markPacks } from '../repository/mark-packs.ts';
import type { Repository } from '../repository/repository.ts';
import { listSnapshots, type Snapshot, type SnapshotList } from '../repository/snapshots.ts';
import {
  damagedPacks,
  highestFence,
  lastPacks,
  readTombstones,
  REPAIRED,
  type Tombstones,
} from '../repository/tombstones.ts';
import { durableUncovered } from '../repository/contents/index-writer.ts';
import { runOf, Transfer, type CopyObserver } from './copy.ts';
import { Healing } from './healing.ts';
import { SourceDamage } from './chunk-copy.ts';

export interface RepairRequest {
  readonly repository: Repository;
  /** The repository to take from; what it gives is used only when it matches its id. */
  readonly other: Repository;
  /** Names of packs that a check found damaged: nothing in them is relied on. */
  readonly damaged: ReadonlySet<string>;
}

export interface RepairSummary {
  /** Raw bytes that were stored again. */
  readonly bytes: number;
  /** Chunks that a snapshot needs and that neither repository has whole. */
  readonly lost: number;
  /** Snapshots, by id, that still lack something. */
  readonly broken: readonly string[];
  /**
   * Damaged packs whose content has all been stored again: they are marked, and a prune deletes them after the grace period.
   */
  readonly packsReplaced: readonly string[];
}

/**
 * Follows the trees of all snapshots and stores again every chunk that no sound pack holds. It is taken from the other
 * repository, or from any pack, damaged or marked for deletion, in which it can still be read. When both repositories name
 * chunks alike (`init --like`) any chunk can be taken; otherwise only those of snapshots that were copied between the two.
 * @throws {RepositoryError} REPOSITORY_LOCKED, REFUSED
 * @throws {DestinationError}
 */
export async function repairFrom(
  request: RepairRequest,
  observer: CopyObserver,
  signal: AbortSignal,
): Promise<RepairSummary> {
  const { repository, damaged } = request;
  // Fails early, with a reason, on hosts that may only append.
  repository.sign('hf1/tomb', Buffer.alloc(0));
  const before = await readTombstones(repository, signal);
  await markFirst(repository, damaged, signal);
  const present = await listSnapshots(repository, signal);
  const floor = highestFence(present.tombstones);
  await using lease = await acquirePruneLease(repository, { floor }, signal);
  const repair = new Repair(request, { before, present }, lease);
  let healed = await repair.heal(signal);
  if (healed.broken.length > 0 && (await repair.bringCopies(healed.broken, observer, signal)))
    healed = await repair.heal(signal);
  const packsReplaced = await repair.replacePacks(healed, signal);
  return {
    bytes: repair.bytes,
    lost: healed.lost,
    broken: healed.broken.map(({ id }) => id),
    packsReplaced,
  };
}

/** Marks the damaged packs before anything is restored, so that no backup relies on them in the meantime. */
async function markFirst(
  repository: Repository,
  damaged: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<void> {
  if (damaged.size === 0) return;
  const { refusal } = await markDamaged(repository, damaged, signal);
  if (refusal !== undefined) throw refusal;
}

interface Healed {
  readonly lost: number;
  /** Names of the packs, damaged or marked, that hold lost chunks. */
  readonly lostIn: ReadonlySet<string>;
  readonly broken: readonly Snapshot[];
  /** Names of the damaged packs that exist, and of those that are marked. */
  readonly packs: ReadonlySet<string>;
}

class Repair {
  readonly #request: RepairRequest;
  /** Tombstones from before this repair marked anything. */
  readonly #before: Tombstones;
  readonly #present: SnapshotList;
  readonly #lease: Lease;
  bytes = 0;

  constructor(
    request: RepairRequest,
    { before, present }: { readonly before: Tombstones; readonly present: SnapshotList },
    lease: Lease,
  ) {
    this.#request = request;
    this.#before = before;
    this.#present = present;
    this.#lease = lease;
  }

  /** Restores every chunk that can be found by its id. */
  async heal(signal: AbortSignal): Promise<Healed> {
    const { repository, other, damaged } = this.#request;
    await using store = new PackStore(repository, signal);
    const sound = await this.#soundIndex(store, signal);
    const { packs: marked } = this.#present.tombstones;
    const unsound = await loadForSalvage(repository, { marked, damaged }, signal);
    const otherIndex = await this.#otherIndex(signal);
    const healing = new Healing({ repository, other, sound, unsound, otherIndex, store });
    const broken: Snapshot[] = [];
    for (const snapshot of this.#present.live) {
      if (!(await healing.heal(snapshot, signal))) broken.push(snapshot);
    }
    healing.finish();
    await this.#lease.assertHeld(signal);
    await store.finish();
    this.bytes += healing.bytes;
    const packs = new Set(unsound.map(({ name }) => name));
    return { lost: healing.lost.size, lostIn: healing.lostIn, broken, packs };
  }

  /**
   * Copies the broken snapshots that the other repository has a copy of, named by this repository's keys. True if there
   * were any.
   */
  async bringCopies(
    broken: readonly Snapshot[],
    observer: CopyObserver,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { repository, other } = this.#request;
    const wanted = new Set(broken.map(runOf));
    const copies = (await listSnapshots(other, signal)).live.filter((one) => wanted.has(runOf(one)));
    if (copies.length === 0) return false;
    await using store = new PackStore(repository, signal);
    const transfer = new Transfer({
      from: other,
      to: repository,
      fromIndex: await this.#otherIndex(signal),
      toIndex: await this.#soundIndex(store, signal),
      store,
      compression: DEFAULT_COMPRESSION,
    });
    for (const copy of copies) {
      try {
        await transfer.bring(copy, observer, signal);
      } catch (error) {
        if (!(error instanceof SourceDamage)) throw error;
        transfer.forget(copy);
        observer.failed(copy, error.cause);
      }
    }
    await this.#lease.assertHeld(signal);
    await store.finish();
    this.bytes += transfer.bytesNew;
    return true;
  }

  /** Marks the damaged packs that nothing needs any more, so that every reader uses the new copies. */
  async replacePacks({ lostIn, packs }: Healed, signal: AbortSignal): Promise<readonly string[]> {
    const { repository, damaged } = this.#request;
    // A mark that a pack is damaged does not say that its content has been replaced, so such a pack is marked again.
    const known = damagedPacks(this.#before);
    const isMarked = (name: string): boolean => this.#before.packs.has(name) && !known.has(name);
    const names = [...damaged].filter((name) => packs.has(name) && !lostIn.has(name) && !isMarked(name));
    if (names.length === 0) return [];
    const lease = this.#lease;
    const held = async (now: AbortSignal): Promise<void> => await lease.assertHeld(now);
    await held(signal);
    const mark = { names, reason: REPAIRED, atMs: lease.storageMs, fence: lease.epoch };
    await markPacks(repository, mark, { held, live: liveCount(repository, this.#present) }, signal);
    return names;
  }

  #unsound(): ReadonlySet<string> {
    return new Set([...this.#present.tombstones.packs, ...this.#request.damaged]);
  }

  async #otherIndex(signal: AbortSignal): Promise<ChunkIndex> {
    const { other } = this.#request;
    return await loadForReading(other, lastPacks(await readTombstones(other, signal)), signal);
  }

  /**
   * The index of what can be relied on. It includes packs that no index object names yet; the next index object will
   * name them.
   */
  async #soundIndex(store: PackStore, signal: AbortSignal): Promise<ChunkIndex> {
    const { repository } = this.#request;
    const unsound = this.#unsound();
    const plain = this.#present.live.some(({ record }) => record.plain);
    const index = await loadForWriting(repository, { marked: unsound, plain }, signal);
    for (const pack of await durableUncovered(repository, index, unsound, signal))
      store.cover(encodeIndexedPack(pack));
    return index;
  }
}
