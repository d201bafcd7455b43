/**
 * Snapshots made from plain data, without the archiver: for tests of what reads them. A tree is built with `directory`,
 * `file`, `symlink` and `special`, and stored with `handMadeSnapshot`.
 */

import { randomBytes } from 'node:crypto';
import { asByteString, type ByteString } from '../../src/base/byte-path.ts';
import { systemClock } from '../../src/base/clock.ts';
import { ChunkHasher } from '../../src/codec/hash.ts';
import type { Namespace } from '../../src/codec/keys.ts';
import type { Destination } from '../../src/destination/destination.ts';
import { createMemoryDestination } from '../../src/destination/memory.ts';
import { CIPHER_GCM, CIPHER_PLAIN } from '../../src/format/header.ts';
import type { SnapshotRecord } from '../../src/format/records.ts';
import { encodeDirectory } from '../../src/format/tree-split.ts';
import { encodeList } from '../../src/format/tree-encode.ts';
import type {
  DeviceEntry,
  DirectoryEntry,
  DirectoryTotals,
  Entry,
  FileEntry,
  LinkEntry,
  SpecialEntry,
} from '../../src/format/tree.ts';
import { packKey } from '../../src/repository/objects/listing.ts';
import { PackWriter } from '../../src/repository/packs/pack-writer.ts';
import { createRepository } from '../../src/repository/opening.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { commitSnapshot, type Snapshot } from '../../src/repository/snapshots.ts';

/** An entry without its name, which is its key in the directory. Names are byte strings. */
export type HandMadeNode = HandMadeFile | HandMadeDirectory | HandMadeLeaf;

type Metadata = Omit<FileEntry, 'type' | 'name' | 'size' | 'content' | 'indirect' | 'changedWhileRead'>;

export interface HandMadeFile extends Partial<Metadata> {
  readonly type: 'file';
  /** The data between the holes, cut into chunks. */
  readonly chunks: readonly Buffer[];
  readonly size?: number;
  readonly changedWhileRead?: boolean;
  /** Store the ids as lists of so many. */
  readonly idsPerList?: number;
  /** Name each chunk by an id whose last byte is another. */
  readonly isMisnamed?: boolean;
}

export interface HandMadeDirectory extends Partial<Omit<Metadata, 'holes'>> {
  readonly type: 'directory';
  readonly entries: Readonly<Record<string, HandMadeNode>>;
}

export type HandMadeLeaf = Partial<Omit<Metadata, 'holes'>> &
  (
    | Pick<LinkEntry, 'type' | 'target'>
    | Pick<SpecialEntry, 'type'>
    | Pick<DeviceEntry, 'type' | 'major' | 'minor'>
  );

export function directory(
  entries: Readonly<Record<string, HandMadeNode>>,
  metadata: Partial<Omit<HandMadeDirectory, 'type' | 'entries'>> = {},
): HandMadeDirectory {
  return { type: 'directory', entries, ...metadata };
}

/** A file of one chunk, or of the given ones. */
export function file(
  content: string | readonly Buffer[],
  metadata: Partial<Omit<HandMadeFile, 'type' | 'chunks'>> = {},
): HandMadeFile {
  const chunks =
    typeof content === 'string' ? (content === '' ? [] : [Buffer.from(content, 'latin1')]) : content;
  return { type: 'file', chunks, ...metadata };
}

export function symlink(target: string, metadata: Partial<Omit<Metadata, 'holes'>> = {}): HandMadeLeaf {
  return { type: 'symlink', target: asByteString(target), ...metadata };
}

/** 2023-11-14T22:13:20Z, the time of entries that name none. */
export const HAND_MADE_NS = 1_700_000_000_000_000_000n;

/** A repository in memory with the smallest packs and segments, so that little data fills several. */
export async function memoryRepository(
  signal: AbortSignal,
  destination: Destination = createMemoryDestination(),
): Promise<Repository> {
  return await createRepository(
    destination,
    {
      clock: systemClock,
      stateDirectory: undefined,
      secrets: [{ secret: { kind: 'machine', secret: randomBytes(32) }, label: 'test' }],
      cost: { m: 64, t: 1, p: 1 },
      packTarget: 65_536 * 8,
      segmentTarget: 65_536,
    },
    signal,
  );
}

/**
 * Stores what is new of a tree and commits a snapshot of it. Load the index afterwards to read it.
 * @param dataIdKey names the data chunks in place of the repository's own key: no bytes are what their ids say
 */
export async function handMadeSnapshot(
  repository: Repository,
  root: HandMadeDirectory,
  record: Partial<SnapshotRecord>,
  signal: AbortSignal,
  dataIdKey?: Buffer,
): Promise<Snapshot> {
  const namespace: Namespace = { plain: record.plain ?? false, salt: record.salt };
  const packs: { name: string; bytes: Buffer }[] = [];
  const trees = chunkStore(repository, 'tree', namespace, packs);
  const data = chunkStore(repository, 'data', namespace, packs, dataIdKey);
  const { id, totals } = storeDirectories(root, { trees: trees.put, data: data.put });
  data.finish();
  trees.finish();
  for (const { name, bytes } of packs) await repository.destination.put(packKey(name), bytes, signal);
  const startedMs = record.startedMs ?? 1_700_000_000_000;
  return await commitSnapshot(
    repository,
    {
      tool: 'hand-made',
      host: 'host',
      user: 'user',
      paths: [asByteString('/')],
      startedMs,
      finishedMs: startedMs + 1_000,
      root: id,
      plain: false,
      tags: [],
      pinned: false,
      status: 'complete',
      errors: [],
      errorsMore: 0,
      counts: { ...noCounts, files: totals.files, bytes: totals.bytes },
      owners: { users: {}, groups: {} },
      omitted: [],
      kind: 'files',
      ...record,
    },
    { live: 1 },
    signal,
  );
}

