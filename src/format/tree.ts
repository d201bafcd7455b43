import type { ByteString } from '../base/byte-path.ts';

/** Entry of a directory, as stored. Names, targets and xattr names are bytes. */
export type Entry = FileEntry | DirectoryEntry | LinkEntry | SpecialEntry | DeviceEntry;

export interface EntryMetadata {
  readonly name: ByteString;
  /** The 12 permission bits. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** Nanoseconds since 1970. */
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  readonly inode: number;
  /** Set when the inode has several names. */
  readonly links?: { readonly device: number; readonly count: number } | undefined;
  readonly xattrs?: readonly Xattr[] | undefined;
}

export interface Xattr {
  readonly name: ByteString;
  readonly value: Buffer;
}

/** A range of zero bytes that is not stored. */
export interface Hole {
  readonly offset: number;
  readonly length: number;
}

export interface FileEntry extends EntryMetadata {
  readonly type: 'file';
  readonly size: number;
  readonly holes?: readonly Hole[] | undefined;
  /** Ids of 24 bytes each: data chunks in order, or, when `indirect`, the lists that hold them. */
  readonly content: Buffer;
  readonly indirect: boolean;
  /** The file changed while it was read, so its content may mix several states. */
  readonly changedWhileRead: boolean;
}

export interface DirectoryEntry extends EntryMetadata {
  readonly type: 'directory';
  readonly id: Buffer;
  /** Regular files, their bytes, and entries of every kind, below this directory at all depths. */
  readonly totals: DirectoryTotals;
}

export interface DirectoryTotals {
  readonly files: number;
  readonly bytes: number;
  readonly entries: number;
}

export interface LinkEntry extends EntryMetadata {
  readonly type: 'symlink';
  readonly target: ByteString;
}

export interface SpecialEntry extends EntryMetadata {
  readonly type: 'fifo' | 'socket';
}

export interface DeviceEntry extends EntryMetadata {
  readonly type: 'char-device' | 'block-device';
  readonly major: number;
  readonly minor: number;
}

export const ENTRY_TYPES = {
  file: 1,
  directory: 2,
  symlink: 3,
  fifo: 4,
  socket: 5,
  'char-device': 6,
  'block-device': 7,
} as const;
export type EntryType = keyof typeof ENTRY_TYPES;

export const FLAG = { xattrs: 1, links: 2, holes: 4, indirect: 8, changed: 16 } as const;

const MAX_NAME_BYTES = 4_096;
export const MAX_DEPTH = 4_096;
/** Highest level of a branch. */
export const MAX_LEVEL = 8;
/** Beyond this many ids a file's content is stored as lists of `LIST_IDS`. */
export const INLINE_IDS = 1_024;
export const LIST_IDS = 4_096;
/** Limits for one tree chunk, which readers hold in memory as a whole. Writers stay far below them. */
export const MOST_IN_CHUNK = {
  entries: 65_536,
  children: 65_536,
  attributes: 65_536,
  parts: 2 ** 21,
} as const;

/** One stored tree chunk. */
export type TreeChunk =
  | { readonly form: 'leaf'; readonly entries: readonly Entry[] }
  | { readonly form: 'branch'; readonly level: number; readonly children: readonly BranchChild[] }
  | { readonly form: 'list'; readonly ids: Buffer };

export interface BranchChild {
  readonly firstName: ByteString;
  readonly id: Buffer;
}

/** True when restoring or listing this name could leave its directory or is otherwise impossible on POSIX. */
export function isHostileName(name: ByteString): boolean {
  return (
    name.length === 0 ||
    name.length > MAX_NAME_BYTES ||
    name === '.' ||
    name === '..' ||
    name.includes('/') ||
    name.includes('\0')
  );
}

/** The totals of entries and everything below them, as they state. */
export function totalsOf(list: readonly Entry[]): DirectoryTotals {
  let [files, bytes, entries] = [0, 0, list.length];
  for (const entry of list) {
    if (entry.type === 'file') {
      files += 1;
      bytes += entry.size;
    } else if (entry.type === 'directory') {
      files += entry.totals.files;
      bytes += entry.totals.bytes;
      entries += entry.totals.entries;
    }
  }
  // The stated sizes of files with holes may add up to more than can be stored.
  return { files, bytes: Math.min(bytes, Number.MAX_SAFE_INTEGER), entries };
}

export function sameTotals(a: DirectoryTotals, b: DirectoryTotals): boolean {
  return a.files === b.files && a.bytes === b.bytes && a.entries === b.entries;
}
