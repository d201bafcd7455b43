/**
 * Operations that `node:fs` lacks: on an entry of an open directory (which a restore needs so as never to follow a link
 * that is swapped in), times exact to the nanosecond, device files, and all of it for names that are not UTF-8.
 *
 * All calls are synchronous and apply to the calling thread. Descriptors opened here are closed with `native.close`,
 * those of `fs` with `fs`: a worker thread keeps a list of the latter, warns when any other is closed through `fs`, and
 * when it ends closes what is left on the list, but nothing that was opened here.
 *
 * Measured on Linux x64 (virtual machine with 2 cores, ext4, names of 19 bytes; the kernel's part is included): openat
 * + close 0.77 us (`fs.openSync` + `closeSync` 0.85, below /proc/self/fd 1.6), futimens 0.35 us (`futimesSync` 0.43),
 * utimensat 0.64 us (`lutimesSync` 0.72), lstatat 0.50 us (`lstatSync` with bigint 0.64).
 */
import { constants } from 'node:fs';
import { constants as osConstants, release } from 'node:os';
import { asByteString, type ByteString } from '../base/byte-path.ts';
import { joinDeviceNumber } from './device-number.ts';
import {
  bindListDirectory,
  bindMakeNode,
  bindOpenWithoutLinks,
  bindRenameNew,
  isKernelFrom,
  type ListDirectory,
  type OpenWithoutLinks,
} from './directory-calls.ts';
import { bindStat, type StatCalls } from './entry-stat.ts';
import { cStringWriter, libc, type Libc, libcMissing, systemError } from './libc.ts';
import { O_PATH } from './platform.ts';

/**
 * A name is resolved relative to the directory open as `dirFd`, or to the working directory with `AT_FDCWD`. The kernel
 * follows links in all but the last part of a name, so a caller who must not leave `dirFd` passes single names. Every
 * method throws an error with `code`, `errno` (negative), `syscall` and `path`, as `node:fs` does.
 */
export interface Native extends StatCalls {
  readonly AT_FDCWD: number;
  /**
   * `flags` from `fs.constants`; close-on-exec is added. `mode` only applies with O_CREAT and loses the umask's bits.
   */
  openat(dirFd: number, name: ByteString, flags: number, mode?: number): number;
  /** Opens an absolute path; undefined where the system does not support it. */
  readonly openWithoutLinks: OpenWithoutLinks | undefined;
  close(fd: number): void;
  mkdirat(dirFd: number, name: ByteString, mode: number): void;
  unlinkat(dirFd: number, name: ByteString, options?: { readonly directory?: boolean }): void;
  renameat(fromDirFd: number, from: ByteString, toDirFd: number, to: ByteString): void;
  /**
   * Renames within a directory. Throws EEXIST when the new name is taken, and EINVAL, ENOSYS or ENOTSUP where the
   * system or the file system does not support it.
   */
  renameNew(dirFd: number, from: ByteString, to: ByteString): void;
  /** Whether this process may create entries in an open directory and access them. */
  takesEntries(dirFd: number): boolean;
  symlinkat(target: ByteString, dirFd: number, name: ByteString): void;
  /** Does not follow `from`: a link itself gets the new name. */
  linkat(fromDirFd: number, from: ByteString, toDirFd: number, to: ByteString): void;
  /** A link's target, however long. */
  readlinkat(dirFd: number, name: ByteString): ByteString;
  /**
   * `mode` holds the type (`S_IFIFO`, `S_IFCHR`, ...) and permissions, which lose the umask's bits. `major` and `minor`
   * only apply to devices. Throws ENOSYS on macOS before 13.
   */
  mknodat(dirFd: number, name: ByteString, mode: number, major: number, minor: number): void;
  /** Does not follow links. */
  fchownat(dirFd: number, name: ByteString, uid: number, gid: number): void;
  /**
   * Does not follow links. Linux has no permissions on links, for which it throws ENOTSUP. Without /proc it works only
   * for readable files and directories.
   */
  fchmodat(dirFd: number, name: ByteString, mode: number): void;
  /** Does not follow links. Throws a RangeError for times whose seconds exceed 64 bits. */
  utimensat(dirFd: number, name: ByteString, atimeNs: bigint, mtimeNs: bigint): void;
  futimens(fd: number, atimeNs: bigint, mtimeNs: bigint): void;
  /**
   * Returns once everything written to the file system of an open directory is on disk, whoever wrote it; throws when a
   * part could not be written. Undefined where the system has no such call (macOS), or one that does not report
   * failures (Linux before 5.8).
   */
  readonly syncFileSystem: ((fd: number) => void) | undefined;
  /**
   * Names in an open directory, without `.` and `..`, in no particular order. The descriptor's own position does not
   * move.
   */
  readonly listDirectory: ListDirectory;
}

