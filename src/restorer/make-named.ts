import { asByteString, type ByteString } from '../base/byte-path.ts';
import { errnoOf } from '../base/errors.ts';
import type { DirectoryEntry, Entry, FileEntry } from '../format/tree.ts';
import { takePlaceOfDirectory } from './clear-directory.ts';
import { NO_RECORD, type RecordHandle } from './entry-records.ts';
import type { MetadataWriter } from './metadata.ts';
import type { OpenDirectories } from './open-directories.ts';
import { isSymlink, type Standing } from './standing.ts';
import type { RestoreTally } from './tally.ts';
import type { TargetDirectory } from './target-directory.ts';
import { temporaryName } from './temporary-names.ts';
import { removeQuietly } from './unfinished-files.ts';

/** An entry that is neither file nor directory. */
export type NamedKind = Exclude<Entry, FileEntry | DirectoryEntry>;

/** What is made by name once all files are there: a link or a special file. */
export interface NamedEntry {
  readonly parent: RecordHandle;
  readonly entry: NamedKind;
  readonly standing: Standing;
  /** The first entry of its inode, when this is another name of it. */
  readonly leader: NamedEntry | undefined;
}

export interface NamedParts {
  readonly directories: OpenDirectories;
  readonly metadata: MetadataWriter;
  readonly tally: RestoreTally;
  readonly run: string;
}

const FIFO = 0o010000;
const SOCKET = 0o140000;
const CHARACTER_DEVICE = 0o020000;
const BLOCK_DEVICE = 0o060000;
const LARGEST_DEVICE_NUMBER = 0xffff_ffff;

/** What systems and file systems without sockets say. */
const NO_SOCKETS: ReadonlySet<string> = new Set(['EPERM', 'EINVAL', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP']);

export function countNamed(tally: RestoreTally, entry: NamedKind): void {
  if (entry.type === 'symlink') tally.links += 1;
  else tally.others += 1;
}

/**
 * Makes a link, FIFO, socket or device, beside what has its name and then in its place.
 * @param failed first names of their inodes that could not be made
 * @throws a system error
 */
export function makeNamed(parts: NamedParts, named: NamedEntry, failed: ReadonlySet<NamedEntry>): void {
  const { directories, metadata, tally, run } = parts;
  const { parent, entry, leader } = named;
  const { name } = entry;
  const path = (): ByteString => directories.pathOf(parent, name);
  if (isLeftOut(parts, entry, path)) return;
  const directory = directories.at(parent);
  const found = named.standing === 'create' ? undefined : directory.find(name);
  const place: Place = {
    name,
    standing: found === undefined ? 'create' : named.standing,
    run,
    cleared: () => tally.deleted(path()),
  };
  const isSameLink =
    found !== undefined &&
    entry.type === 'symlink' &&
    isSymlink(found) &&
    directory.readSymlink(name) === entry.target;
  if (isSameLink) {
    metadata.special(directory, name, entry, path);
  } else if (leader !== undefined && !failed.has(leader)) {
    inPlace(directory, place, (working) => {
      directory.createHardLink(directories.at(leader.parent), leader.entry.name, working);
    });
  } else {
    try {
      inPlace(directory, place, (working) => {
        create(directory, working, entry);
        try {
          metadata.special(directory, working, entry, path);
        } catch (error) {
          // nothing of it says that it is unfinished
          removeQuietly(() => directory, working);
          throw error;
        }
      });
    } catch (error) {
      if (entry.type !== 'socket' || !NO_SOCKETS.has(errnoOf(error) ?? '')) throw error;
      tally.omissions.note('sockets', 'this system or file system cannot make sockets', path);
      return;
    }
  }
  countNamed(tally, entry);
}

export interface Place {
  readonly name: ByteString;
  /** `create`: the name is free. */
  readonly standing: Standing;
  readonly run: string;
  /** Told when a directory had the name, and is gone. */
  readonly cleared: () => void;
}

/** Makes an entry under its own name, or, when that is taken, under another one that then replaces it. */
export function inPlace(
  directory: TargetDirectory,
  { name, standing, run, cleared }: Place,
  make: (working: ByteString) => void,
): void {
  if (standing === 'create') {
    make(name);
    return;
  }
  // one at a time is made in this way, so they can all have the same number
  const working = asByteString(temporaryName(run, NO_RECORD));
  try {
    make(working);
    if (standing !== 'clear') directory.rename(working, name);
    else if (takePlaceOfDirectory(directory, working, name)) cleared();
  } catch (error) {
    removeQuietly(() => directory, working);
    throw error;
  }
}

function create(directory: TargetDirectory, name: ByteString, entry: NamedKind): void {
  switch (entry.type) {
    case 'symlink':
      directory.createSymlink(entry.target, name);
      return;
    case 'fifo':
      directory.createNode(name, FIFO | 0o600, 0, 0);
      return;
    case 'socket':
      directory.createNode(name, SOCKET | 0o600, 0, 0);
      return;
    case 'char-device':
    case 'block-device': {
      const type = entry.type === 'char-device' ? CHARACTER_DEVICE : BLOCK_DEVICE;
      directory.createNode(name, type | 0o600, entry.major, entry.minor);
      return;
    }
  }
}

/** Devices need privileges, and to have been asked for. */
function isLeftOut({ metadata, tally }: NamedParts, entry: NamedKind, path: () => ByteString): boolean {
  if (entry.type !== 'char-device' && entry.type !== 'block-device') return false;
  if (!metadata.privileged) {
    tally.omissions.note('devices', 'device files are only made when ownership is restored, by root', path);
    return true;
  }
  if (entry.major > LARGEST_DEVICE_NUMBER || entry.minor > LARGEST_DEVICE_NUMBER) {
    tally.omissions.note('devices', 'its device number does not exist', path);
    return true;
  }
  return false;
}
