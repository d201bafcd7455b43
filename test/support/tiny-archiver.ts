/**
 * A backup of plain data that follows the rules of the real one: a session lease, chunks looked up in what is there,
 * packs, index, a last look at packs and tombstones, snapshot. Small enough to be stopped between any two steps.
 */
import { asByteString } from '../../src/base/byte-path.ts';
import { ChunkHasher } from '../../src/codec/hash.ts';
import { CIPHER_GCM, CIPHER_PLAIN } from '../../src/format/header.ts';
import type { SnapshotRecord } from '../../src/format/records.ts';
import { encodeDirectory } from '../../src/format/tree-split.ts';
import type { DirectoryTotals, Entry } from '../../src/format/tree.ts';
import { loadIndex, type ChunkIndex } from '../../src/repository/chunk-index.ts';
import { IndexWriter } from '../../src/repository/contents/index-writer.ts';
import { openSession } from '../../src/repository/take-lease.ts';
import { listNamed, packKey } from '../../src/repository/objects/listing.ts';
import { PackWriter, type FinishedPack } from '../../src/repository/packs/pack-writer.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { SegmentCache } from '../../src/repository/contents/segment-reader.ts';
import { commitSnapshot, listSnapshots, type Snapshot } from '../../src/repository/snapshots.ts';
import { readTombstones } from '../../src/repository/tombstones.ts';
import { TreeReader } from '../../src/repository/contents/tree-reader.ts';

/** Directories are objects, files their content. */
export interface TinyTree {
  readonly [name: string]: Buffer | TinyTree;
}

export interface TinyOptions {
  readonly record?: Partial<SnapshotRecord>;
  /** Hide from prune, as a process without a lease would. */
  readonly withoutSession?: boolean;
  /** Called before each step; what it throws ends the backup there. */
  readonly step?: (name: 'begin' | 'packs' | 'index' | 'look' | 'commit') => Promise<void>;
}

/** A pack that the backup relied on went away: it begins again, as the real one does. */
class Again extends Error {
  override readonly name = 'Again';
}

export async function tinyBackup(
  repository: Repository,
  tree: TinyTree,
  options: TinyOptions,
  signal: AbortSignal,
): Promise<Snapshot> {
  await using disposal = new AsyncDisposableStack();
  if (options.withoutSession !== true) disposal.use(await openSession(repository, {}, signal));
  for (let tries = 0; ; tries += 1) {
    try {
      return await backupOnce(repository, tree, options, signal);
    } catch (error) {
      if (!(error instanceof Again) || tries === 5) throw error;
    }
  }
}

async function backupOnce(
  repository: Repository,
  tree: TinyTree,
  { record = {}, step = async () => {} }: TinyOptions,
  signal: AbortSignal,
): Promise<Snapshot> {
  await step('begin');
  const snapshots = await listSnapshots(repository, signal);
  const index = await loadIndex(repository, { without: snapshots.tombstones.packs }, signal);
  const packs: FinishedPack[] = [];
  const namespace = { plain: record.plain ?? false, salt: record.salt };
  const store = (kind: 'data' | 'tree'): { put: (chunk: Buffer) => Buffer; finish: () => void } => {
    const idKey = repository.keys.idKey(kind, namespace);
    const hasher = new ChunkHasher(idKey);
    const { packTarget, segmentTarget } = repository.config;
    const writer = new PackWriter({
      keys: repository.keys,
      kind,
      cipher: namespace.plain ? CIPHER_PLAIN : CIPHER_GCM,
      idKey,
      packTarget,
      segmentTarget,
      compression: { kind: 'zstd', level: 3 },
      take: (capacity) => Buffer.allocUnsafeSlow(capacity),
      emit: (pack) => packs.push(pack),
    });
    const put = (chunk: Buffer): Buffer => {
      const id = hasher.id(chunk);
      if (index.table.claim(id)) writer.append(id, chunk);
      return id;
    };
    return { put, finish: () => writer.finish() };
  };
  const data = store('data');
  const trees = store('tree');
  const root = storeTree(tree, data.put, trees.put);
  data.finish();
  trees.finish();
  await step('packs');
  const writer = new IndexWriter(repository);
  for (const pack of packs) {
    await repository.destination.put(packKey(pack.name), pack.bytes, signal);
    writer.add(pack.indexEntry);
  }
  await step('index');
  await writer.flush([], signal);
  await step('look');
  await requireRelied(repository, index, signal);
  await step('commit');
  const own = snapshots.live.filter(({ chain }) => chain.writer === repository.writer.memory.writer).length;
  return await commitSnapshot(
    repository,
    { ...plainRecord(repository, root), ...record },
    { live: own + 1 },
    signal,
  );
}

async function requireRelied(repository: Repository, index: ChunkIndex, signal: AbortSignal): Promise<void> {
  const listed = await listNamed(repository.destination, 'packs/', signal);
  const tombstones = await readTombstones(repository, signal);
  for (const number of index.table.reliedPacks()) {
    const pack = index.packs[number];
    if (pack === undefined) continue;
    if (listed.get(pack.name)?.size !== pack.length || tombstones.packs.has(pack.name))
      throw new Again(pack.name);
  }
}

