import type { ByteString } from '../base/byte-path.ts';
import { RepositoryError } from '../base/errors.ts';
import { refuseReading } from '../codec/keys.ts';
import { encodeIndexedPack } from '../format/index-object.ts';
import { leaveCopiedIdentity } from '../repository/chain.ts';
import type { ChunkIndex, IndexSource } from '../repository/chunk-index.ts';
import { loadForReading } from '../repository/contents/index-for.ts';
import type { Lease } from '../repository/lease.ts';
import { openSession } from '../repository/take-lease.ts';
import { resolveSnapshot } from '../repository/resolve-snapshot.ts';
import type { Snapshot, SnapshotList } from '../repository/snapshots.ts';
import { lastPacks, unsoundPacks } from '../repository/tombstones.ts';
import { TreeReader } from '../repository/contents/tree-reader.ts';
import { durableUncovered } from '../repository/prune/uncovered-packs.ts';
import type { ForeignRecord } from '../repository/writer-state.ts';
import { changesSince } from './before/change-set.ts';
import { commitRelied, generationsNow, liveWithNew, ReliedPackGone, reliedPackGone } from './store/commit.ts';
import { DamagedParts, PackDamaged } from './before/damaged-parts.ts';
import { ctimesOf } from './before/ctime-trust.ts';
import { isAtWorkIn } from './source/own-repository.ts';
import { createExcluder, type Excluder } from '../exclude/excluder.ts';
import { FileSaver } from './read/file-saver.ts';
import { notedFiles, type ContentOf, type NotedFiles } from './before/noted-files.ts';
import { cleanTest, TreeNotes, type KnownTree } from './before/known-tree.ts';
import type { ArchiveObserver } from './report/observer.ts';
import { PackStore } from './store/pack-store.ts';
import { chooseParent, parentOf, type Parent } from './before/parent.ts';
import type { StoredDirectory } from './store/pending-directory.ts';
import { Batcher, type Batch } from './read/read-job.ts';
import { Readers } from './read/readers.ts';
import { readRuleFile } from './walk/rule-files.ts';
import { arrangeSources } from './source/source-tree.ts';
import { snapshotRecord } from './snapshot-record.ts';
import { SourceOutcomes, type EmptiedSource } from './report/source-outcomes.ts';
import { unlistedXattrs } from './source/xattrs.ts';
import { Tally } from './report/tally.ts';
import { TreeStore } from './store/tree-store.ts';
import { TreeNotAsKnown, walk, walkLater } from './walk/walk.ts';
import type { WalkParts } from './walk/walk-parts.ts';
import { whatIsThere } from './before/what-is-there.ts';
import type { EntryStat } from '../system/entry-stat.ts';
import type { ArchiveRequest } from './archive-request.ts';

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
  /** Sources without a file, which had some in the snapshot that they were compared with. */
  readonly emptied: readonly EmptiedSource[];
  /** Sources of which the exclude rules left out everything. */
  readonly leftOut: readonly ByteString[];
  /** Somebody else writes as this machine; it has gone on as another writer. */
  readonly foreign: ForeignRecord | undefined;
  /** What had not changed since the parent was passed over by what was told. */
  readonly fromChanges: boolean;
  /** Packs that were found damaged: what the snapshot needs of them is stored again. */
  readonly packsDamaged: number;
  /** When it was to learn. */
  readonly known: KnownTree | undefined;
}

const ATTEMPTS = 3;

/**
 * Backs the sources up: walk, read, cut, look up, seal, store, and last of all the snapshot, which is the only commit
 * point. Source errors are recorded and cost one entry each; every other error ends the run without a snapshot.
 *
 * @throws {RepositoryError} {DestinationError} {BugError}
 */
