import {
  accessSync,
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
  type BigIntStats,
} from 'node:fs';
import { asByteString, fsPath, type ByteString } from '../../base/byte-path.ts';
import { BugError } from '../../base/errors.ts';
import { splitDeviceNumber } from '../../system/device-number.ts';
import type { EntryStat } from '../../system/entry-stat.ts';
import type { XattrTarget } from '../../system/xattr.ts';
import { hasRoom } from './full-target.ts';
import { syncToDisk } from './sync-to-disk.ts';
import { nameTaken, type TargetDirectory } from './target-directory.ts';

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
    const stat = lstatSync(pathOnly(path), { bigint: true });
    if (!stat.isDirectory()) throw systemErrorOf('ENOTDIR', 'not a directory', path);
    this.#path = path;
    this.#dev = stat.dev;
    this.#ino = stat.ino;
  }

  find(name: ByteString): EntryStat | undefined {
    const stat = lstatSync(this.#at(name), { bigint: true, throwIfNoEntry: false });
    return stat === undefined ? undefined : fromNode(stat);
  }

  stat(): EntryStat {
    this.#check();
    return fromNode(lstatSync(pathOnly(this.#path), { bigint: true }));
  }

  names(): ByteString[] {
    this.#check();
    return readdirSync(pathOnly(this.#path), 'latin1').map(asByteString);
  }

  capacity(): number {
    const { blocks, bsize } = statfsSync(pathOnly(this.#path));
    return blocks * bsize;
  }

  hasRoom(): boolean {
    return hasRoom(statfsSync(pathOnly(this.#path)));
  }

  isMountPoint(name: ByteString): boolean {
    const found = this.find(name);
    return found !== undefined && found.dev !== this.#dev;
  }

  takesEntries(): boolean {
    try {
      accessSync(pathOnly(this.#path), constants.W_OK);
      return true;
    } catch {
      return false;
    }
  }

  sync(): void {
    this.#check();
    // Windows opens directories but refuses to flush them; NTFS journals directory entries anyway
    if (process.platform === 'win32') return;
    const fd = openSync(pathOnly(this.#path), constants.O_RDONLY | NOFOLLOW);
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
    return fromNode(fstatSync(fd, { bigint: true }));
  }

  setFileTimes(fd: number, mtimeNs: bigint): void {
    const seconds = Number(mtimeNs) / 1e9;
    futimesSync(fd, seconds, seconds);
  }

  closeFile(fd: number): void {
    closeSync(fd);
  }

  rename(from: ByteString, to: ByteString): void {
    renameSync(this.#at(from), this.#at(to));
  }

  renameNew(from: ByteString, to: ByteString): void {
    if (this.find(to) !== undefined) throw nameTaken(to);
    this.rename(from, to);
  }

  removeFile(name: ByteString): void {
    unlinkSync(this.#at(name));
  }

  removeDirectory(name: ByteString): void {
    rmdirSync(this.#at(name));
  }

  createSymlink(target: ByteString, name: ByteString): void {
    symlinkSync(fsPath(target), this.#at(name));
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
    chmodSync(pathOnly(this.#path), mode);
  }

  setOwnTimes(mtimeNs: bigint): void {
    this.#check();
    const seconds = Number(mtimeNs) / 1e9;
    utimesSync(pathOnly(this.#path), seconds, seconds);
  }

  get ownXattrs(): XattrTarget {
    return this.#path;
  }

  close(): void {}

  #join(name: ByteString): ByteString {
    return asByteString(this.#path.endsWith('/') ? `${this.#path}${name}` : `${this.#path}/${name}`);
  }

  #at(name: ByteString): string | Buffer {
    this.#check();
    return pathOnly(this.#join(name));
  }

  #check(): void {
    const stat = lstatSync(pathOnly(this.#path), { bigint: true });
    if (stat.isDirectory() && stat.ino === this.#ino && stat.dev === this.#dev) return;
    throw systemErrorOf('ENOTDIR', 'it is no longer the directory that was opened', this.#path);
  }
}

/** Windows takes paths as text only: names that are not UTF-8 cannot exist there. */
function pathOnly(path: ByteString): string | Buffer {
  return process.platform === 'win32' ? Buffer.from(path, 'latin1').toString('utf8') : fsPath(path);
}

function systemErrorOf(code: string, text: string, path: ByteString): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: ${text}, '${Buffer.from(path, 'latin1').toString('utf8')}'`), {
    code,
  });
}

function fromNode(stat: BigIntStats): EntryStat {
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
