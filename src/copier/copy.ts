/** Copies snapshots from one repository to another: read, checked, named by the target's keys, and sealed anew. */
import { PackStore } from '../archiver/store/pack-store.ts';
import {
  commitRelied,
  generationsNow,
  liveCount,
  ReliedPackGone,
  reliedPackGone,
} from '../archiver/store/commit.ts';
import { TreeStore } from '../archiver/store/tree-store.ts';
import type { RepositoryError } from '../base/errors.ts';
import { storeKey } from '../base/stored-by.ts';
import type { Compression } from '../codec/compress.ts';
import { encodeIndexedPack } from '../format/index-object.ts';
import type { SnapshotRecord } from '../format/records.ts';
import type { ChunkIndex } from '../repository/chunk-index.ts';
import { loadForReading, loadForWriting } from '../repository/contents/index-for.ts';
import type { Lease } from '../repository/lease.ts';
import { openSession } from '../repository/take-lease.ts';
import type { Repository } from '../repository/repository.ts';
import { runPlace } from '../repository/run-order.ts';
import { listSnapshots, type Snapshot, writeOnlyOrigin } from '../repository/snapshots.ts';
import { lastPacks, readTombstones } from '../repository/tombstones.ts';
import { TreeReader } from '../repository/contents/tree-reader.ts';
import { durableUncovered } from '../repository/contents/index-writer.ts';
import { ChunkCopy, reading, SourceDamage } from './chunk-copy.ts';
import { TreeCopy } from './tree-copy.ts';

export interface CopyRequest {
  readonly from: Repository;
  readonly to: Repository;
  /** Snapshots of the source, in the order in which they are to be stored. */
  readonly snapshots: readonly Snapshot[];
  readonly compression: Compression;
  /** The tags of the copy; if absent, those of the snapshot. */
  readonly tags?: (snapshot: Snapshot) => readonly string[];
}

/** Receives the events of a copy. Calls are cheap, and none may throw. */
export interface CopyObserver {
  /** Called when the copy of a snapshot begins, with the raw bytes that have to be read for it. */
  begin(snapshot: Snapshot, bytesTotal: number): void;
  read(bytes: number): void;
  copied(snapshot: Snapshot, made: Snapshot): void;
  /** Called at the start with an object that counts the bytes sent to the target. */
  live?(store: Pick<PackStore, 'uploadedBytes' | 'handedBytes'>): void;
  /** The source has lost part of the snapshot, so it does not appear in the target's list. */
  failed(snapshot: Snapshot, error: RepositoryError): void;
}

export interface CopySummary {
  readonly copied: number;
  /** Snapshots passed over because another copy has stored them meanwhile. */
  readonly there: number;
  readonly failed: number;
  /** Raw bytes of chunks that were new to the target. */
  readonly bytesNew: number;
  /** Bytes sent to the target. */
  readonly bytesUploaded: number;
}

/**
 * Those of the snapshots that the target lacks. Snapshots of the same run on the same host with the same paths are the
 * same, whatever tags they were given later.
 */
export function missingIn(target: readonly Snapshot[], snapshots: readonly Snapshot[]): readonly Snapshot[] {
  const there = new Set(target.map(runOf));
  return snapshots.filter((one) => !there.has(runOf(one)));
}

/** Identifies the run that made a snapshot. A run with a write-only key is never the same as one by others. */
export function runOf({ record, storedBy }: Snapshot): string {
  const { host, user, kind, paths, startedMs, finishedMs } = record;
  return JSON.stringify([storeKey(storedBy), host, user, kind, startedMs, finishedMs, ...[...paths].sort()]);
}

/**
 * Copies snapshots. Each is committed before the next one begins, so that an interrupted copy can be continued. A
 * snapshot that the source has lost part of is passed over; every other error ends the run.
 * @throws {RepositoryError} {DestinationError}
 */
export async function copySnapshots(
  request: CopyRequest,
  observer: CopyObserver,
  signal: AbortSignal,
): Promise<CopySummary> {
  const { from, to } = request;
  const generations = generationsNow(to);
  await using session = await openSession(to, {}, signal);
  const present = await listSnapshots(to, signal, { remembered: true });
  const plain = request.snapshots.some(({ record }) => record.plain);
  const toIndex = await loadForWriting(to, { marked: present.tombstones.packs, plain }, signal);
  const fromIndex = await loadForReading(from, lastPacks(await readTombstones(from, signal)), signal);
  // Later lists must come from the destination, not from the first look.
  to.lookAnew();
  await using store = new PackStore(to, signal);
  for (const pack of await durableUncovered(to, toIndex, present.tombstones.packs, signal))
    store.cover(encodeIndexedPack(pack));
  observer.live?.(store);
  let [copied, there, failed] = [0, 0, 0];
  const live = (): number => liveCount(to, present) + copied;
  const parts = { ...request, fromIndex, toIndex, store, session, generations, live };
  const transfer = new Transfer(parts);
  for (const snapshot of request.snapshots) {
    try {
      await requireMissing(snapshot, to, signal);
      observer.copied(snapshot, await copyOne(snapshot, transfer, parts, observer, signal));
      copied += 1;
    } catch (error) {
      if (error instanceof IsThere) {
        there += 1;
        continue;
      }
      if (!(error instanceof SourceDamage)) throw error;
      transfer.forget(snapshot);
      observer.failed(snapshot, error.cause);
      failed += 1;
    }
  }
  return { copied, there, failed, bytesNew: transfer.bytesNew, bytesUploaded: store.uploadedBytes };
}

