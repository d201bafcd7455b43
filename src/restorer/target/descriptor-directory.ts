import { constants, fchmodSync, fchownSync, statfsSync, type StatsFs } from 'node:fs';
import type { ByteString } from '../../base/byte-path.ts';
import { BugError, errnoOf } from '../../base/errors.ts';
import type { EntryStat } from '../../system/entry-stat.ts';
import type { Native } from '../../system/native.ts';
import type { XattrTarget } from '../../system/xattr.ts';
import { hasRoom } from './entry-failure.ts';
import { syncToDisk } from './file-io.ts';
import { nameTaken, type TargetDirectory } from './target-directory.ts';

const OPEN_DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const CREATE = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
/** Flags for opening an existing file: a FIFO put in its place must not block the restore. */
const OPEN_EXISTING = constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/** Errors of systems and file systems that cannot rename without replacing. */
const NO_RENAME_NEW: ReadonlySet<string> = new Set(['EINVAL', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP']);

/** A directory held by its descriptor. Every call is relative to it. */
export class DescriptorDirectory implements TargetDirectory {
  readonly #native: Native;
  readonly #fd: number;

  constructor(native: Native, fd: number) {
    this.#native = native;
    this.#fd = fd;
  }

  /** @param path absolute; links in it are followed, since it is the path that the user named */
  static open(native: Native, path: ByteString): DescriptorDirectory {
    return new DescriptorDirectory(
      native,
      native.openat(native.AT_FDCWD, path, constants.O_RDONLY | constants.O_DIRECTORY),
    );
  }

  /** The descriptor, for other threads of this process, which must not close it. */
  get fd(): number {
    return this.#fd;
  }

  find(name: ByteString): EntryStat | undefined {
    return this.#native.findEntry(this.#fd, name);
  }

  stat(): EntryStat {
    return this.#native.fstat(this.#fd);
  }

  names(): ByteString[] {
    return this.#native.listDirectory(this.#fd);
  }

  capacity(): number {
    const figures = this.#figures();
    return figures === undefined ? Number.POSITIVE_INFINITY : figures.blocks * figures.bsize;
  }

  hasRoom(): boolean {
    const figures = this.#figures();
    return figures !== undefined && hasRoom(figures);
  }

  /** Figures of its file system; undefined where the descriptor's path is not available: outside Linux, and without /proc. */
  #figures(): StatsFs | undefined {
    if (process.platform !== 'linux') return undefined;
    try {
      return statfsSync(`/proc/self/fd/${this.#fd}`);
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error;
      return undefined;
    }
  }

  isMountPoint(name: ByteString): boolean {
    const found = this.find(name);
    if (found === undefined) return false;
    return found.dev !== this.stat().dev || this.#native.isMountRoot(this.#fd, name);
  }

  takesEntries(): boolean {
    return this.#native.takesEntries(this.#fd);
  }

  sync(): void {
    syncToDisk(this.#fd);
  }

  syncFileSystem(): boolean {
    if (this.#native.syncFileSystem === undefined) return false;
    this.#native.syncFileSystem(this.#fd);
    return true;
  }

  openDirectory(name: ByteString): TargetDirectory {
    return new DescriptorDirectory(this.#native, this.#native.openat(this.#fd, name, OPEN_DIRECTORY));
  }

  createDirectory(name: ByteString, mode: number): void {
    this.#native.mkdirat(this.#fd, name, mode);
  }

  createFile(name: ByteString, mode: number): number {
    return this.#native.openat(this.#fd, name, CREATE, mode);
  }

  openFile(name: ByteString, access: 'read' | 'read-write'): number {
    const flags = access === 'read' ? constants.O_RDONLY : constants.O_RDWR;
    return this.#native.openat(this.#fd, name, flags | OPEN_EXISTING);
  }

  fstat(fd: number): EntryStat {
    return this.#native.fstat(fd);
  }

  setFileTimes(fd: number, mtimeNs: bigint): void {
    this.#native.futimens(fd, mtimeNs, mtimeNs);
  }

  closeFile(fd: number): void {
    this.#native.close(fd);
  }

  rename(from: ByteString, to: ByteString): void {
    this.#native.renameat(this.#fd, from, this.#fd, to);
  }

  renameNew(from: ByteString, to: ByteString): void {
    try {
      this.#native.renameNew(this.#fd, from, to);
    } catch (error) {
      if (!NO_RENAME_NEW.has(errnoOf(error) ?? '')) throw error;
      if (this.find(to) !== undefined) throw nameTaken(to);
      this.rename(from, to);
    }
  }

  removeFile(name: ByteString): void {
    this.#native.unlinkat(this.#fd, name);
  }

  removeDirectory(name: ByteString): void {
    this.#native.unlinkat(this.#fd, name, { directory: true });
  }

  createSymlink(target: ByteString, name: ByteString): void {
    this.#native.symlinkat(target, this.#fd, name);
  }

  readSymlink(name: ByteString): ByteString {
    return this.#native.readlinkat(this.#fd, name);
  }

  createHardLink(from: TargetDirectory, fromName: ByteString, name: ByteString): void {
    if (!(from instanceof DescriptorDirectory))
      throw new BugError('Two kinds of target directories were mixed');
    this.#native.linkat(from.#fd, fromName, this.#fd, name);
  }

  createNode(name: ByteString, mode: number, major: number, minor: number): void {
    this.#native.mknodat(this.#fd, name, mode, major, minor);
  }

  setOwner(name: ByteString, uid: number, gid: number): void {
    this.#native.fchownat(this.#fd, name, uid, gid);
  }

  setMode(name: ByteString, mode: number): void {
    this.#native.fchmodat(this.#fd, name, mode);
  }

  setTimes(name: ByteString, mtimeNs: bigint): void {
    this.#native.utimensat(this.#fd, name, mtimeNs, mtimeNs);
  }

  xattrsOf(name: ByteString): XattrTarget {
    return { dirFd: this.#fd, name };
  }

  setOwnOwner(uid: number, gid: number): void {
    fchownSync(this.#fd, uid, gid);
  }

  setOwnMode(mode: number): void {
    fchmodSync(this.#fd, mode);
  }

  setOwnTimes(mtimeNs: bigint): void {
    this.#native.futimens(this.#fd, mtimeNs, mtimeNs);
  }

  get ownXattrs(): XattrTarget {
    return this.#fd;
  }

  close(): void {
    this.#native.close(this.#fd);
  }
}
