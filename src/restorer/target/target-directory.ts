import { textOfBytes, type ByteString } from '../../base/byte-path.ts';
import type { EntryStat } from '../../system/entry-stat.ts';
import type { XattrTarget } from '../../system/xattr.ts';

/**
 * One directory of the target, held so that nothing swapped in above it can lead elsewhere. Names are single path components,
 * and a link with such a name is never followed. Every method is synchronous and throws system errors with `code`.
 */
export interface TargetDirectory {
  /** Undefined when there is no such entry. */
  find(name: ByteString): EntryStat | undefined;
  stat(): EntryStat;
  /** In no order, without `.` and `..`. */
  names(): ByteString[];
  /** Total bytes that its file system can hold; infinite where the system does not tell. */
  capacity(): number;
  /** Whether its file system has free blocks and inodes; false where the system does not tell. */
  hasRoom(): boolean;
  /** Whether another file system, or another part of one, is mounted at a directory in it. */
  isMountPoint(name: ByteString): boolean;
  /** False when this process may not create or rename anything in it, as far as the system tells. */
  takesEntries(): boolean;
  /** Returns when its names and its own metadata are on disk. */
  sync(): void;
  /** Returns when all of its file system is on disk; false where the system has no such call. */
  syncFileSystem(): boolean;

  openDirectory(name: ByteString): TargetDirectory;
  /** Fails with EEXIST when the name is taken; `mode` loses the umask's bits. */
  createDirectory(name: ByteString, mode: number): void;

  /** Creates a file and opens it for writing; fails with EEXIST when the name is taken. */
  createFile(name: ByteString, mode: number): number;
  /** Opens an existing file. Anything else may open too, or fail: check with `fstat`. */
  openFile(name: ByteString, access: 'read' | 'read-write'): number;
  fstat(fd: number): EntryStat;
  setFileTimes(fd: number, mtimeNs: bigint): void;
  closeFile(fd: number): void;

  rename(from: ByteString, to: ByteString): void;
  /** Fails with EEXIST when the name is taken. */
  renameNew(from: ByteString, to: ByteString): void;
  removeFile(name: ByteString): void;
  /** Fails with ENOTEMPTY. */
  removeDirectory(name: ByteString): void;

  createSymlink(target: ByteString, name: ByteString): void;
  readSymlink(name: ByteString): ByteString;
  /** Makes `name` in this directory another name of `fromName` in `from`, which may itself be a link. */
  createHardLink(from: TargetDirectory, fromName: ByteString, name: ByteString): void;
  /** `mode` holds the type; ENOSYS where there is no such call. */
  createNode(name: ByteString, mode: number, major: number, minor: number): void;

  setOwner(name: ByteString, uid: number, gid: number): void;
  setMode(name: ByteString, mode: number): void;
  setTimes(name: ByteString, mtimeNs: bigint): void;
  xattrsOf(name: ByteString): XattrTarget;

  /** The following set the metadata of the directory itself. */
  setOwnOwner(uid: number, gid: number): void;
  setOwnMode(mode: number): void;
  setOwnTimes(mtimeNs: bigint): void;
  readonly ownXattrs: XattrTarget;

  close(): void;
}

/**
 * The permissions of unfinished entries. Only the owner has access, who also needs to read: several threads open a
 * file, and existing ones are compared. The mode is no proof, as a user's file may have the same; only what a restore
 * has noted as unfinished counts as such (`temporary-names.ts`).
 */
export const UNFINISHED_FILE = 0o1600;
export const UNFINISHED_DIRECTORY = 0o1700;

/** Whether an entry has the permissions of unfinished ones. */
export function looksUnfinished({ mode }: Pick<EntryStat, 'mode'>): boolean {
  const type = mode & 0o170000;
  const bits = mode & 0o7777;
  if (type === 0o040000) return bits === UNFINISHED_DIRECTORY;
  return type === 0o100000 && bits === UNFINISHED_FILE;
}

/** The error that a system gives for a name that is taken. */
export function nameTaken(name: ByteString): Error {
  const message = `EEXIST: file already exists, rename '${textOfBytes(name)}'`;
  return Object.assign(new Error(message), { code: 'EEXIST' });
}
