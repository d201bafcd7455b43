import { constants, lstatSync, readdirSync, type BigIntStats } from 'node:fs';
import { asByteString, fsPath, joinBytes, type ByteString } from '../base/byte-path.ts';
import { errnoOf } from '../base/errors.ts';
import { splitDeviceNumber } from '../system/device-number.ts';
import { native, type Native } from '../system/native.ts';
import { O_PATH } from '../system/platform.ts';
import { hungMounts, refuseHung } from './hung-mounts.ts';
import { isSameOrAsOpen, replacedError } from './same-entry.ts';
import { closeSource, fromItsDirectory, isLongPath, openSource } from './source-open.ts';

/** What the walker needs of an entry. */
export interface SourceStat {
  readonly mode: number;
  readonly nlink: number;
  readonly uid: number;
  readonly gid: number;
  readonly size: number;
  readonly blocks: number;
  readonly dev: bigint;
  readonly ino: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  readonly rdevMajor: number;
  readonly rdevMinor: number;
}

/** A directory's names in byte order, and a way to look at each: by descriptor where the system allows it. */
export interface ListedDirectory {
  /** The directory that was opened. */
  readonly itself: SourceStat;
  readonly names: readonly ByteString[];
  /** Open until `close`; undefined where it was listed by path, or before. */
  readonly fd: number | undefined;
  /** Undefined when the entry has vanished. Throws a system error for anything else. */
  stat(name: ByteString): SourceStat | undefined;
  close(): void;
}

/**
 * @param cutShort told why only some of the names can be read; without it that is thrown
 * @param seen the directory as it was met from the one above
 * @throws a system error when the directory cannot be read; REPLACED where another one stands in its place
 */
export function openDirectory(
  path: ByteString,
  cutShort?: (error: Error) => void,
  seen?: SourceStat,
): ListedDirectory {
  refuseHung(path);
  const calls = native;
  if (calls === null) {
    const names = withoutRepeats(readdirSync(fsPath(path), 'latin1').sort().map(asByteString));
    const itself = fromNode(lstatSync(fsPath(path), { bigint: true }));
    if (seen !== undefined && itself.ino !== seen.ino) throw replacedError(path);
    const stat = (name: ByteString): SourceStat | undefined => statPath(joinBytes(path, name));
    return { itself, names, fd: undefined, stat, close: () => {} };
  }
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
  const fd = openSource(path, flags);
  try {
    const itself = calls.fstat(fd);
    if (seen !== undefined && !isSameOrAsOpen(fd, itself, seen, path)) throw replacedError(path);
    const names = withoutRepeats(calls.listDirectory(fd, cutShort).sort());
    const stat = (name: ByteString): SourceStat | undefined => {
      if (hungMounts().length > 0) refuseHung(joinBytes(path, name));
      return calls.findEntry(fd, name);
    };
    return { itself, names, fd, stat, close: () => closeSource(path, fd) };
  } catch (error) {
    closeSource(path, fd);
    throw error;
  }
}

/** What was listed, with those of the names besides that stand there too, or cannot be looked at. */
export function withNamesThere(listed: ListedDirectory, names: readonly ByteString[]): ListedDirectory {
  const known = new Set(listed.names);
  const more = names.filter((name) => !known.has(name) && mayBeThere(listed, name));
  return { ...listed, names: [...listed.names, ...more].sort() };
}

function mayBeThere(listed: ListedDirectory, name: ByteString): boolean {
  try {
    return listed.stat(name) !== undefined;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return true;
  }
}

/** A directory that is changed while it is listed may give a name twice; a stored one has every name once. */
function withoutRepeats(sorted: readonly ByteString[]): readonly ByteString[] {
  return sorted.some((name, at) => name === sorted[at - 1]) ? [...new Set(sorted)] : sorted;
}

/** Undefined when there is nothing at the path. No link is followed where the system can do that, on the way to it either. */
export function statPath(path: ByteString): SourceStat | undefined {
  refuseHung(path);
  if (isLongPath(path))
    return fromItsDirectory(path, (calls, directory, name) => calls.findEntry(directory, name));
  if (native?.openWithoutLinks !== undefined) return statHeld(native, path);
  const stat = lstatSync(fsPath(path), { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? undefined : fromNode(stat);
}

const ABSENT = new Set(['ENOENT', 'ENOTDIR']);

function statHeld(calls: Native, path: ByteString): SourceStat | undefined {
  let fd: number;
  try {
    fd = openSource(path, O_PATH | constants.O_NOFOLLOW);
  } catch (error) {
    if (ABSENT.has(errnoOf(error) ?? '')) return undefined;
    throw error;
  }
  try {
    return calls.fstat(fd);
  } finally {
    closeSource(path, fd);
  }
}

/** Node gives numbers of 64 bits as signed ones, the C library as they are. */
function fromNode(stat: BigIntStats): SourceStat {
  const { major, minor } = splitDeviceNumber(stat.rdev);
  return {
    mode: Number(stat.mode),
    nlink: Number(stat.nlink),
    uid: Number(stat.uid),
    gid: Number(stat.gid),
    size: Number(stat.size),
    blocks: Number(stat.blocks),
    dev: BigInt.asUintN(64, stat.dev),
    ino: BigInt.asUintN(64, stat.ino),
    mtimeNs: stat.mtimeNs,
    ctimeNs: stat.ctimeNs,
    rdevMajor: major,
    rdevMinor: minor,
  };
}

const SAFE_BITS = 53n;
const FOLD_SHIFT = 42n;

/**
 * An inode or device number as trees store it, below 2^53. Overlays, NTFS and some network file systems put a layer
 * or a generation into the bits above: these are folded onto the highest of the others, so that files stay apart.
 */
export function storedNumber(number: bigint): number {
  const folded = BigInt.asUintN(64, number);
  return Number(BigInt.asUintN(Number(SAFE_BITS), folded) ^ ((folded >> SAFE_BITS) << FOLD_SHIFT));
}

const TYPE_MASK = 0o170000;

export type SourceKind =
  | 'file'
  | 'directory'
  | 'symlink'
  | 'fifo'
  | 'socket'
  | 'char-device'
  | 'block-device';

const KINDS: Readonly<Record<number, SourceKind>> = {
  0o100000: 'file',
  0o040000: 'directory',
  0o120000: 'symlink',
  0o010000: 'fifo',
  0o140000: 'socket',
  0o020000: 'char-device',
  0o060000: 'block-device',
};

/** Undefined for kinds that the format does not know (doors, ports). */
export function kindOf(stat: Pick<SourceStat, 'mode'>): SourceKind | undefined {
  return KINDS[stat.mode & TYPE_MASK];
}
