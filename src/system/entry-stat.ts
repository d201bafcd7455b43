/** The stat of an entry relative to a directory descriptor, which `node:fs` does not offer. */
import { constants } from 'node:os';
import type { ByteString } from '../base/byte-path.ts';
import { cStringWriter, type Libc, type Memory, systemError } from './libc.ts';
import { AT_EMPTY_PATH, AT_NO_AUTOMOUNT, STATX_ATTR_MOUNT_ROOT, STATX_BASIC_STATS } from './platform.ts';
import { joinDeviceNumber, splitDeviceNumber } from './device-number.ts';

/** Fields are named as in `BigIntStats`; `dev`, `ino` and the times are equal to it. Sizes are exact up to 2^53. */
export interface EntryStat {
  readonly mode: number;
  readonly nlink: number;
  readonly uid: number;
  readonly gid: number;
  readonly size: number;
  /** In units of 512 bytes. */
  readonly blocks: number;
  readonly dev: bigint;
  readonly ino: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  /** Of a device file; both are 0 for anything else. */
  readonly rdevMajor: number;
  readonly rdevMinor: number;
  /** On macOS: `st_flags`. */
  readonly flags?: number;
}

/** Directories above all drives of Windows exist in trees alone, so nothing about them ever changes. */
export const ABOVE_DRIVES: EntryStat = {
  mode: 0o040_755,
  nlink: 1,
  uid: 0,
  gid: 0,
  size: 0,
  blocks: 0,
  dev: 0n,
  ino: 0n,
  mtimeNs: 0n,
  ctimeNs: 0n,
  rdevMajor: 0,
  rdevMinor: 0,
};

export interface StatCalls {
  /** Does not follow links. */
  lstatat(dirFd: number, name: ByteString): EntryStat;
  /** As `lstatat`, but undefined when there is no such entry: throwing an error costs 4 us, this 0.5. */
  findEntry(dirFd: number, name: ByteString): EntryStat | undefined;
  fstat(fd: number): EntryStat;
  /**
   * Whether the system says that something is mounted at the entry, even from the same file system. False where it does
   * not say: a mount then shows only by a `dev` that differs from its directory's.
   */
  isMountRoot(dirFd: number, name: ByteString): boolean;
}

export function bindStat(libc: Libc): StatCalls {
  return libc.platform.system === 'linux' ? bindStatx(libc) : bindFstatat(libc);
}

const nsPerSecond = 1_000_000_000n;
const two32 = 0x1_0000_0000;

/** `struct statx` of linux/stat.h. */
function bindStatx(libc: Libc): StatCalls {
  const statx = libc.bind('statx', 'int', ['int', 'address', 'int', 'uint32_t', 'address']);
  const writeName = cStringWriter(libc);
  const out = libc.memory(256);
  const { u16, u32, i64, u64 } = views(out);
  const noName = libc.memory(1);
  noName.bytes[0] = 0;
  const nameFlags = libc.platform.AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT;
  // nearly always the device of the entry before
  let devMajor = 0;
  let devMinor = 0;
  let dev = 0n;

  function read(): EntryStat {
    if (u32[34] !== devMajor || u32[35] !== devMinor) {
      devMajor = u32[34] ?? 0;
      devMinor = u32[35] ?? 0;
      dev = joinDeviceNumber({ major: devMajor, minor: devMinor }, 'linux');
    }
    return {
      mode: u16[14] ?? 0,
      nlink: u32[4] ?? 0,
      uid: u32[5] ?? 0,
      gid: u32[6] ?? 0,
      size: (u32[10] ?? 0) + (u32[11] ?? 0) * two32,
      blocks: (u32[12] ?? 0) + (u32[13] ?? 0) * two32,
      dev,
      ino: u64[4] ?? 0n,
      mtimeNs: (i64[14] ?? 0n) * nsPerSecond + BigInt(u32[30] ?? 0),
      ctimeNs: (i64[12] ?? 0n) * nsPerSecond + BigInt(u32[26] ?? 0),
      rdevMajor: u32[32] ?? 0,
      rdevMinor: u32[33] ?? 0,
    };
  }

  /** Returns the errno, or 0. */
  function ask(dirFd: number, name: ByteString): number {
    const path = writeName(name, 'lstatat');
    return statx(dirFd, path, nameFlags, STATX_BASIC_STATS, out.address) < 0 ? libc.errno() : 0;
  }

  return {
    ...byName(ask, read),
    isMountRoot(dirFd, name) {
      const errno = ask(dirFd, name);
      if (errno !== 0) throw systemError('lstatat', errno, name);
      return ((u32[2] ?? 0) & STATX_ATTR_MOUNT_ROOT) !== 0;
    },
    fstat(fd) {
      if (statx(fd, noName.address, AT_EMPTY_PATH, STATX_BASIC_STATS, out.address) < 0) {
        throw systemError('fstat', libc.errno());
      }
      return read();
    },
  };
}

