import type { ByteString } from '../../base/byte-path.ts';
import type { Entry, EntryMetadata, FileEntry } from '../../format/tree.ts';
import type { Parent } from './parent.ts';
import type { SourcePlace } from '../source/place.ts';
import { storedNumber } from '../../format/stored-number.ts';
import { type SourceKind } from '../source/stat.ts';
import type { EntryStat } from '../../system/entry-stat.ts';

/** The parent's entries of a directory, looked up in the order of its sorted names. */
export class OldEntries {
  readonly #entries: readonly Entry[];
  #at = 0;
  /** An entry of the parent had no counterpart: it is gone. */
  skipped = false;

  constructor(entries: readonly Entry[]) {
    this.#entries = entries;
  }

  get rest(): number {
    return this.#entries.length - this.#at;
  }

  at(name: ByteString): Entry | undefined {
    for (;;) {
      const entry = this.#entries[this.#at];
      if (entry === undefined || entry.name > name) return undefined;
      this.#at += 1;
      if (entry.name === name) return entry;
      this.skipped = true;
    }
  }
}

/** What is needed to tell whether an entry is as the parent has it. */
export type Comparing = Pick<Parent, 'isSettled' | 'ctimes'>;

/**
 * Whether a file has the same size, mtime, ctime, inode and number of names as in the parent. It may have to be read
 * even so, if these are not to be trusted.
 */
export function looksUnchanged(old: FileEntry, stat: EntryStat): boolean {
  return (
    old.size === stat.size &&
    old.mtimeNs === stat.mtimeNs &&
    old.ctimeNs === stat.ctimeNs &&
    old.inode === storedNumber(stat.ino) &&
    !old.changedWhileRead &&
    (old.links?.count ?? 1) === stat.nlink
  );
}

/** Whether the file looks unchanged, with a ctime old enough to trust, on a file system that keeps one. */
export function isUnchangedFile(
  old: FileEntry,
  path: ByteString,
  stat: EntryStat,
  { isSettled, ctimes }: Comparing,
): boolean {
  return looksUnchanged(old, stat) && isSettled(stat.ctimeNs) && ctimes.vouchesFor(path, stat);
}

/** Whether the extended attributes are still those that the parent saw: a change of them would have changed the ctime. */
export function hasXattrsOf(
  old: Entry,
  path: ByteString,
  stat: EntryStat,
  { isSettled, ctimes }: Comparing,
): boolean {
  return (
    old.ctimeNs === stat.ctimeNs &&
    old.inode === storedNumber(stat.ino) &&
    isSettled(stat.ctimeNs) &&
    ctimes.tells(path, stat)
  );
}

/** The metadata that every kind of entry has. */
export function metadataOf(name: ByteString, stat: EntryStat): EntryMetadata {
  return {
    name,
    mode: stat.mode & 0o7777,
    uid: stat.uid,
    gid: stat.gid,
    mtimeNs: stat.mtimeNs,
    ctimeNs: stat.ctimeNs,
    inode: storedNumber(stat.ino),
    links:
      stat.nlink > 1 && (stat.mode & 0o170000) !== 0o040000
        ? { device: storedNumber(stat.dev), count: stat.nlink }
        : undefined,
  };
}

/**
 * The metadata of a directory with the owner and mode that it had when it was opened, if these had changed by then: its
 * content must be as closed as it was when it was read.
 */
export function asClosedAs({ mode, uid, gid }: EntryStat, met: EntryMetadata): EntryMetadata {
  const permissions = mode & 0o7777;
  if (permissions === met.mode && uid === met.uid && gid === met.gid) return met;
  return { ...met, mode: permissions, uid, gid };
}

export function sameMetadata(old: Entry, now: EntryMetadata): boolean {
  return (
    old.mode === now.mode &&
    old.uid === now.uid &&
    old.gid === now.gid &&
    old.mtimeNs === now.mtimeNs &&
    old.ctimeNs === now.ctimeNs &&
    old.inode === now.inode &&
    old.links?.count === now.links?.count &&
    old.links?.device === now.links?.device &&
    sameXattrs(old.xattrs, now.xattrs)
  );
}

function sameXattrs(old: EntryMetadata['xattrs'] = [], now: EntryMetadata['xattrs'] = []): boolean {
  if (old === now) return true;
  return (
    old.length === now.length &&
    old.every(({ name, value }, at) => name === now[at]?.name && now[at].value.equals(value))
  );
}

export function specialEntry(
  kind: Exclude<SourceKind, 'file' | 'directory'>,
  place: SourcePlace,
  stat: EntryStat,
  metadata: EntryMetadata,
): Entry {
  switch (kind) {
    case 'symlink':
      return { type: 'symlink', ...metadata, target: place.linkTarget(metadata.name, stat) };
    case 'fifo':
    case 'socket':
      return { type: kind, ...metadata };
    case 'char-device':
    case 'block-device':
      return { type: kind, ...metadata, major: stat.rdevMajor, minor: stat.rdevMinor };
  }
}

export function sameSpecial(old: Entry, now: Entry): boolean {
  if (old.type === 'symlink' && now.type === 'symlink') return old.target === now.target;
  if ('major' in old && 'major' in now) return old.major === now.major && old.minor === now.minor;
  return true;
}
