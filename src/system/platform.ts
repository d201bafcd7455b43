/**
 * Differences between Linux and macOS as data: numbers from the systems' C headers and offsets into their C structures,
 * valid for the 64-bit little-endian systems in `platformTable`. What `node:fs` provides (`fs.constants.O_*`) is not
 * repeated.
 */

export interface PlatformTable {
  readonly system: 'linux' | 'darwin';
  /** Denotes the working directory instead of a directory descriptor. */
  readonly AT_FDCWD: number;
  readonly AT_SYMLINK_NOFOLLOW: number;
  readonly AT_REMOVEDIR: number;
  readonly O_CLOEXEC: number;
  readonly SEEK_DATA: number;
  readonly SEEK_HOLE: number;
  /** The longest path the kernel accepts, including the terminating zero byte. */
  readonly PATH_MAX: number;
  /** Error number for an extended attribute that does not exist. */
  readonly ENOATTR: number;
  /** Offset of `d_name` in `struct dirent`. */
  readonly direntName: number;
  /** Suffix of functions that exist twice; their plain names use 32-bit inode numbers. */
  readonly inode64Suffix: '' | '$INODE64';
}

const linux: PlatformTable = {
  system: 'linux',
  AT_FDCWD: -100,
  AT_SYMLINK_NOFOLLOW: 0x100,
  AT_REMOVEDIR: 0x200,
  O_CLOEXEC: 0x8_0000,
  SEEK_DATA: 3,
  SEEK_HOLE: 4,
  PATH_MAX: 4096,
  ENOATTR: 61,
  direntName: 19,
  inode64Suffix: '',
};

const darwin: PlatformTable = {
  system: 'darwin',
  AT_FDCWD: -2,
  AT_SYMLINK_NOFOLLOW: 0x20,
  AT_REMOVEDIR: 0x80,
  O_CLOEXEC: 0x100_0000,
  SEEK_DATA: 4,
  SEEK_HOLE: 3,
  PATH_MAX: 1024,
  ENOATTR: 93,
  direntName: 21,
  // arm64 never had the 32-bit kind, so its plain names are the 64-bit ones
  inode64Suffix: process.arch === 'x64' ? '$INODE64' : '',
};

/** Linux only: a descriptor that names an entry without opening it. */
export const O_PATH = 0x20_0000;
/** Linux only, since 5.6: number of the openat2 system call, the same on every architecture. */
export const SYS_OPENAT2 = 437;
/** Linux only, for `openat2`: no part of a path may be a link. */
export const RESOLVE_NO_SYMLINKS = 0x04;
/** Linux only, for `statx`: do not trigger an automount; stat the descriptor itself instead of a name in it. */
export const AT_NO_AUTOMOUNT = 0x800;
export const AT_EMPTY_PATH = 0x1000;
/** Linux only: requests type, mode, links, owner, times, inode, size and blocks. */
export const STATX_BASIC_STATS = 0x7ff;
/**
 * Linux only, since 5.8: attribute in the result of `statx` when a file system, or a part of one, is mounted at the
 * entry.
 */
export const STATX_ATTR_MOUNT_ROOT = 0x2000;
/** macOS only: act on a link itself. */
export const XATTR_NOFOLLOW = 1;

/** The table of this system, or null where nothing native is offered. */
export function platformTable(): PlatformTable | null {
  if (process.arch !== 'x64' && process.arch !== 'arm64') return null;
  if (process.platform === 'linux') return linux;
  return process.platform === 'darwin' ? darwin : null;
}