function bindNative(libc: Libc): Native {
  const { AT_FDCWD, AT_SYMLINK_NOFOLLOW, AT_REMOVEDIR, O_CLOEXEC, system } = libc.platform;
  const writeName = cStringWriter(libc);
  const writeSecondName = cStringWriter(libc);
  const writeTimes = timesWriter(libc);

  // declared as the variadic function it is: on macOS for arm64 variadic arguments are passed on the stack
  const openat = libc.bind('openat', 'int', ['int', 'address', 'int', '...']);
  const close = libc.bind('close', 'int', ['int']);
  const mkdirat = libc.bind('mkdirat', 'int', ['int', 'address', 'uint32_t']);
  const unlinkat = libc.bind('unlinkat', 'int', ['int', 'address', 'int']);
  const renameat = libc.bind('renameat', 'int', ['int', 'address', 'int', 'address']);
  const rename = bindRenameNew(libc);
  const faccessat = libc.bind('faccessat', 'int', ['int', 'address', 'int', 'int']);
  const linkat = libc.bind('linkat', 'int', ['int', 'address', 'int', 'address', 'int']);
  const symlinkat = libc.bind('symlinkat', 'int', ['address', 'int', 'address']);
  const readlinkat = libc.bind('readlinkat', 'int64_t', ['int', 'address', 'address', 'size_t']);
  const fchownat = libc.bind('fchownat', 'int', ['int', 'address', 'uint32_t', 'uint32_t', 'int']);
  const fchmodat = libc.bind('fchmodat', 'int', ['int', 'address', 'uint32_t', 'int']);
  const fchmod = libc.bind('fchmod', 'int', ['int', 'uint32_t']);
  const chmod = libc.bind('chmod', 'int', ['address', 'uint32_t']);
  const utimensat = libc.bind('utimensat', 'int', ['int', 'address', 'address', 'int']);
  const futimens = libc.bind('futimens', 'int', ['int', 'address']);
  const tellsOfLosses = system === 'linux' && isKernelFrom(release(), 5, 8);
  const syncfs = tellsOfLosses && libc.has('syncfs') ? libc.bind('syncfs', 'int', ['int']) : undefined;
  const makeNode = bindMakeNode(libc);
  const stat = bindStat(libc);
  let linkTarget = libc.memory(libc.platform.PATH_MAX);

  function open(dirFd: number, name: ByteString, flags: number, mode = 0): number {
    for (;;) {
      const fd = openat(dirFd, writeName(name, 'openat'), flags | O_CLOEXEC, 'int', mode);
      if (fd >= 0) return fd;
      const errno = libc.errno();
      if (errno !== osConstants.errno.EINTR) throw systemError('openat', errno, name);
    }
  }

  /**
   * Linux before 6.6 always follows links in fchmodat, so the entry is opened without following; glibc does the same
   * from 2.32 on.
   */
  function chmodByDescriptor(dirFd: number, name: ByteString, mode: number): void {
    const fd = open(dirFd, name, O_PATH | constants.O_NOFOLLOW);
    try {
      const isLink = (stat.fstat(fd).mode & constants.S_IFMT) === constants.S_IFLNK;
      if (isLink) throw systemError('fchmodat', osConstants.errno.ENOTSUP, name);
      const path = writeName(asByteString(`/proc/self/fd/${fd}`), 'fchmodat');
      if (chmod(path, mode) >= 0) return;
      const errno = libc.errno();
      if (errno !== osConstants.errno.ENOENT) throw systemError('fchmodat', errno, name);
    } finally {
      close(fd);
    }
    // /proc is not mounted
    chmodOpened(dirFd, name, mode);
  }

  /** Only for files and directories, as opening anything else may have side effects. */
  function chmodOpened(dirFd: number, name: ByteString, mode: number): void {
    const type = stat.lstatat(dirFd, name).mode & constants.S_IFMT;
    if (type !== constants.S_IFREG && type !== constants.S_IFDIR)
      throw systemError('fchmodat', osConstants.errno.ENOSYS, name);
    const fd = open(dirFd, name, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      if (fchmod(fd, mode) < 0) throw systemError('fchmod', libc.errno(), name);
    } finally {
      close(fd);
    }
  }

  return {
    AT_FDCWD,
    ...stat,
    openat: open,
    openWithoutLinks: bindOpenWithoutLinks(libc),
    listDirectory: bindListDirectory(libc, open),
    close(fd) {
      if (close(fd) >= 0) return;
      const errno = libc.errno();
      // the descriptor is closed nevertheless
      if (errno !== osConstants.errno.EINTR) throw systemError('close', errno);
    },
    mkdirat(dirFd, name, mode) {
      if (mkdirat(dirFd, writeName(name, 'mkdirat'), mode) < 0) {
        throw systemError('mkdirat', libc.errno(), name);
      }
    },
    unlinkat(dirFd, name, { directory = false } = {}) {
      if (unlinkat(dirFd, writeName(name, 'unlinkat'), directory ? AT_REMOVEDIR : 0) < 0) {
        throw systemError('unlinkat', libc.errno(), name);
      }
    },
    renameat(fromDirFd, from, toDirFd, to) {
      const [source, target] = [writeName(from, 'renameat'), writeSecondName(to, 'renameat')];
      if (renameat(fromDirFd, source, toDirFd, target) < 0) {
        throw systemError('renameat', libc.errno(), from, to);
      }
    },
    renameNew(dirFd, from, to) {
      const [source, target] = [writeName(from, 'renameat2'), writeSecondName(to, 'renameat2')];
      const errno = rename(dirFd, source, target);
      if (errno !== 0) throw systemError('renameat2', errno, from, to);
    },
    takesEntries(dirFd) {
      const itself = writeName(asByteString('.'), 'faccessat');
      return faccessat(dirFd, itself, constants.W_OK | constants.X_OK, 0) === 0;
    },
    symlinkat(target, dirFd, name) {
      const [content, link] = [writeName(target, 'symlinkat'), writeSecondName(name, 'symlinkat')];
      if (symlinkat(content, dirFd, link) < 0) throw systemError('symlinkat', libc.errno(), target, name);
    },
    linkat(fromDirFd, from, toDirFd, to) {
      const [source, target] = [writeName(from, 'linkat'), writeSecondName(to, 'linkat')];
      if (linkat(fromDirFd, source, toDirFd, target, 0) < 0) {
        throw systemError('linkat', libc.errno(), from, to);
      }
    },
    readlinkat(dirFd, name) {
      const path = writeName(name, 'readlinkat');
      for (;;) {
        const length = readlinkat(dirFd, path, linkTarget.address, linkTarget.bytes.length);
        if (length < 0) throw systemError('readlinkat', libc.errno(), name);
        if (length < linkTarget.bytes.length)
          return asByteString(linkTarget.bytes.toString('latin1', 0, length));
        // a full buffer may have cut the target short
        linkTarget = libc.memory(linkTarget.bytes.length * 2);
      }
    },
    mknodat(dirFd, name, mode, major, minor) {
      const device = joinDeviceNumber({ major, minor }, system);
      const errno = makeNode(dirFd, writeName(name, 'mknodat'), mode, device);
      if (errno !== 0) throw systemError('mknodat', errno, name);
    },
    fchownat(dirFd, name, uid, gid) {
      if (fchownat(dirFd, writeName(name, 'fchownat'), uid, gid, AT_SYMLINK_NOFOLLOW) < 0) {
        throw systemError('fchownat', libc.errno(), name);
      }
    },
    fchmodat(dirFd, name, mode) {
      if (system === 'linux') {
        chmodByDescriptor(dirFd, name, mode);
      } else if (fchmodat(dirFd, writeName(name, 'fchmodat'), mode, AT_SYMLINK_NOFOLLOW) < 0) {
        throw systemError('fchmodat', libc.errno(), name);
      }
    },
    utimensat(dirFd, name, atimeNs, mtimeNs) {
      const times = writeTimes(atimeNs, mtimeNs);
      if (utimensat(dirFd, writeName(name, 'utimensat'), times, AT_SYMLINK_NOFOLLOW) < 0) {
        throw systemError('utimensat', libc.errno(), name);
      }
    },
    futimens(fd, atimeNs, mtimeNs) {
      if (futimens(fd, writeTimes(atimeNs, mtimeNs)) < 0) throw systemError('futimens', libc.errno());
    },
    syncFileSystem:
      syncfs &&
      ((fd) => {
        if (syncfs(fd) < 0) throw systemError('syncfs', libc.errno());
      }),
  };
}