export async function archive(
  request: ArchiveRequest,
  observer: ArchiveObserver,
  signal: AbortSignal,
): Promise<ArchiveSummary> {
  let { known, parent, changes } = request;
  let runs = 0;
  const damaged = new DamagedParts(request.repository);
  const foundByOthers = new Set<string>();
  for (let attempt = 1; ; attempt += 1) {
    try {
      runs += 1;
      return await archiveOnce({ ...request, known, parent, changes }, damaged, observer, signal);
    } catch (error) {
      // What it saw is older than the next run's beginning.
      request.scout?.forget();
      // Each time there is one pack less to rely on; that is no attempt.
      if (error instanceof PackDamaged) {
        if (await damaged.confirm(error, signal)) attempt -= 1;
        else if (attempt === ATTEMPTS) throw error;
        continue;
      }
      if (error instanceof TreeNotAsKnown && known !== undefined) {
        known = undefined;
        continue;
      }
      if (error instanceof ReliedPackGone && error.isDamaged && !foundByOthers.has(error.message)) {
        foundByOthers.add(error.message);
        attempt -= 1;
        continue;
      }
      // Whoever named it for the first run is to hear of a mistake; with changes the agent did, by what it saw before.
      const wasThere = runs > 1 || changes !== undefined;
      const isParentGone = wasThere && isGone(error) && typeof parent === 'object';
      if (!(error instanceof ReliedPackGone) && !isParentGone) throw error;
      if (error instanceof ReliedPackGone && attempt === ATTEMPTS) throw reliedPackGone(error);
      if (typeof parent !== 'object') continue;
      // The parent that was named may be what is gone; what has changed is told since that one alone.
      parent = 'auto';
      changes = undefined;
      known = undefined;
    }
  }
}

function isGone(error: unknown): boolean {
  return error instanceof RepositoryError && error.code === 'SNAPSHOT_NOT_FOUND';
}

async function archiveOnce(
  request: ArchiveRequest,
  damaged: DamagedParts,
  observer: ArchiveObserver,
  signal: AbortSignal,
): Promise<ArchiveSummary> {
  const { repository } = request;
  const { clock } = repository;
  const startedMs = clock.now();
  const started = clock.monotonic();
  const namespace = repository.keys.newNamespace(request);
  const generations = generationsNow(repository);
  observer.phase('scanning');
  await using disposal = new AsyncDisposableStack();
  // Beside the lists: it has to stand before the first pack is stored.
  const opening = openSession(repository, {}, signal);
  disposal.defer(async () => {
    const [opened] = await Promise.allSettled([opening]);
    if (opened.status === 'fulfilled') await opened.value.release();
  });
  const there = whatIsThere(repository, signal, { remembered: true, damaged: damaged.packs });
  const [session, { snapshots, index }] = await Promise.all([opening, there]);
  // What the first look listed is not needed any more.
  repository.lookAnew();
  const { packs: marked } = snapshots.tombstones;
  const known = new Set([...unsoundPacks(snapshots.tombstones), ...damaged.packs]);
  // What can still be read of a damaged pack need not be read from the source; most are long gone.
  const areThere = [...known].some((name) => index.leftOut.has(name));
  const readable = !areThere
    ? index
    : async () => await loadForReading(repository, lastPacks(snapshots.tombstones, known), signal);
  const onDamage = (pack: string): void => {
    if (!known.has(pack)) damaged.found(pack, index);
  };
  const ctimes = ctimesOf(startedMs, observer);
  const found = findParent(request, snapshots, { index, readable, ctimes });
  const parent = found && { ...found, onDamage };
  if (parent === undefined) request.scout?.forget();
  const tally = new Tally(observer);
  damaged.tell(tally, request.sources);
  const unlisted = unlistedXattrs();
  if (unlisted !== undefined) tally.omit(unlisted);
  const store = disposal.use(new PackStore(repository, signal));
  for (const pack of await durableUncovered(repository, index, marked, signal))
    store.cover(encodeIndexedPack(pack));
  const trees = new TreeStore(repository, index.table, store, {
    namespace,
    compression: request.compression,
  });
  const readers = disposal.use(new Readers(repository, index.table, store, { namespace, ...request }));
  observer.live?.(() => tally.counters(store));

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
    emptied: outcomes.emptied,
    leftOut: outcomes.leftOut,
    foreign: repository.writer.takeForeign(),
    fromChanges: changesSince(parent, request.changes) !== undefined,
    packsDamaged: damaged.packs.size,
    known: notes && { snapshot: snapshot.id, packs: packsOf(index, store), notes },
  };
}

interface WalkContext {
  readonly parent: Parent | undefined;
  readonly outcomes: SourceOutcomes;
  readonly tally: Tally;
  readonly store: PackStore;
  readonly trees: TreeStore;
  readonly readers: Readers;
  readonly session: Lease;
  readonly notes: TreeNotes | undefined;
  readonly noted: NotedFiles | undefined;
  readonly observer: ArchiveObserver;
  readonly signal: AbortSignal;
}

