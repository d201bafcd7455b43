/** Entries that are neither file nor directory (links, FIFOs, sockets, devices), and whether they exist already. */
import type { ByteString } from '../../base/byte-path.ts';
import type { DirectoryEntry, Entry, FileEntry } from '../../format/tree.ts';
import type { EntryStat } from '../../system/entry-stat.ts';
import type { RecordHandle } from '../target/entry-records.ts';
import { isSymlink, type Standing } from '../request/standing.ts';
import type { TargetDirectory } from '../target/target-directory.ts';

/** An entry that is neither file nor directory. */
export type NamedKind = Exclude<Entry, FileEntry | DirectoryEntry>;

/** A link or special file that is made once all files are written. */
export interface NamedEntry {
  readonly parent: RecordHandle;
  readonly entry: NamedKind;
  readonly standing: Standing;
  /** Shared with the other names of its inode, if it has any. */
  readonly group: NamedGroup | undefined;
}

/** The names of one link or special file. */
export interface NamedGroup {
  /** The name that was made, or that already exists as the snapshot has it. */
  made: { readonly parent: RecordHandle; readonly name: ByteString } | undefined;
}

const TYPE = 0o170000;
export const FIFO = 0o010000;
export const SOCKET = 0o140000;
export const CHARACTER_DEVICE = 0o020000;
export const BLOCK_DEVICE = 0o060000;

/** Whether the existing entry is taken to be the snapshot's. */
export function isSameAsStanding(
  entry: NamedKind,
  found: EntryStat,
  directory: TargetDirectory | undefined,
): boolean {
  if (found.mtimeNs !== entry.mtimeNs) return false;
  switch (entry.type) {
    case 'symlink':
      return isSymlink(found) && directory?.readSymlink(entry.name) === entry.target;
    case 'fifo':
      return (found.mode & TYPE) === FIFO;
    case 'socket':
      return (found.mode & TYPE) === SOCKET;
    case 'char-device':
    case 'block-device': {
      const type = entry.type === 'char-device' ? CHARACTER_DEVICE : BLOCK_DEVICE;
      return (
        (found.mode & TYPE) === type && found.rdevMajor === entry.major && found.rdevMinor === entry.minor
      );
    }
  }
}
