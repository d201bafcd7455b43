import {
  accessSync,
  type BigIntStats,
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  futimesSync,
  linkSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  statfsSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
} from 'node:fs';
import { asByteString, type ByteString, isAscii, joinBytes } from '../../base/byte-path.ts';
import { fsPath } from '../../base/tree-path.ts';
import { despiteHoldersSync, mayBeHeld } from '../../base/held-files.ts';
import { BugError } from '../../base/errors.ts';
import { splitDeviceNumber } from '../../system/device-number.ts';
import type { EntryStat } from '../../system/entry-stat.ts';
import type { XattrTarget } from '../../system/xattr.ts';
import { hasRoom, isImpossibleHere } from './entry-failure.ts';
import { syncToDisk } from './file-io.ts';
import { nameTaken, type TargetDirectory } from './target-directory.ts';

const OWNER_WRITES = 0o200;
const WRITABLE = 0o666;
const READ_ONLY = 0o444;
/** Windows has neither flag; 0 changes nothing. */
const NOFOLLOW = constants.O_NOFOLLOW ?? 0;
const NONBLOCK = constants.O_NONBLOCK ?? 0;

/**
 * A directory known by its path, where the system offers nothing better (Windows). Before every call the path is
 * checked: it must still be the directory that was opened, not a link and not another directory.
 */
export class PathDirectory implements TargetDirectory {
  readonly #path: ByteString;
  readonly #dev: bigint;
  readonly #ino: bigint;

  constructor(path: ByteString) {
    const stat = lstatSync(fsPath(path), { bigint: true });
    if (!stat.isDirectory()) throw systemErrorOf('ENOTDIR', 'not a directory', path);
    this.#path = path;
    this.#dev = stat.dev;
    this.#ino = stat.ino;
  }

