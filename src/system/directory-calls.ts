/** Calls on the entries of an open directory that `node:fs` lacks, as the C libraries of the systems have them. */
import { constants } from 'node:fs';
import { constants as systemConstants } from 'node:os';
import { asByteString, type ByteString } from '../base/byte-path.ts';
import { cStringWriter, type Libc, systemError } from './libc.ts';
import { O_PATH, RESOLVE_NO_SYMLINKS, SYS_OPENAT2 } from './platform.ts';

/** @param cutShort called with the error when the remaining names cannot be read; without it the error is thrown */
export type ListDirectory = (dirFd: number, cutShort?: (error: Error) => void) => ByteString[];

/** NAME_MAX is 255 bytes; macOS reserves 1,024. */
const longestName = 1024;

/**
 * Lists the names in an open directory. Node accepts only paths, and macOS's /dev/fd provides those for files alone.
 */
export function bindListDirectory(
  libc: Libc,
  openat: (dirFd: number, name: ByteString, flags: number) => number,
): ListDirectory {
  const { inode64Suffix, direntName } = libc.platform;
  const fdopendir = libc.bind(`fdopendir${inode64Suffix}`, 'address', ['int']);
  const readdir = libc.bind(`readdir${inode64Suffix}`, 'address', ['address']);
  const closedir = libc.bind('closedir', 'int', ['address']);
  const close = libc.bind('close', 'int', ['int']);
  // copies up to and including the first byte equal to `last`; returns the address after it
  const memccpy = libc.bind('memccpy', 'address', ['address', 'address', 'int', 'size_t']);
  const name = libc.memory(longestName);

  return (dirFd, cutShort) => {
    // opened again, since the stream takes over its descriptor and moves its position
    const fd = openat(dirFd, asByteString('.'), constants.O_RDONLY | constants.O_DIRECTORY);
    const stream = fdopendir(fd);
    if (stream === 0) {
      const errno = libc.errno();
      close(fd);
      throw systemError('fdopendir', errno);
    }
    const names: ByteString[] = [];
    try {
      for (;;) {
        libc.clearErrno();
        const entry = readdir(stream);
        if (entry === 0) break;
        const end = memccpy(name.address, entry + direntName, 0, longestName);
        const text = name.bytes.toString('latin1', 0, end - name.address - 1);
        if (text !== '.' && text !== '..') names.push(asByteString(text));
      }
      const errno = libc.errno();
      if (errno !== 0) {
        const error = systemError('readdir', errno);
        if (cutShort === undefined) throw error;
        cutShort(error);
      }
    } finally {
      closedir(stream);
    }
    return names;
  };
}

/** Throws ELOOP when a part of the path is a link. `flags` from `fs.constants`; close-on-exec is added. */
export type OpenWithoutLinks = (path: ByteString, flags: number) => number;

/** Size of `struct open_how` in linux/openat2.h: flags, mode and resolve flags, 64 bits each. */
const HOW_BYTES = 24;

/**
 * Opens a path without following a link in any part of it; `node:fs` can only exclude links for the last part.
 * Undefined where the call is not available: macOS, Linux before 5.6, and where a seccomp filter forbids it.
 */
export function bindOpenWithoutLinks(libc: Libc): OpenWithoutLinks | undefined {
  const { AT_FDCWD, O_CLOEXEC, system } = libc.platform;
  if (system !== 'linux') return undefined;
  // no C library had a function for it before 2024; on Linux variadic integers are passed like any others
  const syscall = libc.bind('syscall', 'int64_t', ['int64_t', 'int', 'address', 'address', 'size_t']);
  const writePath = cStringWriter(libc);
  const how = libc.memory(HOW_BYTES);
  how.bytes.fill(0);
  how.bytes.writeUInt32LE(RESOLVE_NO_SYMLINKS, 16);
  const flagWords = new Uint32Array(how.bytes.buffer, how.bytes.byteOffset, 1);

  const open: OpenWithoutLinks = (path, flags) => {
    const address = writePath(path, 'openat2');
    flagWords[0] = flags | O_CLOEXEC;
    for (;;) {
      const fd = syscall(SYS_OPENAT2, AT_FDCWD, address, how.address, HOW_BYTES);
      if (fd >= 0) return fd;
      const errno = libc.errno();
      if (errno !== systemConstants.errno.EINTR) throw systemError('openat2', errno, path);
    }
  };
  return answers(libc, open) ? open : undefined;
}

function answers(libc: Libc, open: OpenWithoutLinks): boolean {
  try {
    libc.bind('close', 'int', ['int'])(open(asByteString('/'), O_PATH));
    return true;
  } catch {
    return false;
  }
}

/** `RENAME_NOREPLACE` of linux/fs.h, `RENAME_EXCL` of macOS' sys/stdio.h. */
const NOREPLACE = { linux: 1, darwin: 4 } as const;

/**
 * A rename that never replaces an existing name. The system checks and renames in one step, whatever other programs do.
 * @returns errno, 0 for success. @param from and @param to addresses of the names
 */
export function bindRenameNew(libc: Libc): (dirFd: number, from: number, to: number) => number {
  const isLinux = libc.platform.system === 'linux';
  const name = isLinux ? 'renameat2' : 'renameatx_np';
  if (!libc.has(name)) return () => systemConstants.errno.ENOSYS;
  const rename = libc.bind(name, 'int', ['int', 'address', 'int', 'address', 'uint32_t']);
  const flags = isLinux ? NOREPLACE.linux : NOREPLACE.darwin;
  return (dirFd, from, to) => (rename(dirFd, from, dirFd, to, flags) < 0 ? libc.errno() : 0);
}

/** Returns the errno, or 0. `name` is an address. */
export type MakeNode = (dirFd: number, name: number, mode: number, device: bigint) => number;

/** Binds `mknodat`, under the name that this C library has for it. */
export function bindMakeNode(libc: Libc): MakeNode {
  if (libc.has('mknodat')) {
    const deviceType = libc.platform.system === 'linux' ? 'uint64_t' : 'uint32_t';
    const mknodat = libc.bind('mknodat', 'int', ['int', 'address', 'uint32_t', deviceType]);
    return (dirFd, name, mode, device) => (mknodat(dirFd, name, mode, device) < 0 ? libc.errno() : 0);
  }
  // glibc before 2.33 has mknodat only as an inline function around this one; 0 is the version that its headers pass
  if (libc.platform.system === 'linux' && libc.has('__xmknodat')) {
    const xmknodat = libc.bind('__xmknodat', 'int', ['int', 'int', 'address', 'uint32_t', 'address']);
    const { bytes, address } = libc.memory(8);
    return (dirFd, name, mode, device) => {
      bytes.writeBigUInt64LE(device);
      return xmknodat(0, dirFd, name, mode, address) < 0 ? libc.errno() : 0;
    };
  }
  return () => systemConstants.errno.ENOSYS;
}

/**
 * Whether a kernel release such as `5.8.0-63-generic` or `6.1` is of the given version or newer. False for a release
 * that is no version. Features that a distribution has backported to an older kernel do not show in it.
 */
export function isKernelFrom(release: string, major: number, minor: number): boolean {
  const [, ofMajor, ofMinor] = /^(\d+)\.(\d+)/.exec(release) ?? [];
  if (ofMajor === undefined || ofMinor === undefined) return false;
  return Number(ofMajor) > major || (Number(ofMajor) === major && Number(ofMinor) >= minor);
}
