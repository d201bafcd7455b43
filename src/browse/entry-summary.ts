import type { ByteString } from '../base/byte-path.ts';
import type { DirectoryTotals, Entry, EntryMetadata, EntryType } from '../format/tree.ts';

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
