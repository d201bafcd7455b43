/** The main flow of a backup: look at what is stored, walk the sources, read new content, commit the snapshot. */
import type { ByteString } from '../base/byte-path.ts';
import { encodeIndexedPack } from '../format/index-object.ts';
import { leaveCopiedIdentity } from '../repository/chain.ts';
import type { ChunkIndex } from '../repository/chunk-index.ts';
import { durableUncovered } from '../repository/contents/index-writer.ts';
import type { Snapshot } from '../repository/snapshots.ts';
import type { ForeignRecord } from '../repository/writer-state.ts';
import type { ArchiveRequest } from './archive-request.ts';
import { untilItHolds } from './attempts.ts';
import { changesSince } from './before/change-set.ts';
import { ctimesOf } from './before/ctime-trust.ts';
import { DamagedParts } from './before/damaged-parts.ts';
import { findParent } from './before/parent.ts';
import { TreeNotes, type KnownTree } from './before/known-tree.ts';
import { notedFiles } from './before/noted-files.ts';
import { openRun } from './open-run.ts';
import { Readers } from './read/readers.ts';
import type { ArchiveObserver } from './report/observer.ts';
import { SourceOutcomes, type EmptiedSource } from './report/source-outcomes.ts';
import { Tally } from './report/tally.ts';
import { snapshotRecord } from './snapshot-record.ts';
import { forbidDownloads } from '../system/mac-mounts.ts';
import { uncaptured } from './source/xattrs.ts';
import { commitRelied, generationsNow, liveWithNew } from './store/commit.ts';
import { PackStore } from './store/pack-store.ts';
import { TreeStore } from './store/tree-store.ts';
import { walkSources } from './walk-sources.ts';

export interface ArchiveSummary {
  readonly snapshot: Snapshot;
  readonly bytesRead: number;
  /** Raw bytes of the chunks that were new. */
  readonly bytesNew: number;
  /** Bytes sent to the destination, trees and index objects included. */
  readonly bytesUploaded: number;
  readonly durationMs: number;
  /** Files in the snapshot that the source was compared with, if there was one. */
  readonly filesBefore: number | undefined;
  /** Sources that hold no file in this run, but did in the snapshot they were compared with. */
  readonly emptied: readonly EmptiedSource[];
  /** Sources from which the exclude rules left out everything. */
  readonly leftOut: readonly ByteString[];
  /**
   * Set when another machine wrote to the repository under this machine's writer identity, so that this one took a new one.
   */
  readonly foreign: ForeignRecord | undefined;
  /** The run relied on the caller's change set: unchanged directories that it does not name were not listed. */
  readonly fromChanges: boolean;
  /** Packs that were found damaged: what the snapshot needs from them was stored again. */
  readonly packsDamaged: number;
  /** What the next run can use; only set when the request has `learn`. */
  readonly known: KnownTree | undefined;
}

/**
 * Backs the sources up: walk, read, cut, look up, seal, store, and last of all the snapshot, which is the only commit
 * point. A source error is recorded and costs one entry; every other error ends the run without a snapshot.
 *
 * @throws {RepositoryError} {DestinationError} {BugError}
 */
export async function archive(
  request: ArchiveRequest,
  observer: ArchiveObserver,
  signal: AbortSignal,
): Promise<ArchiveSummary> {
  const damaged = new DamagedParts(request.repository);
  return await untilItHolds(
    request,
    damaged,
    signal,
    async (now) => await archiveOnce(now, damaged, observer, signal),
  );
}

async function archiveOnce(
  request: ArchiveRequest,
  damaged: DamagedParts,
  observer: ArchiveObserver,
  signal: AbortSignal,
): Promise<ArchiveSummary> {
  const { repository, compression } = request;
  const { clock } = repository;
  const startedMs = clock.now();
  const started = clock.monotonic();
  const namespace = repository.keys.newNamespace(request);
  const generations = generationsNow(repository);
  const tally = new Tally(observer);

  observer.phase('scanning');
  await using run = await openRun(repository, { plain: request.plain, damaged }, signal);
  const { session, snapshots, index } = run;
  damaged.tell(tally, request.sources);
  const ctimes = ctimesOf(startedMs, observer);
  const found = findParent(request, snapshots, { index, readable: run.readable, ctimes });
  const parent = found && { ...found, onDamage: run.onDamage };
  if (parent === undefined) request.scout?.forget();

  await using store = new PackStore(repository, signal);
  for (const pack of await durableUncovered(repository, index, snapshots.tombstones.packs, signal))
    store.cover(encodeIndexedPack(pack));
  const trees = new TreeStore(repository, index.table, store, { namespace, compression });
  await using readers = new Readers(repository, index.table, store, { namespace, ...request });
  observer.live?.(() => tally.counters(store));

  forbidDownloads();
  const unlisted = uncaptured();
  if (unlisted !== undefined) tally.omit(unlisted);
  const notes = request.learn === true ? new TreeNotes() : undefined;
  const noted = notedFiles(repository, index, { namespace, startedMs, ctimes });
  const outcomes = new SourceOutcomes(observer);
  const context = { parent, outcomes, tally, store, trees, readers, session, notes, noted, observer, signal };
  const root = await walkSources(request, context);
  await store.finish();

  observer.phase('committing');
  const finished = { root, namespace, tally, parent, startedMs, kind: 'files' as const };
  const relied = { index, stored: store.stored, parent, generations, session };
  const make = async () => {
    await leaveCopiedIdentity(repository, snapshots.live, signal);
    const record = snapshotRecord(request, { ...finished, finishedMs: clock.now() });
    return { record, live: liveWithNew(repository, snapshots) };
  };
  const snapshot = await commitRelied(repository, relied, make, signal);
  repository.ledger.finishRun();
  return {
    snapshot,
    bytesRead: tally.bytesRead,
    bytesNew: readers.newBytes + trees.newBytes,
    bytesUploaded: store.uploadedBytes,
    durationMs: clock.monotonic() - started,
    filesBefore: parent?.snapshot.record.counts.files,
    emptied: outcomes.emptied(tally.problems),
    leftOut: outcomes.leftOut,
    foreign: repository.writer.takeForeign(),
    fromChanges: changesSince(parent, request.changes) !== undefined,
    packsDamaged: damaged.packs.size,
    known: notes && { snapshot: snapshot.id, packs: packsOf(index, store), notes },
  };
}

/** Every pack that the tree just stored may rely on. */
function packsOf(index: ChunkIndex, store: PackStore): ReadonlyMap<string, number> {
  return new Map([...index.packs.map(({ name, length }) => [name, length] as const), ...store.stored]);
}