  find(name: ByteString): EntryStat | undefined {
    // The system would take such a name for a path, a stream or a device.
    if (isImpossibleHere(name)) return undefined;
    const stat = lstatSync(this.#at(name), { bigint: true, throwIfNoEntry: false });
    return stat === undefined ? undefined : statOfNode(stat);
  }

  stat(): EntryStat {
    this.#check();
    return statOfNode(lstatSync(fsPath(this.#path), { bigint: true }));
  }

  names(): ByteString[] {
    this.#check();
    return readdirSync(fsPath(this.#path), 'latin1').map(asByteString);
  }

  capacity(): number {
    const { blocks, bsize } = statfsSync(fsPath(this.#path));
    return blocks * bsize;
  }

  hasRoom(): boolean {
    return hasRoom(statfsSync(fsPath(this.#path)));
  }

  isMountPoint(name: ByteString): boolean {
    const found = this.find(name);
    return found !== undefined && found.dev !== this.#dev;
  }

  takesEntries(): boolean {
    try {
      accessSync(fsPath(this.#path), constants.W_OK);
      return true;
    } catch {
      return false;
    }
  }

  sync(): void {
    this.#check();
    // Windows opens directories but refuses to flush them; NTFS journals directory entries anyway
    if (process.platform === 'win32') return;
    const fd = openSync(fsPath(this.#path), constants.O_RDONLY | NOFOLLOW);
    try {
      syncToDisk(fd);
    } finally {
      closeSync(fd);
    }
  }

  syncFileSystem(): boolean {
    return false;
  }

  openDirectory(name: ByteString): TargetDirectory {
    this.#check();
    return new PathDirectory(this.#join(name));
  }

  createDirectory(name: ByteString, mode: number): void {
    mkdirSync(this.#at(name), { mode });
  }

  createFile(name: ByteString, mode: number): number {
    return openSync(this.#at(name), constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | NOFOLLOW, mode);
  }

  openFile(name: ByteString, access: 'read' | 'read-write'): number {
    const path = this.#at(name);
    if (access === 'read-write') this.#makeWritable(name);
    const fd = openSync(
      path,
      (access === 'read' ? constants.O_RDONLY : constants.O_RDWR) | NOFOLLOW | NONBLOCK,
    );
    // without O_NOFOLLOW a link may have been followed
    const [opened, named] = [fstatSync(fd, { bigint: true }), lstatSync(path, { bigint: true })];
    if (opened.ino === named.ino && opened.dev === named.dev) return fd;
    closeSync(fd);
    throw systemErrorOf('ELOOP', 'it is a link', this.#join(name));
  }

  fstat(fd: number): EntryStat {
    return statOfNode(fstatSync(fd, { bigint: true }));
  }

  setFileTimes(fd: number, mtimeNs: bigint): void {
    const seconds = Number(mtimeNs) / 1e9;
    futimesSync(fd, seconds, seconds);
  }

  closeFile(fd: number): void {
    closeSync(fd);
  }

  rename(from: ByteString, to: ByteString): void {
    const isReadOnly = this.#makeWritable(to);
    try {
      this.#unlessHeld(to, () => renameSync(this.#at(from), this.#at(to)));
    } catch (error) {
      if (isReadOnly) chmodSync(this.#at(to), READ_ONLY);
      throw error;
    }
  }

  renameNew(from: ByteString, to: ByteString): void {
    if (this.find(to) !== undefined) throw nameTaken(to);
    // The system has no call that does both. What comes between the two is replaced.
    this.#unlessHeld(from, () => renameSync(this.#at(from), this.#at(to)));
  }

  removeFile(name: ByteString): void {
    this.#makeWritable(name);
    this.#unlessHeld(name, () => unlinkSync(this.#at(name)));
  }

  removeDirectory(name: ByteString): void {
    this.#makeWritable(name);
    this.#unlessHeld(name, () => rmdirSync(this.#at(name)));
  }

  /**
   * Windows neither replaces nor removes what is read-only.
   * @returns whether it was
   */
  #makeWritable(name: ByteString): boolean {
    const mode = this.find(name)?.mode ?? WRITABLE;
    if ((mode & OWNER_WRITES) !== 0 || (mode & constants.S_IFMT) === constants.S_IFLNK) return false;
    chmodSync(this.#at(name), WRITABLE);
    return true;
  }

  /** @throws EBUSY, in words, when another program does not close the entry in time */
  #unlessHeld(name: ByteString, act: () => void): void {
    try {
      despiteHoldersSync(act);
    } catch (error) {
      if (process.platform !== 'win32' || !mayBeHeld(error) || this.find(name) === undefined) throw error;
      const message =
        'it cannot be replaced: it is open in another program, or this user does not have permission';
      throw Object.assign(new Error(message, { cause: error }), { code: 'EBUSY' });
    }
  }

  createSymlink(target: ByteString, name: ByteString): void {
    symlinkSync(isAscii(target) ? target : Buffer.from(target, 'latin1'), this.#at(name));
  }

  readSymlink(name: ByteString): ByteString {
    return asByteString(readlinkSync(this.#at(name), 'latin1'));
  }

  createHardLink(from: TargetDirectory, fromName: ByteString, name: ByteString): void {
    if (!(from instanceof PathDirectory)) throw new BugError('Two kinds of target directories were mixed');
    linkSync(from.#at(fromName), this.#at(name));
  }

  createNode(name: ByteString): void {
    throw systemErrorOf('ENOSYS', 'this system has no call for it', this.#join(name));
  }

  setOwner(name: ByteString): void {
    throw systemErrorOf('ENOSYS', 'this system has no call for it', this.#join(name));
  }

  setMode(name: ByteString, mode: number): void {
    chmodSync(this.#at(name), mode);
  }

  setTimes(name: ByteString, mtimeNs: bigint): void {
    const seconds = Number(mtimeNs) / 1e9;
    lutimesSync(this.#at(name), seconds, seconds);
  }

  xattrsOf(name: ByteString): XattrTarget {
    return this.#join(name);
  }

  setOwnOwner(): void {
    throw systemErrorOf('ENOSYS', 'this system has no call for it', this.#path);
  }

  setOwnMode(mode: number): void {
    this.#check();
    chmodSync(fsPath(this.#path), mode);
  }

  setOwnTimes(mtimeNs: bigint): void {
    this.#check();
    const seconds = Number(mtimeNs) / 1e9;
    utimesSync(fsPath(this.#path), seconds, seconds);
  }

  get ownXattrs(): XattrTarget {
    return this.#path;
  }

  close(): void {}

  #join(name: ByteString): ByteString {
    return joinBytes(this.#path, name);
  }

  #at(name: ByteString): string | Buffer {
    this.#check();
    return fsPath(this.#join(name));
  }

  #check(): void {
    const stat = lstatSync(fsPath(this.#path), { bigint: true });
    if (stat.isDirectory() && stat.ino === this.#ino && stat.dev === this.#dev) return;
    throw systemErrorOf('ENOTDIR', 'it is no longer the directory that was opened', this.#path);
  }
}

function systemErrorOf(code: string, text: string, path: ByteString): NodeJS.ErrnoException {
  return Object.assign(new Error(text), { code, path: Buffer.from(path, 'latin1').toString('utf8') });
}

export function statOfNode(stat: BigIntStats): EntryStat {
  const { major, minor } = splitDeviceNumber(stat.rdev);
  return {
    mode: Number(stat.mode),
    nlink: Number(stat.nlink),
    uid: Number(stat.uid),
    gid: Number(stat.gid),
    size: Number(stat.size),
    blocks: Number(stat.blocks),
    dev: stat.dev,
    ino: stat.ino,
    mtimeNs: stat.mtimeNs,
    ctimeNs: stat.ctimeNs,
    rdevMajor: major,
    rdevMinor: minor,
  };
}