/** Another copy, running at the same time, has stored the snapshot of the same run. */
class IsThere extends Error {
  override readonly name = 'IsThere';
}

/**
 * Refuses a snapshot that the target has: a second copy would count twice in retention rules that keep a number of snapshots.
 * @throws {IsThere}
 */
async function requireMissing(snapshot: Snapshot, target: Repository, signal: AbortSignal): Promise<void> {
  const { live } = await listSnapshots(target, signal, { remembered: true });
  if (missingIn(live, [snapshot]).length === 0) throw new IsThere();
}

export interface TransferParts extends Pick<CopyRequest, 'from' | 'to' | 'compression'> {
  readonly fromIndex: ChunkIndex;
  readonly toIndex: ChunkIndex;
  readonly store: PackStore;
}

interface CopyParts extends CopyRequest {
  readonly fromIndex: ChunkIndex;
  readonly toIndex: ChunkIndex;
  readonly store: PackStore;
  readonly session: Lease;
  readonly generations: readonly number[];
  /** Live snapshots of this writer in the target. */
  live(): number;
}

interface NamespaceCopy {
  readonly chunks: ChunkCopy;
  readonly trees: TreeStore;
  readonly tree: TreeCopy;
}

/** Copies trees and data, without making snapshots of them. */
export class Transfer {
  readonly #parts: TransferParts;
  readonly #namespaces = new Map<string, NamespaceCopy>();
  #bytesForgotten = 0;

  constructor(parts: TransferParts) {
    this.#parts = parts;
  }

  get bytesNew(): number {
    const each = [...this.#namespaces.values()].map(newBytesOf);
    return each.reduce((sum, bytes) => sum + bytes, this.#bytesForgotten);
  }

  /**
   * Copies everything of a snapshot, down to the last pack; returns the id of its root in the target.
   * @throws {SourceDamage}
   */
  async bring(snapshot: Snapshot, observer: CopyObserver, signal: AbortSignal): Promise<Buffer> {
    const { record } = snapshot;
    const { chunks, trees, tree } = this.#namespaceOf(record);
    await reading(async () => await tree.need(record.root, signal));
    observer.begin(snapshot, chunks.wantedBytes);
    await chunks.run((bytes) => observer.read(bytes), signal);
    const root = await tree.write(record.root, signal);
    chunks.finish();
    trees.finish();
    await this.#parts.store.finish();
    return root;
  }

  /** To be called after a failure: not all chunks noted for that snapshot were copied, so its notes must not be relied on. */
  forget({ record }: Snapshot): void {
    const key = namespaceKey(record);
    const known = this.#namespaces.get(key);
    if (known === undefined) return;
    // Chunks that were claimed still have to be stored.
    known.chunks.finish();
    known.trees.finish();
    this.#bytesForgotten += newBytesOf(known);
    this.#namespaces.delete(key);
  }

  /** Encrypted chunks, plain chunks and those of isolated snapshots are kept apart as in the source. */
  #namespaceOf({ plain, salt }: SnapshotRecord): NamespaceCopy {
    const key = namespaceKey({ plain, salt });
    const known = this.#namespaces.get(key);
    if (known !== undefined) return known;
    const { from, to, fromIndex, toIndex, store, compression } = this.#parts;
    const namespace = { plain, salt };
    const chunks = new ChunkCopy({ ...this.#parts, toTable: toIndex.table, namespace });
    const trees = new TreeStore(to, toIndex.table, store, { namespace, compression });
    const tree = new TreeCopy(new TreeReader(from, fromIndex, namespace), chunks, trees);
    const made = { chunks, trees, tree };
    this.#namespaces.set(key, made);
    return made;
  }
}

/** Copies one snapshot, checks everything it relies on, and commits it. */
async function copyOne(
  snapshot: Snapshot,
  transfer: Transfer,
  parts: CopyParts,
  observer: CopyObserver,
  signal: AbortSignal,
): Promise<Snapshot> {
  const { to, store, session, toIndex, generations } = parts;
  const root = await transfer.bring(snapshot, observer, signal);
  // In the target the parent has another id, or is missing.
  const tags = parts.tags?.(snapshot) ?? snapshot.record.tags;
  const writeOnly = writeOnlyOrigin(snapshot, to.clock.now());
  const run = runPlace(snapshot);
  const copy = { ...snapshot.record, tags, root, parent: undefined, run, writeOnly };
  const relied = { index: toIndex, stored: store.stored, parent: undefined, generations, session };
  const make = async () => {
    await requireMissing(snapshot, to, signal);
    return { record: copy, live: parts.live() + 1 };
  };
  return await commitRelied(to, relied, make, signal).catch((error: unknown) => {
    throw error instanceof ReliedPackGone ? reliedPackGone(error) : error;
  });
}

function namespaceKey({ plain, salt }: Pick<SnapshotRecord, 'plain' | 'salt'>): string {
  return `${plain}/${salt?.toString('hex') ?? ''}`;
}

function newBytesOf({ chunks, trees }: NamespaceCopy): number {
  return chunks.newBytes + trees.newBytes;
}
