import type { ByteString } from '../base/byte-path.ts';
import { Chunker } from '../codec/chunker.ts';
import type { Namespace } from '../codec/keys.ts';
import { CIPHER_GCM, CIPHER_PLAIN } from '../format/header.ts';
import { encodeDirectory } from '../format/tree-split.ts';
import type { DirectoryEntry, FileEntry } from '../format/tree.ts';
import { leaveCopiedIdentity } from '../repository/chain.ts';
import { openSession } from '../repository/take-lease.ts';
import type { ChunkIndex } from '../repository/chunk-index.ts';
import { PackWriter } from '../repository/packs/pack-writer.ts';
import { durableUncovered } from '../repository/contents/index-writer.ts';
import type { ArchiveSummary } from './archive.ts';
import { ChunkSink } from './read/chunk-sink.ts';
import { commitRelied, generationsNow, liveWithNew, ReliedPackGone, reliedPackGone } from './store/commit.ts';
import { Cutter } from './read/cutter.ts';
import type { ArchiveObserver } from './report/observer.ts';
import { PackStore } from './store/pack-store.ts';
import { Tally } from './report/tally.ts';
import { snapshotRecord } from './snapshot-record.ts';
import { TreeStore } from './store/tree-store.ts';
import { whatIsThere } from './before/what-is-there.ts';
import type { ArchiveRequest } from './archive-request.ts';

/** An ArchiveRequest without what only a walk needs. */
export type StreamRequest = Omit<ArchiveRequest, 'exclude' | 'parent' | 'changes' | 'workers' | 'sources'> & {
  /** Absolute path of the content in the snapshot, such as `/db.sql`. */
  readonly path: ByteString;
};

/** Yields the content. When the signal aborts, it ends whatever it reads from and throws the signal's reason. */
export type StreamInput = (signal: AbortSignal) => AsyncIterable<Uint8Array>;

/**
 * Backs up the content of a stream as one file. When the stream fails nothing is committed.
 *
 * @throws whatever the stream throws, and as `archive` does
 */
export async function archiveStream(
  request: StreamRequest,
  input: StreamInput,
  observer: ArchiveObserver,
  signal: AbortSignal,
): Promise<ArchiveSummary> {
  const { repository, path, plain, compression } = request;
  const { clock } = repository;
  const startedMs = clock.now();
  const started = clock.monotonic();
  const namespace = repository.keys.newNamespace({ plain, isolated: false });
  const generations = generationsNow(repository);
  observer.phase('scanning');
  await using session = await openSession(repository, {}, signal);
  const { snapshots, index } = await whatIsThere(repository, signal, { plain });
  await durableUncovered(repository, index, snapshots.tombstones.packs, signal);
  repository.lookAnew();
  const tally = new Tally(observer);
  await using store = new PackStore(repository, signal);
  const trees = new TreeStore(repository, index.table, store, { namespace, compression });
  const { sink, cutter } = openCutter(request, { namespace, index, store });

  let size = 0;
  // The source may be silent for a long time: a failure of the destination meanwhile has to end it.
  for await (const data of input(AbortSignal.any([signal, store.broken]))) {
    signal.throwIfAborted();
    size = cutIn(data, cutter, size);
    tally.bytesRead = size;
    tally.bytesDone = size;
    observer.directory(path, tally.counters(store));
    // One pack may be on its way while the next one fills.
    if (store.inFlight > 1) await store.settle();
  }
  const { ids, holes } = cutter.finish();
  sink.finish();
  tally.filesNew = 1;

  observer.phase('uploading');
  const file = streamEntry(path, size, startedMs, {
    ...trees.content(Buffer.concat(ids)),
    holes: holes.length === 0 ? undefined : holes,
  });
  const root = storeParents(path, file, startedMs, trees);
  trees.finish();
  await store.finish();

  observer.phase('committing');
  const finished = { root, namespace, tally, parent: undefined, startedMs, kind: 'stream' as const };
  const relied = { index, stored: store.stored, parent: undefined, generations, session };
  const make = async () => {
    await leaveCopiedIdentity(repository, snapshots.live, signal);
    const record = snapshotRecord({ ...request, sources: [path] }, { ...finished, finishedMs: clock.now() });
    return { record, live: liveWithNew(repository, snapshots) };
  };
  const snapshot = await commitRelied(repository, relied, make, signal).catch((error: unknown) => {
    // A stream cannot be read a second time.
    throw error instanceof ReliedPackGone ? reliedPackGone(error) : error;
  });
  return {
    snapshot,
    bytesRead: size,
    bytesNew: sink.newBytes + trees.newBytes,
    bytesUploaded: store.uploadedBytes,
    durationMs: clock.monotonic() - started,
    filesBefore: undefined,
    emptied: [],
    leftOut: [],
    foreign: repository.writer.takeForeign(),
    fromChanges: false,
    packsDamaged: 0,
    known: undefined,
  };
}