/** Walks and reads everything; resolves once every data pack is stored and the last tree pack on its way. */
async function walkSources(request: ArchiveRequest, context: WalkContext): Promise<StoredDirectory> {
  const { parent, outcomes, tally, store, trees, readers, session } = context;
  const { notes, noted, observer, signal } = context;
  const batches: Batch[] = [];
  const batcher = new Batcher((batch) => batches.push(batch));
  const send = async (): Promise<void> => {
    for (let batch = batches.shift(); batch !== undefined; batch = batches.shift()) {
      await readers.submit(batch, signal);
    }
  };
  let root: StoredDirectory | undefined;
  const changes = changesSince(parent, request.changes);
  // What is reused is not looked at: where rules were hidden in it they still are.
  if (notes !== undefined) notes.hiddenRules = changes?.hiddenRules === true;
  const clean = notes && (await cleanTest(parent, changes, request.known, notes));
  if (parent !== undefined && clean !== undefined) tally.startFrom(parent.snapshot.record.counts);
  if (parent !== undefined && changes !== undefined) tally.stillOmit(parent.snapshot.record.omitted);
  const contentOf: ContentOf = (ids) => trees.content(ids);
  const parts: WalkParts = {
    parent,
    changes,
    clean,
    notes,
    ruleFiles: new Set(request.exclude.ignoreFiles),
    tally,
    signal,
    files: new FileSaver(batcher, tally, contentOf, noted?.note),
    unchanged: (path: ByteString, stat: EntryStat) =>
      request.parent === 'none' ? undefined : noted?.unchanged(path, stat, contentOf),
    seen: (path: ByteString) => request.scout?.take(path),
    isOwnRepository: isAtWorkIn(session),
    later: [],
    storeChunk: trees.put,
    outcomes,
    excluderFor: excluderMaker(request, observer, outcomes),
    pace: async (path: ByteString) => {
      signal.throwIfAborted();
      if (session.lost !== undefined) throw session.lost;
      observer.directory(path, tally.counters(store));
      await send();
      await trees.room(signal);
    },
  };
  await walk(arrangeSources(request.sources), parts, (stored) => {
    root = stored;
  });
  // What the readers found may have more to be read: another name of a file whose first one went away, a directory in its place.
  do {
    await walkLater(parts);
    batcher.flush();
    await send();
    await readers.drain(signal);
  } while (!batcher.isEmpty || batches.length > 0 || parts.later.length > 0);
  // All is read. The last pack of trees goes out beside those of the readers.
  observer.phase('uploading');
  trees.finish();
  await readers.finish(signal);
  if (root === undefined) throw new RepositoryError('REFUSED', 'The walk ended without a complete tree');
  return root;
}

/** Makes the exclude rules of one source root. Told when they leave it out, although it was named. */
export function excluderMaker(
  { exclude }: Pick<ArchiveRequest, 'exclude'>,
  observer: ArchiveObserver,
  outcomes: SourceOutcomes,
) {
  return (path: ByteString, kind: string, device: number): Excluder => {
    const excluder = createExcluder(
      exclude,
      { root: path, kind: kind === 'file' || kind === 'directory' ? kind : 'other', device },
      { read: readRuleFile, onError: (error) => observer.ruleProblem(error) },
    );
    const { rootDecision } = excluder;
    if (rootDecision.excluded) outcomes.sourceLeftOut(path, rootDecision);
    return excluder;
  };
}

/** Every pack that the tree just stored may rely on. */
function packsOf(index: ChunkIndex, store: PackStore): ReadonlyMap<string, number> {
  return new Map([...index.packs.map(({ name, length }) => [name, length] as const), ...store.stored]);
}

export interface Comparable extends Pick<Parent, 'index' | 'ctimes'> {
  /** Where its trees are looked for: also where nothing is to be relied on. */
  readonly readable?: IndexSource;
}

export function findParent(
  request: ArchiveRequest,
  snapshots: SnapshotList,
  { index, readable = index, ctimes }: Comparable,
): Parent | undefined {
  const { repository, parent, plain, isolated, host, sources, user } = request;
  if (repository.isWriteOnly && typeof parent === 'object') throw refuseReading();
  if (parent === 'none' || isolated || repository.isWriteOnly) return undefined;
  const snapshot =
    parent === 'auto'
      ? chooseParent(snapshots.live, { host, paths: sources, plain, kind: 'files' })
      : resolveSnapshot(snapshots.live, parent.snapshot);
  if (snapshot === undefined || snapshot.record.plain !== plain || snapshot.record.salt !== undefined)
    return undefined;
  const reader = new TreeReader(repository, readable, { plain });
  return parentOf(snapshot, { reader, index, ctimes }, user);
}
