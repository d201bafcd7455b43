/**
 * The C library calls that node:fs lacks, for test tooling only. Deliberately separate from what the program itself
 * uses: an oracle that reads extended attributes through the code under test would share its mistakes.
 */

import { closeSync, constants, readSync } from 'node:fs';
import { getSystemErrorMessage, getSystemErrorName } from 'node:util';
import koffi from 'koffi';
import { asByteString } from '../../src/base/byte-path.ts';
import type { ByteString } from '../../src/base/byte-path.ts';
import { errnoOf } from '../../src/base/errors.ts';

/** A failed call; `code` is the errno name as in node:fs errors. */
export class LibcError extends Error {
  override readonly name = 'LibcError';
  readonly code: string;
  readonly syscall: string;

  constructor(syscall: string, errno: number) {
    const code = getSystemErrorName(-errno);
    super(`${code}: ${getSystemErrorMessage(-errno)}, ${syscall}`);
    this.code = code;
    this.syscall = syscall;
  }
}

const AT_FDCWD = process.platform === 'linux' ? -100 : -2;
const AT_SYMLINK_NOFOLLOW = process.platform === 'linux' ? 0x100 : 0x20;
const RUSAGE_SELF = 0;
const RUSAGE_CHILDREN = -1;

const library = koffi.load(null);

type Value = number | bigint | Uint8Array | BigInt64Array;

/** Declares a function on first use, so that a system without it fails only where it is needed. */
function declare(prototype: string): (...values: readonly Value[]) => number | bigint {
  let bound: ((...values: readonly Value[]) => number | bigint) | undefined;
  return (...values) => {
    bound ??= library.func(prototype) as (...values: readonly Value[]) => number | bigint;
    return bound(...values);
  };
}

const mknod = declare('int mknod(const uint8_t *path, uint32_t mode, uint64_t device)');
const utimensat = declare(
  'int utimensat(int directory, const uint8_t *path, const int64_t *times, int flags)',
);
const lsetxattr = declare(
  'int lsetxattr(const uint8_t *path, const uint8_t *name, const uint8_t *value, size_t size, int flags)',
);
const lgetxattr = declare(
  'intptr_t lgetxattr(const uint8_t *path, const uint8_t *name, _Out_ uint8_t *value, size_t size)',
);
const llistxattr = declare('intptr_t llistxattr(const uint8_t *path, _Out_ uint8_t *list, size_t size)');
const getrusage = declare('int getrusage(int who, _Out_ uint8_t *usage)');

function cString(bytes: string): Buffer {
  return Buffer.from(`${bytes}\0`, 'latin1');
}

function checked(syscall: string, result: number | bigint): number {
  if (Number(result) < 0) throw new LibcError(syscall, koffi.errno());
  return Number(result);
}

export type SpecialKind = 'fifo' | 'socket' | 'character-device' | 'block-device';

const fileType: Readonly<Record<SpecialKind, number>> = {
  fifo: 0o010000,
  'character-device': 0o020000,
  'block-device': 0o060000,
  socket: 0o140000,
};

/** Makes a special file; devices need privileges. Throws LibcError. */
export function makeSpecial(path: ByteString, kind: SpecialKind, mode: number, major = 0, minor = 0): void {
  checked('mknod', mknod(cString(path), fileType[kind] | mode, deviceNumber(major, minor)));
}

/** glibc's encoding of a device number: 12 + 20 bits of major and minor interleaved. */
function deviceNumber(major: number, minor: number): bigint {
  const [high, low] = [BigInt(major), BigInt(minor)];
  return (low & 0xffn) | ((high & 0xfffn) << 8n) | ((low & ~0xffn) << 12n) | ((high & ~0xfffn) << 32n);
}

