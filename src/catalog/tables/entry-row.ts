/** What the catalog keeps about an entry, and when two entries are the same. */
import { createHash } from 'node:crypto';
import type { ByteString } from '../../base/byte-path.ts';
import { ENTRY_TYPES, type Entry, type FileEntry, type Xattr } from '../../format/tree.ts';
import { NODE_TYPE } from './schema.ts';

export interface EntryRow {
  /** A number of `NODE_TYPE`. */
  readonly type: number;
  /** Bytes of a file, or of all files below a directory. */
  readonly size: number;
  /** Bytes of a file; 0 for everything else. */
  readonly own: number;
  /** Milliseconds since 1970, rounded towards the past; `finer` has the remaining nanoseconds. */
  readonly modified: number;
  readonly finer: number;
  readonly mode: number;
  /** A number that stands for owner and extended attributes. */
  readonly attributes: number;
  /**
   * A number that stands for the bytes of a file, the target of a link, or the tree of a directory. Null when it cannot
   * be compared with other snapshots: their chunks have ids by other keys, or a part of the directory could not be
   * read.
   */
  readonly content: number | null;
  /** The exact kind, as in `ENTRY_TYPES`. */
  readonly kind: number;
  readonly target: Buffer | null;
  /** Of a directory: entries directly in it; null when not all are known. */
  readonly children: number | null;
  /** Of a directory: entries below it at all depths. */
  readonly entries: number | null;
}

/** The largest time in milliseconds that is exact and that a Date can hold. */
const FAR = 8_640_000_000_000_000n;
const MILLISECOND = 1_000_000n;
/** Bytes of a digest that fit into a number. */
const DIGEST = 6;

/**
 * @param salted whether the chunk ids of the snapshot are comparable with no other snapshot
 * @param children of a directory
 */
export function rowOf(entry: Entry, salted: boolean, children: number | null): EntryRow {
  const { modified, finer } = splitTime(entry.mtimeNs);
  const common = {
    modified,
    finer,
    own: entry.type === 'file' ? entry.size : 0,
    mode: entry.mode,
    attributes: attributesOf(entry),
    kind: ENTRY_TYPES[entry.type],
    target: null,
    children: null,
    entries: null,
  };
  switch (entry.type) {
    case 'file':
      return { ...common, type: NODE_TYPE.file, size: entry.size, content: salted ? null : contentOf(entry) };
    case 'directory':
      return {
        ...common,
        type: NODE_TYPE.directory,
        size: entry.totals.bytes,
        content: salted ? null : digestOfTree(entry.id),
        children,
        entries: entry.totals.entries,
      };
    case 'symlink': {
      const target = Buffer.from(entry.target, 'latin1');
      return { ...common, type: NODE_TYPE.symlink, size: 0, content: digest(target), target };
    }
    case 'char-device':
    case 'block-device':
      return { ...common, type: NODE_TYPE.other, size: 0, content: digest(`${entry.major}:${entry.minor}`) };
    case 'fifo':
    case 'socket':
      return { ...common, type: NODE_TYPE.other, size: 0, content: 0 };
  }
}

/** The row of a snapshot's root, which has no entry of its own. */
export function rowOfRoot(
  tree: Buffer,
  salted: boolean,
  {
    children,
    entries,
    bytes,
  }: { readonly children: number; readonly entries: number; readonly bytes: number },
): EntryRow {
  return {
    type: NODE_TYPE.directory,
    size: bytes,
    own: 0,
    modified: 0,
    finer: 0,
    mode: 0,
    attributes: 0,
    content: salted ? null : digestOfTree(tree),
    kind: ENTRY_TYPES.directory,
    target: null,
    children,
    entries,
  };
}

export function digestOfTree(id: Buffer): number {
  return id.readUIntBE(0, DIGEST);
}

/** Whether everything but the content is the same. */
export function sameMetadata(a: EntryRow, b: EntryRow): boolean {
  return (
    a.kind === b.kind &&
    a.mode === b.mode &&
    a.attributes === b.attributes &&
    a.modified === b.modified &&
    a.finer === b.finer
  );
}

type Content = Pick<EntryRow, 'kind' | 'type' | 'size' | 'modified' | 'finer' | 'content'>;

/** Whether two entries other than directories have the same content. Without comparable content, size and time decide. */
export function sameContent(a: Content, b: Content, comparable: boolean): boolean {
  if (a.kind !== b.kind) return false;
  if (a.type !== NODE_TYPE.file) return a.content === b.content;
  if (a.size !== b.size) return false;
  if (comparable && a.content !== null && b.content !== null) return a.content === b.content;
  return a.modified === b.modified && a.finer === b.finer;
}

function splitTime(ns: bigint): { modified: number; finer: number } {
  let ms = ns / MILLISECOND;
  let finer = Number(ns % MILLISECOND);
  if (finer < 0) {
    ms -= 1n;
    finer += Number(MILLISECOND);
  }
  if (ms > FAR) return { modified: Number(FAR), finer: digest(String(ns)) };
  if (ms < -FAR) return { modified: -Number(FAR), finer: digest(String(ns)) };
  return { modified: Number(ms), finer };
}

/** Nearly every file is one chunk, whose id, a keyed hash, is truncated. */
function contentOf({ content, holes }: FileEntry): number {
  if (holes === undefined && content.length === 24) return content.readUIntBE(0, DIGEST);
  if (holes === undefined && content.length === 0) return 0;
  return digest(Buffer.concat([content, Buffer.from(JSON.stringify(holes ?? []))]));
}

/** Nearly every owner fits into an even number exactly. All others get an odd one from a hash. */
function attributesOf({ uid, gid, xattrs }: Entry): number {
  const small = uid < 0x10_0000 && gid < 0x10_0000;
  if (small && (xattrs === undefined || xattrs.length === 0)) return (uid * 0x10_0000 + gid) * 2;
  return digest(JSON.stringify([uid, gid, (xattrs ?? []).map(xattrText)])) * 2 + 1;
}

function xattrText({ name, value }: Xattr): readonly [ByteString, string] {
  return [name, value.toString('latin1')];
}

function digest(of: Buffer | string): number {
  return createHash('sha256').update(of).digest().readUIntBE(0, DIGEST);
}