function openNative(): Native | string {
  if (libc === null) return libcMissing;
  try {
    return bindNative(libc);
  } catch (error) {
    return `the C library lacks a function: ${error instanceof Error ? error.message : String(error)}`;
  }
}

const opened = openNative();

/** Null on Windows and where koffi has no build: callers then use `node:fs` and report what it cannot preserve. */
export const native: Native | null = typeof opened === 'string' ? null : opened;
/** For messages: why `native` is null; empty when it is available. */
export const nativeMissing: string = typeof opened === 'string' ? opened : '';

const nsPerSecond = 1_000_000_000n;

export interface TimeSpec {
  readonly seconds: bigint;
  /** 0 to 999,999,999, also for times before 1970. */
  readonly nanoseconds: bigint;
}

/**
 * Converts file times: nanoseconds since 1970 (negative before) and the kernel's `struct timespec` pairs. Throws a
 * RangeError when the seconds do not fit 64 bits.
 */
export function splitTime(ns: bigint): TimeSpec {
  let seconds = ns / nsPerSecond;
  let nanoseconds = ns % nsPerSecond;
  if (nanoseconds < 0n) {
    seconds -= 1n;
    nanoseconds += nsPerSecond;
  }
  if (BigInt.asIntN(64, seconds) !== seconds) throw new RangeError(`no file can have the time ${ns} ns`);
  return { seconds, nanoseconds };
}

/**
 * Creates a function that writes one `struct timespec[2]`, access time first, and returns its address, valid until the
 * next call.
 */
function timesWriter(libc: Libc): (atimeNs: bigint, mtimeNs: bigint) => number {
  const { bytes, address } = libc.memory(32);
  const fields = new BigInt64Array(bytes.buffer, bytes.byteOffset, 4);
  return (atimeNs, mtimeNs) => {
    const atime = splitTime(atimeNs);
    const mtime = splitTime(mtimeNs);
    fields[0] = atime.seconds;
    fields[1] = atime.nanoseconds;
    fields[2] = mtime.seconds;
    fields[3] = mtime.nanoseconds;
    return address;
  };
}
