import type { ByteString } from '../base/byte-path.ts';
import type { EntryStat } from '../system/entry-stat.ts';
import type { XattrTarget } from '../system/xattr.ts';

/**
 * One directory of the target, held so that nothing swapped in above it can lead elsewhere. Names are single names, and
 * a link with such a name is never followed. Every method is synchronous and throws system errors with `code`.
 */
export interface TargetDirectory {
  /** Undefined when there is no such entry. */
  find(name: ByteString): EntryStat | undefined;
  stat(): EntryStat;
  /** In no order, without `.` and `..`. */
  names(): ByteString[];
  /** Bytes that the file system it lies on can hold in all; infinite where the system does not tell. */
  capacity(): number;
  /** Whether the file system it lies on has free blocks and inodes; false where the system does not tell. */
  hasRoom(): boolean;
  /** Whether a directory in it is where another file system, or another part of one, is mounted. */
  isMountPoint(name: ByteString): boolean;
  /** False when this process may not make or rename anything in it, as far as the system tells. */
  takesEntries(): boolean;
  /** Returns when its names and its own metadata are on disk. */
  sync(): void;
  /** Returns when all of its file system is on disk; false where the system has no such call. */
  syncFileSystem(): boolean;

  openDirectory(name: ByteString): TargetDirectory;
  /** Fails with EEXIST when the name is taken; `mode` loses the umask's bits. */
  createDirectory(name: ByteString, mode: number): void;

  /** A new file open for writing; fails with EEXIST when the name is taken. */
  createFile(name: ByteString, mode: number): number;
  /** An existing file; anything else than a regular file opens too, or fails: look at it with `fstat`. */
  openFile(name: ByteString, access: 'read' | 'read-write'): number;
  fstat(fd: number): EntryStat;
  setFileTimes(fd: number, mtimeNs: bigint): void;
  closeFile(fd: number): void;

  rename(from: ByteString, to: ByteString): void;
  removeFile(name: ByteString): void;
  /** Fails with ENOTEMPTY. */
  removeDirectory(name: ByteString): void;

  createSymlink(target: ByteString, name: ByteString): void;
  readSymlink(name: ByteString): ByteString;
  /** `name` here becomes one more name of `fromName` in `from`, which may be a link itself. */
  createHardLink(from: TargetDirectory, fromName: ByteString, name: ByteString): void;
  /** `mode` holds the type; ENOSYS where there is no such call. */
  createNode(name: ByteString, mode: number, major: number, minor: number): void;

  setOwner(name: ByteString, uid: number, gid: number): void;
  setMode(name: ByteString, mode: number): void;
  setTimes(name: ByteString, mtimeNs: bigint): void;
  xattrsOf(name: ByteString): XattrTarget;

  /** Metadata of the directory itself. */
  setOwnOwner(uid: number, gid: number): void;
  setOwnMode(mode: number): void;
  setOwnTimes(mtimeNs: bigint): void;
  readonly ownXattrs: XattrTarget;

  close(): void;
}

/**
 * What is not finished carries these permissions, which nothing that is finished has a use for: a restore that was
 * killed leaves them behind, and the next one knows what it still has to do whatever the overwrite mode. Only the owner
 * can reach it meanwhile, who has to read it too: several threads open a file, and what stands is compared.
 */
export const UNFINISHED_FILE = 0o1600;
export const UNFINISHED_DIRECTORY = 0o1700;
/** What earlier versions left behind: only root could open it again for reading. */
const UNFINISHED_FILE_BEFORE = 0o1200;

export function isUnfinished({ mode }: Pick<EntryStat, 'mode'>): boolean {
  const type = mode & 0o170000;
  const bits = mode & 0o7777;
  if (type === 0o040000) return bits === UNFINISHED_DIRECTORY;
  return type === 0o100000 && (bits === UNFINISHED_FILE || bits === UNFINISHED_FILE_BEFORE);
}