/** `struct stat` with 64-bit inode numbers of macOS's sys/stat.h. */
function bindFstatat(libc: Libc): StatCalls {
  const suffix = libc.platform.inode64Suffix;
  const fstatat = libc.bind(`fstatat${suffix}`, 'int', ['int', 'address', 'address', 'int']);
  const fstat = libc.bind(`fstat${suffix}`, 'int', ['int', 'address']);
  const writeName = cStringWriter(libc);
  const out = libc.memory(144);
  const { u16, u32, i32, i64, u64 } = views(out);

  function read(): EntryStat {
    const rdev = splitDeviceNumber(BigInt(u32[6] ?? 0), 'darwin');
    return {
      mode: u16[2] ?? 0,
      nlink: u16[3] ?? 0,
      uid: u32[4] ?? 0,
      gid: u32[5] ?? 0,
      size: (u32[24] ?? 0) + (u32[25] ?? 0) * two32,
      blocks: (u32[26] ?? 0) + (u32[27] ?? 0) * two32,
      dev: BigInt(i32[0] ?? 0),
      ino: u64[1] ?? 0n,
      mtimeNs: (i64[6] ?? 0n) * nsPerSecond + (i64[7] ?? 0n),
      ctimeNs: (i64[8] ?? 0n) * nsPerSecond + (i64[9] ?? 0n),
      rdevMajor: rdev.major,
      rdevMinor: rdev.minor,
      flags: u32[29] ?? 0,
    };
  }

  /** Returns the errno, or 0. */
  function ask(dirFd: number, name: ByteString): number {
    const path = writeName(name, 'lstatat');
    return fstatat(dirFd, path, out.address, libc.platform.AT_SYMLINK_NOFOLLOW) < 0 ? libc.errno() : 0;
  }

  return {
    ...byName(ask, read),
    isMountRoot: () => false,
    fstat(fd) {
      if (fstat(fd, out.address) < 0) throw systemError('fstat', libc.errno());
      return read();
    },
  };
}

function byName(
  ask: (dirFd: number, name: ByteString) => number,
  read: () => EntryStat,
): Pick<StatCalls, 'lstatat' | 'findEntry'> {
  return {
    lstatat(dirFd, name) {
      const errno = ask(dirFd, name);
      if (errno !== 0) throw systemError('lstatat', errno, name);
      return read();
    },
    findEntry(dirFd, name) {
      const errno = ask(dirFd, name);
      if (errno === 0) return read();
      if (errno === constants.errno.ENOENT) return undefined;
      throw systemError('lstatat', errno, name);
    },
  };
}

/** Views of the same memory as numbers of several widths; index = offset in bytes / width in bytes. */
function views({ bytes }: Memory): {
  u16: Uint16Array;
  u32: Uint32Array;
  i32: Int32Array;
  i64: BigInt64Array;
  u64: BigUint64Array;
} {
  const { buffer, byteOffset, length } = bytes;
  return {
    u16: new Uint16Array(buffer, byteOffset, length / 2),
    u32: new Uint32Array(buffer, byteOffset, length / 4),
    i32: new Int32Array(buffer, byteOffset, length / 4),
    i64: new BigInt64Array(buffer, byteOffset, length / 8),
    u64: new BigUint64Array(buffer, byteOffset, length / 8),
  };
}
