import type { ByteString } from '../../base/byte-path.ts';
import { errnoOf } from '../../base/errors.ts';
import { takePlaceOfDirectory } from '../target/remove-tree.ts';
import { NO_RECORD } from '../target/entry-records.ts';
import type { MetadataWriter } from '../metadata/metadata.ts';
import type { OpenDirectories } from '../target/open-directories.ts';
import { isSymlink, type Standing } from '../request/standing.ts';
import type { RestoreTally } from '../request/tally.ts';
import { renameToOwn } from '../target/taken-names.ts';
import type { TargetDirectory } from '../target/target-directory.ts';
import { temporaryName } from '../target/temporary-names.ts';
import { removeQuietly } from '../target/unfinished-files.ts';
import {
  FIFO,
  SOCKET,
  CHARACTER_DEVICE,
  BLOCK_DEVICE,
  type NamedEntry,
  type NamedGroup,
  type NamedKind,
} from '../plan/named-entries.ts';

export interface NamedParts {
  readonly directories: OpenDirectories;
  readonly metadata: MetadataWriter;
  readonly tally: RestoreTally;
  readonly run: string;
}

const LARGEST_DEVICE_NUMBER = 0xffff_ffff;

/** Errors of systems and file systems without sockets. */
const NO_SOCKETS: ReadonlySet<string> = new Set(['EPERM', 'EINVAL', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP']);

export function countNamed(tally: RestoreTally, entry: NamedKind): void {
  if (entry.type === 'symlink') tally.links += 1;
  else tally.others += 1;
}

/**
 * Makes a link, FIFO, socket or device under a temporary name, and then renames it to its own.
 * @throws a system error
 */
export function makeNamed(parts: NamedParts, named: NamedEntry): void {
  const { directories, metadata, tally, run } = parts;
  const { parent, entry, group } = named;
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
  if (group?.made !== undefined && linkNamed(parts, directory, place, group.made)) {
    countNamed(tally, entry);
    return;
  }
  if (isSameLink) {
    metadata.special(directory, name, entry, path);
  } else {
    try {
      inPlace(directory, place, (working) => {
        create(directory, working, entry);
        try {
          metadata.special(directory, working, entry, path);
        } catch (error) {
          removeQuietly(() => directory, working);
          throw error;
        }
      });
    } catch (error) {
      if (entry.type !== 'socket' || !NO_SOCKETS.has(errnoOf(error) ?? '')) throw error;
      tally.omissions.note('sockets', 'this system or file system cannot create sockets', path);
      return;
    }
  }
  if (group !== undefined) group.made ??= { parent, name };
  countNamed(tally, entry);
}

/**
 * Makes the entry as a hard link to one that was made before.
 * @returns false if it has to be made separately
 */
function linkNamed(
  { directories }: NamedParts,
  directory: TargetDirectory,
  place: Place,
  made: NonNullable<NamedGroup['made']>,
): boolean {
  const from = directories.at(made.parent);
  const first = from.find(made.name);
  const found = place.standing === 'create' ? undefined : directory.find(place.name);
  if (first !== undefined && first.ino === found?.ino && first.dev === found.dev) return true;
  try {
    inPlace(directory, place, (working) => directory.createHardLink(from, made.name, working));
    return true;
  } catch (error) {
    const code = errnoOf(error) ?? '';
    if (code !== 'ENOENT' && !NO_MORE_LINKS.has(code)) throw error;
    return false;
  }
}

/** Errors of file systems without hard links, and for an inode that has as many names as it can. */
export const NO_MORE_LINKS: ReadonlySet<string> = new Set([
  'EPERM',
  'EMLINK',
  'ENOSYS',
  'ENOTSUP',
  'EOPNOTSUPP',
  'EXDEV',
]);

export interface Place {
  readonly name: ByteString;
  /** `create`: the name is free. */
  readonly standing: Standing;
  readonly run: string;
  /** Called when a directory had the name and was removed. */
  readonly cleared: () => void;
}

/** Makes an entry under a temporary name, and renames it to its own when it is complete. */
export function inPlace(
  directory: TargetDirectory,
  { name, standing, run, cleared }: Place,
  make: (working: ByteString) => void,
): void {
  // entries are made one at a time, so they can all use the same number
  const working = temporaryName(run, NO_RECORD);
  try {
    make(working);
    if (standing === 'create') renameToOwn(directory, working, name);
    else if (standing !== 'clear') directory.rename(working, name);
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

/** Whether a device is left out: making one takes privileges, and has to be asked for. */
function isLeftOut({ metadata, tally }: NamedParts, entry: NamedKind, path: () => ByteString): boolean {
  if (entry.type !== 'char-device' && entry.type !== 'block-device') return false;
  if (!metadata.privileged) {
    tally.omissions.note('devices', metadata.unprivilegedBecause, path);
    return true;
  }
  if (entry.major > LARGEST_DEVICE_NUMBER || entry.minor > LARGEST_DEVICE_NUMBER) {
    tally.omissions.note('devices', 'its device number does not exist', path);
    return true;
  }
  return false;
}
