/** What is shown of an entry, and what differs between two. */
import type { ByteString } from '../base/byte-path.ts';
import type { DirectoryTotals, Entry, EntryMetadata, EntryType, Hole, Xattr } from '../format/tree.ts';

/**
 * What is shown of an entry: everything except its content and attributes, which may be large. Every `Entry` is one;
 * `summarize` makes one that does not keep stored bytes in memory.
 */
export interface EntrySummary extends Omit<EntryMetadata, 'xattrs'> {
  readonly type: EntryType;
  /** Bytes of a regular file. */
  readonly size?: number;
  /** Of a symbolic link. */
  readonly target?: ByteString;
  /** Of a device. */
  readonly major?: number;
  readonly minor?: number;
  /** Of a directory: the totals of everything below it. */
  readonly totals?: DirectoryTotals;
  /** Of a regular file: its content may be a mixture of several states. */
  readonly changedWhileRead?: boolean;
}

export function summarize(entry: Entry): EntrySummary {
  const { type, name, mode, uid, gid, mtimeNs, ctimeNs, inode, links } = entry;
  const common = { type, name, mode, uid, gid, mtimeNs, ctimeNs, inode, links };
  if (entry.type === 'file') return { ...common, size: entry.size, changedWhileRead: entry.changedWhileRead };
  if (entry.type === 'directory') return { ...common, totals: entry.totals };
  if (entry.type === 'symlink') return { ...common, target: entry.target };
  if ('major' in entry) return { ...common, major: entry.major, minor: entry.minor };
  return common;
}

/** What can differ between two entries with the same content. */
export type MetadataField = 'mode' | 'owner' | 'mtime' | 'xattrs';

/**
 * Whether two entries of the same type have different content: bytes, link target, device. Directories never have, as
 * their entries are compared separately.
 * @param idsComparable false when their chunks are named by different keys; then size and time decide
 */
export function contentDiffers(a: Entry, b: Entry, idsComparable: boolean): boolean {
  if (a.type === 'file' && b.type === 'file') {
    if (a.size !== b.size) return true;
    if (!idsComparable) return a.mtimeNs !== b.mtimeNs;
    return !a.content.equals(b.content) || !sameHoles(a.holes, b.holes);
  }
  if (a.type === 'symlink' && b.type === 'symlink') return a.target !== b.target;
  if ('major' in a && 'major' in b) return a.major !== b.major || a.minor !== b.minor;
  return a.type !== b.type;
}

/** The metadata that differs. Times of change and inode numbers are ignored: they differ on every copy, and cannot be set. */
export function metadataDifferences(a: Entry, b: Entry): MetadataField[] {
  const fields: MetadataField[] = [];
  if (a.mode !== b.mode) fields.push('mode');
  if (a.uid !== b.uid || a.gid !== b.gid) fields.push('owner');
  if (a.mtimeNs !== b.mtimeNs) fields.push('mtime');
  if (!sameXattrs(a.xattrs, b.xattrs)) fields.push('xattrs');
  return fields;
}

function sameHoles(a: readonly Hole[] = [], b: readonly Hole[] = []): boolean {
  return (
    a.length === b.length &&
    a.every(({ offset, length }, i) => offset === b[i]?.offset && length === b[i].length)
  );
}

function sameXattrs(a: readonly Xattr[] = [], b: readonly Xattr[] = []): boolean {
  return (
    a.length === b.length && a.every(({ name, value }, i) => name === b[i]?.name && value.equals(b[i].value))
  );
}