const noCounts = {
  files: 0,
  directories: 0,
  links: 0,
  others: 0,
  bytes: 0,
  new: 0,
  changed: 0,
  unchanged: 0,
  failed: 0,
};

interface Stores {
  readonly trees: (chunk: Buffer) => Buffer;
  readonly data: (chunk: Buffer) => Buffer;
}

/** Ids of the chunks that a repository already has. */
const stored = new WeakMap<Repository, Set<string>>();

/** The same for the same name, so that equal trees have equal ids. */
function inodeOf(name: ByteString): number {
  return Buffer.from(name, 'latin1').reduce((sum, byte) => (sum * 31 + byte) % 1_000_003, 17);
}

function chunkStore(
  repository: Repository,
  kind: 'tree' | 'data',
  namespace: Namespace,
  packs: { name: string; bytes: Buffer }[],
  idKey: Buffer = repository.keys.idKey(kind, namespace),
): { put: (chunk: Buffer) => Buffer; finish: () => void } {
  const hasher = new ChunkHasher(idKey);
  const known = stored.get(repository) ?? new Set<string>();
  stored.set(repository, known);
  const writer = new PackWriter({
    keys: repository.keys,
    kind,
    cipher: namespace.plain ? CIPHER_PLAIN : CIPHER_GCM,
    idKey,
    packTarget: repository.config.packTarget,
    segmentTarget: repository.config.segmentTarget,
    compression: { kind: 'zstd', level: 3 },
    take: (capacity) => Buffer.allocUnsafeSlow(capacity),
    emit: ({ name, bytes }) => {
      packs.push({ name, bytes });
    },
  });
  const put = (chunk: Buffer): Buffer => {
    const id = hasher.id(chunk);
    if (!known.has(id.toString('hex'))) writer.append(id, chunk);
    known.add(id.toString('hex'));
    return id;
  };
  return {
    put,
    finish: () => {
      writer.finish();
    },
  };
}

interface StoredDirectory {
  readonly id: Buffer;
  readonly totals: DirectoryTotals;
}

/** What has been stored so far. */
type StoredDirectories = ReadonlyMap<HandMadeDirectory, StoredDirectory>;

/** Without recursion: trees may be as deep as tests need. */
function storeDirectories(root: HandMadeDirectory, stores: Stores): StoredDirectory {
  const all = [root];
  for (const { entries } of all)
    all.push(...Object.values(entries).filter((node) => node.type === 'directory'));
  const stored = new Map<HandMadeDirectory, StoredDirectory>();
  for (const node of all.toReversed()) stored.set(node, storeDirectory(node, stored, stores));
  return given(stored, root);
}

function given(stored: StoredDirectories, node: HandMadeDirectory): StoredDirectory {
  const one = stored.get(node);
  if (one === undefined) throw new Error('a directory is stored before what is in it');
  return one;
}

function storeDirectory(node: HandMadeDirectory, stored: StoredDirectories, stores: Stores): StoredDirectory {
  const totals = { files: 0, bytes: 0, entries: 0 };
  const names = Object.keys(node.entries).sort((a, b) => (a < b ? -1 : 1));
  const entries: Entry[] = [];
  for (const name of names) {
    const child = node.entries[name];
    if (child === undefined) continue;
    const entry = storeEntry(asByteString(name), child, stored, stores);
    entries.push(entry);
    totals.entries += 1;
    if (entry.type === 'file') {
      totals.files += 1;
      totals.bytes += entry.size;
    } else if (entry.type === 'directory') {
      totals.files += entry.totals.files;
      totals.bytes += entry.totals.bytes;
      totals.entries += entry.totals.entries;
    }
  }
  return { id: encodeDirectory(entries, stores.trees), totals };
}

function storeEntry(name: ByteString, node: HandMadeNode, stored: StoredDirectories, stores: Stores): Entry {
  const defaults = {
    name,
    mode: node.type === 'directory' ? 0o755 : node.type === 'symlink' ? 0o777 : 0o644,
    uid: 1000,
    gid: 1000,
    mtimeNs: HAND_MADE_NS,
    ctimeNs: HAND_MADE_NS,
    inode: inodeOf(name),
  };
  if (node.type === 'directory') {
    const { entries: _, ...metadata } = node;
    const entry: DirectoryEntry = { ...defaults, ...metadata, ...given(stored, node) };
    return entry;
  }
  if (node.type !== 'file') return { ...defaults, ...node };
  const { chunks, size, idsPerList, isMisnamed, changedWhileRead, ...metadata } = node;
  const ids = chunks.map((chunk) => Buffer.from(stores.data(chunk)));
  if (isMisnamed === true) for (const id of ids) id[23] = (id[23] ?? 0) ^ 1;
  const holes = (node.holes ?? []).reduce((sum, hole) => sum + hole.length, 0);
  const entry: FileEntry = {
    ...defaults,
    ...metadata,
    size: size ?? chunks.reduce((sum, chunk) => sum + chunk.length, holes),
    content: Buffer.concat(idsPerList === undefined ? ids : lists(ids, idsPerList, stores)),
    indirect: idsPerList !== undefined,
    changedWhileRead: changedWhileRead ?? false,
  };
  return entry;
}

function lists(ids: readonly Buffer[], idsPerList: number, stores: Stores): Buffer[] {
  const listIds: Buffer[] = [];
  for (let at = 0; at < ids.length; at += idsPerList) {
    listIds.push(stores.trees(encodeList(Buffer.concat(ids.slice(at, at + idsPerList)))));
  }
  return listIds;
}