function storeTree(
  tree: TinyTree,
  data: (chunk: Buffer) => Buffer,
  trees: (chunk: Buffer) => Buffer,
): StoredTree {
  const entries: Entry[] = [];
  const totals = { files: 0, bytes: 0, entries: 0 };
  for (const name of Object.keys(tree).sort((a, b) => (a < b ? -1 : 1))) {
    const node = tree[name] ?? {};
    const metadata = {
      name: asByteString(name),
      mode: 0o644,
      uid: 1,
      gid: 1,
      mtimeNs: 0n,
      ctimeNs: 0n,
      inode: 1,
    };
    if (!Buffer.isBuffer(node)) {
      const below = storeTree(node, data, trees);
      entries.push({ type: 'directory', ...metadata, ...below });
      totals.files += below.totals.files;
      totals.bytes += below.totals.bytes;
      totals.entries += 1 + below.totals.entries;
      continue;
    }
    totals.files += 1;
    totals.bytes += node.length;
    totals.entries += 1;
    const content = node.length === 0 ? Buffer.alloc(0) : data(node);
    entries.push({
      type: 'file',
      ...metadata,
      size: node.length,
      content,
      indirect: false,
      changedWhileRead: false,
    });
  }
  return { id: encodeDirectory(entries, trees), totals };
}

interface StoredTree {
  readonly id: Buffer;
  readonly totals: DirectoryTotals;
}

function plainRecord(repository: Repository, { id: root, totals }: StoredTree): SnapshotRecord {
  const counts = {
    files: totals.files,
    directories: 0,
    links: 0,
    others: 0,
    bytes: totals.bytes,
    new: 0,
    changed: 0,
    unchanged: 0,
    failed: 0,
  };
  return {
    tool: 'tiny',
    host: 'host',
    user: 'user',
    paths: [asByteString('/')],
    startedMs: repository.clock.now(),
    finishedMs: repository.clock.now(),
    root,
    plain: false,
    tags: [],
    pinned: false,
    status: 'complete',
    errors: [],
    errorsMore: 0,
    counts,
    owners: { users: {}, groups: {} },
    omitted: [],
    kind: 'files',
  };
}

/** Reads single files of a snapshot, every chunk verified; rejects when one cannot be had. */
export type FileReader = (path: readonly string[]) => Promise<Buffer>;

export function openFileReader(
  repository: Repository,
  index: ChunkIndex,
  snapshot: Snapshot,
  signal: AbortSignal,
): FileReader {
  const { plain, salt, root } = snapshot.record;
  const reader = new TreeReader(repository, index, { plain, salt });
  const segments = new SegmentCache(repository.destination, repository.keys, index, 1 << 24);
  const hasher = new ChunkHasher(repository.keys.idKey('data', { plain, salt }));
  return async (path) => {
    let found: Entry | undefined;
    for (const name of path) {
      const id = found === undefined ? root : found.type === 'directory' ? found.id : undefined;
      const entries: readonly Entry[] = id === undefined ? [] : await reader.directory(id, signal);
      found = entries.find((entry) => entry.name === name);
    }
    if (found?.type !== 'file') throw new Error(`${path.join('/')} is not there`);
    const { content } = found;
    const parts: Buffer[] = [];
    for (let at = 0; at < content.length; at += 24) {
      const id = content.subarray(at, at + 24);
      const chunk = index.table.find(id);
      if (chunk === undefined) throw new Error(`chunk ${id.toString('hex')} is missing`);
      const raw = await segments.segment(chunk.pack, chunk.segment, signal);
      const bytes = raw.subarray(chunk.offset, chunk.offset + chunk.length);
      if (!hasher.id(bytes).equals(id)) throw new Error(`chunk ${id.toString('hex')} is damaged`);
      parts.push(Buffer.from(bytes));
    }
    return Buffer.concat(parts);
  };
}

/** The files of a tree with their paths. */
export function filesOf(tree: TinyTree, path: readonly string[] = []): { path: string[]; content: Buffer }[] {
  return Object.entries(tree).flatMap(([name, node]) =>
    Buffer.isBuffer(node) ? [{ path: [...path, name], content: node }] : filesOf(node, [...path, name]),
  );
}

/** Paths of the files of a snapshot that do not come back as they were. */
export async function lostFiles(
  repository: Repository,
  snapshot: Snapshot,
  tree: TinyTree,
  signal: AbortSignal,
  index?: ChunkIndex,
): Promise<string[]> {
  const known = index ?? (await loadIndex(repository, { without: new Set() }, signal));
  const read = openFileReader(repository, known, snapshot, signal);
  const lost: string[] = [];
  for (const { path, content } of filesOf(tree)) {
    const same = await read(path).then(
      (bytes) => bytes.equals(content),
      () => false,
    );
    if (!same) lost.push(`/${path.join('/')}`);
  }
  return lost;
}
