import { type BigIntStats, constants, lstatSync, readdirSync } from 'node:fs';
import { asByteString, type ByteString, joinBytes } from '../../base/byte-path.ts';
import { errnoOf } from '../../base/errors.ts';
import { fsPath, isAboveDrives } from '../../base/tree-path.ts';
import { splitDeviceNumber } from '../../system/device-number.ts';
import { ABOVE_DRIVES, type EntryStat } from '../../system/entry-stat.ts';
import { native, type Native } from '../../system/native.ts';
import { O_PATH } from '../../system/platform.ts';
import { hungMounts, refuseHung } from './hung-mounts.ts';
import { closeSource, fromItsDirectory, isLongPath, openSource } from './open.ts';
import { isSameOrAsOpen, replacedError } from './same-entry.ts';

/** A directory's names in byte order, and a way to look at each: by descriptor where the system allows it. */
export interface ListedDirectory {
  /** The directory that was opened. */
  readonly itself: EntryStat;
  readonly names: readonly ByteString[];
  /** Open until `close`; undefined if the directory was listed by path, or by the scout. */
  readonly fd: number | undefined;
  /** Undefined when the entry has vanished. Throws a system error for anything else. */
  stat(name: ByteString): EntryStat | undefined;
  close(): void;
}

/**
 * @param cutShort called with the reason when only some of the names can be read; without it that error is thrown
 * @param seen the directory as seen from the one above it
 * @throws a system error when the directory cannot be read; REPLACED if another one has taken its place
 */
export function openDirectory(
  path: ByteString,
  cutShort?: (error: Error) => void,
  seen?: EntryStat,
): ListedDirectory {
  refuseHung(path);
  const calls = native;
  if (calls === null) {
    const look = (): EntryStat => fromNode(lstatSync(fsPath(path), { bigint: true }));
    const list = (): ByteString[] => readdirSync(fsPath(path), 'latin1').map(asByteString);
    const { itself, names } = steadyNames(look(), look, list);
    if (seen !== undefined && itself.ino !== seen.ino) throw replacedError(path);
    const stat = (name: ByteString): EntryStat | undefined => statPath(joinBytes(path, name));
    return { itself, names, fd: undefined, stat, close: () => {} };
  }
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
  const fd = openSource(path, flags);
  try {
    const opened = calls.fstat(fd);
    if (seen !== undefined && !isSameOrAsOpen(fd, opened, seen)) throw replacedError(path);
    const look = (): EntryStat => calls.fstat(fd);
    const list: ListNames = (tell) => calls.listDirectory(fd, tell);
    const { itself, names } = steadyNames(opened, look, list, cutShort);
    const stat = (name: ByteString): EntryStat | undefined => {
      if (hungMounts().length > 0) refuseHung(joinBytes(path, name));
      return calls.findEntry(fd, name);
    };
    return { itself, names, fd, stat, close: () => closeSource(path, fd) };
  } catch (error) {
    closeSource(path, fd);
    throw error;
  }
}

/** The listing, extended by those of `names` that exist as well or cannot be looked at. */
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

/**
 * How often a directory that keeps changing is listed. To be missed in all three lists, a file would have to be
 * replaced at the wrong moment in each.
 */
const MOST_LISTS = 3;

type ListNames = (cutShort?: (error: Error) => void) => ByteString[];

/**
 * The names of a directory, and the directory as it was once they had been read. The names are read again if it changed
 * meanwhile, since a name whose file is replaced during the listing may be missing from it altogether. If the directory
 * never rests, the names of all lists are combined.
 */
function steadyNames(
  opened: EntryStat,
  look: () => EntryStat,
  list: ListNames,
  cutShort?: (error: Error) => void,
): Pick<ListedDirectory, 'itself' | 'names'> {
  let isWhole = true;
  const tell = (error: Error): void => {
    isWhole = false;
    cutShort?.(error);
  };
  const all = new Set<ByteString>();
  let itself = opened;
  for (let lists = 1; ; lists += 1) {
    const names = list(cutShort && tell);
    const before = itself;
    itself = look();
    if (isWhole && standsAs(before, itself)) return { itself, names: withoutRepeats(names.sort()) };
    for (const name of names) all.add(name);
    if (!isWhole || lists === MOST_LISTS) return { itself, names: [...all].sort() };
  }
}

/** Whether no entry was added, removed or replaced in a directory between two looks. */
export function standsAs(before: EntryStat, now: EntryStat): boolean {
  return before.mtimeNs === now.mtimeNs && before.ctimeNs === now.ctimeNs;
}

/** A directory that changes while it is listed may give a name twice, but a stored directory has every name once. */
function withoutRepeats(sorted: readonly ByteString[]): readonly ByteString[] {
  return sorted.some((name, at) => name === sorted[at - 1]) ? [...new Set(sorted)] : sorted;
}

/** Undefined when there is nothing at the path. No link is followed; nor is one on the way, where the system supports that. */
export function statPath(path: ByteString): EntryStat | undefined {
  refuseHung(path);
  if (isAboveDrives(path)) return ABOVE_DRIVES;
  if (isLongPath(path))
    return fromItsDirectory(path, (calls, directory, name) => calls.findEntry(directory, name));
  if (native?.openWithoutLinks !== undefined) return statHeld(native, path);
  const stat = lstatSync(fsPath(path), { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? undefined : fromNode(stat);
}

const ABSENT = new Set(['ENOENT', 'ENOTDIR']);

function statHeld(calls: Native, path: ByteString): EntryStat | undefined {
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

/** Node returns 64-bit numbers as signed, the C library as unsigned. */
function fromNode(stat: BigIntStats): EntryStat {
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
export function kindOf(stat: Pick<EntryStat, 'mode'>): SourceKind | undefined {
  return KINDS[stat.mode & TYPE_MASK];
}

/**
 * Times in columns, two numbers each (seconds, nanoseconds): 64 bits of nanoseconds only cover 1677 to 2262, and file
 * systems have times outside that range.
 */
const NS_PER_SECOND = 1_000_000_000n;

export function timeColumns(times: number): BigInt64Array<ArrayBuffer> {
  return new BigInt64Array(times * 2);
}

export function putTime(columns: BigInt64Array, i: number, ns: bigint): void {
  columns[i * 2] = ns / NS_PER_SECOND;
  columns[i * 2 + 1] = ns % NS_PER_SECOND;
}

export function timeAt(columns: BigInt64Array, i: number): bigint {
  return (columns[i * 2] ?? 0n) * NS_PER_SECOND + (columns[i * 2 + 1] ?? 0n);
}