interface StreamStores {
  readonly namespace: Namespace;
  readonly index: ChunkIndex;
  readonly store: PackStore;
}

/** Cuts the content into chunks, and stores those that are new. */
function openCutter(
  request: Pick<StreamRequest, 'repository' | 'plain' | 'compression'>,
  { namespace, index, store }: StreamStores,
) {
  const { repository } = request;
  const idKey = repository.keys.idKey('data', namespace);
  const writer = new PackWriter({
    keys: repository.keys,
    kind: 'data',
    cipher: request.plain ? CIPHER_PLAIN : CIPHER_GCM,
    idKey,
    packTarget: repository.config.packTarget,
    segmentTarget: repository.config.segmentTarget,
    compression: request.compression,
    take: (capacity) => Buffer.allocUnsafeSlow(capacity),
    emit: ({ name, bytes, indexEntry }) => store.store({ name, bytes, indexEntry }, () => {}),
  });
  const sink = new ChunkSink(idKey, index.table, writer);
  const cutter = new Cutter(new Chunker(repository.keys.chunkerKey, repository.config.chunker), (chunk) =>
    sink.take(chunk),
  );
  return { sink, cutter };
}

/**
 * @param size bytes of the stream before `data`
 * @returns bytes including `data`
 */
function cutIn(data: Uint8Array, cutter: Cutter, size: number): number {
  let end = size;
  for (let at = 0; at < data.length;) {
    const room = cutter.room(end);
    const part = data.subarray(at, at + room.length);
    room.set(part);
    cutter.filled(end, part.length);
    end += part.length;
    at += part.length;
  }
  return end;
}

function streamMetadata(name: string, startedMs: number, mode: number) {
  const timeNs = BigInt(startedMs) * 1_000_000n;
  return {
    name: name as ByteString,
    mode,
    uid: process.getuid?.() ?? 0,
    gid: process.getgid?.() ?? 0,
    mtimeNs: timeNs,
    ctimeNs: timeNs,
    inode: 0,
  };
}

function streamEntry(
  path: ByteString,
  size: number,
  startedMs: number,
  content: Pick<FileEntry, 'content' | 'indirect' | 'holes'>,
): FileEntry {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return {
    type: 'file',
    ...streamMetadata(name, startedMs, 0o600),
    size,
    ...content,
    changedWhileRead: false,
  };
}

/** Stores the directories above the file; returns the root. */
function storeParents(path: ByteString, file: FileEntry, startedMs: number, trees: TreeStore) {
  const parents = path.split('/').slice(1, -1).toReversed();
  let entry: FileEntry | DirectoryEntry = file;
  let entries = 1;
  for (const name of parents) {
    const id = encodeDirectory([entry], trees.put);
    const totals = { files: 1, bytes: file.size, entries };
    entry = { type: 'directory', ...streamMetadata(name, startedMs, 0o700), id, totals };
    entries += 1;
  }
  return { id: encodeDirectory([entry], trees.put), totals: { files: 1, bytes: file.size, entries } };
}