/** Sets access and modification time of the entry itself (a link is not followed) in ns since 1970. */
export function setTimes(path: ByteString, nanoseconds: bigint): void {
  const part = ((nanoseconds % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n;
  const seconds = (nanoseconds - part) / 1_000_000_000n;
  const times = BigInt64Array.of(seconds, part, seconds, part);
  checked('utimensat', utimensat(AT_FDCWD, cString(path), times, AT_SYMLINK_NOFOLLOW));
}

/** Events of one directory as the kernel queues them, kept there until they are read. Linux only. */
export interface EventQueue extends Disposable {
  /** Reads everything, and says how much that was and whether the kernel had dropped some for want of space. */
  read(): { readonly events: number; readonly overflowed: boolean };
}

const inotifyInit = declare('int inotify_init1(int flags)');
const inotifyAddWatch = declare('int inotify_add_watch(int queue, const uint8_t *path, uint32_t mask)');
const ALL_EVENTS = 0xfff;
const QUEUE_OVERFLOW = 0x4000;
const EVENT_HEADER = 16;

/** Throws LibcError. */
export function openEventQueue(directory: ByteString): EventQueue {
  const queue = checked('inotify_init1', inotifyInit(constants.O_NONBLOCK));
  checked('inotify_add_watch', inotifyAddWatch(queue, cString(directory), ALL_EVENTS));
  return {
    read() {
      let [events, overflowed] = [0, false];
      const buffer = Buffer.alloc(1_048_576);
      for (let end = readSome(queue, buffer); end > 0; end = readSome(queue, buffer)) {
        for (let at = 0; at < end; at += EVENT_HEADER + buffer.readUInt32LE(at + 12)) {
          events += 1;
          overflowed ||= (buffer.readUInt32LE(at + 4) & QUEUE_OVERFLOW) !== 0;
        }
      }
      return { events, overflowed };
    },
    [Symbol.dispose]: () => closeSync(queue),
  };
}

/** 0 when nothing waits. */
function readSome(queue: number, buffer: Buffer): number {
  try {
    return readSync(queue, buffer);
  } catch (error) {
    if (errnoOf(error) === 'EAGAIN') return 0;
    throw error;
  }
}

/** False where extended attributes have another interface; the three calls below are Linux only. */
export const hasXattrs = process.platform === 'linux';

/** Sets one extended attribute of the entry itself. Throws LibcError (ENOTSUP, EPERM, ENOSPC, …). */
export function setXattr(path: ByteString, name: ByteString, value: Uint8Array): void {
  checked('lsetxattr', lsetxattr(cString(path), cString(name), value, value.length, 0));
}

/** All extended attributes of the entry itself, sorted by name. Empty where the file system has none. */
export function readXattrs(path: ByteString): ReadonlyMap<ByteString, Buffer> {
  const found = new Map<ByteString, Buffer>();
  const target = cString(path);
  let list: Buffer;
  try {
    list = grown('llistxattr', (buffer) => llistxattr(target, buffer, buffer.length));
  } catch (error) {
    if (error instanceof LibcError && error.code === 'ENOTSUP') return found;
    throw error;
  }
  const names = list.toString('latin1').split('\0').slice(0, -1).sort();
  for (const name of names) {
    const key = cString(name);
    found.set(
      asByteString(name),
      grown('lgetxattr', (buffer) => lgetxattr(target, key, buffer, buffer.length)),
    );
  }
  return found;
}

/** Repeats a call that fills a buffer until the buffer is large enough (the kernel's own limit is 64 KiB). */
function grown(syscall: string, call: (buffer: Buffer) => number | bigint): Buffer {
  for (const size of [4096, 65_536, 1_048_576]) {
    const buffer = Buffer.alloc(size);
    const length = Number(call(buffer));
    if (length >= 0) return buffer.subarray(0, length);
    const failure = new LibcError(syscall, koffi.errno());
    if (failure.code !== 'ERANGE') throw failure;
  }
  throw new Error(`${syscall}: more than 1 MiB`);
}

export interface ResourceUsage {
  readonly userSeconds: number;
  readonly systemSeconds: number;
  /** Largest resident size of any one process so far. */
  readonly largestProcessBytes: number;
}

/** What this process used, or what all of its ended and awaited descendants used, from getrusage(2). */
export function resourceUsage(of: 'self' | 'children'): ResourceUsage {
  // struct rusage: two struct timeval (seconds as long, microseconds in the low 32 bits), then ru_maxrss as long
  const usage = Buffer.alloc(256);
  checked('getrusage', getrusage(of === 'self' ? RUSAGE_SELF : RUSAGE_CHILDREN, usage));
  const time = (offset: number): number =>
    Number(usage.readBigInt64LE(offset)) + usage.readInt32LE(offset + 8) / 1e6;
  const unit = process.platform === 'darwin' ? 1 : 1024;
  return {
    userSeconds: time(0),
    systemSeconds: time(16),
    largestProcessBytes: Number(usage.readBigInt64LE(32)) * unit,
  };
}
