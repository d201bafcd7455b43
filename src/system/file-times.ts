/** Converts file times: nanoseconds since 1970 (negative before) and the kernel's `struct timespec` pairs. */

import type { Libc } from './libc.ts';

const nsPerSecond = 1_000_000_000n;

export interface TimeSpec {
  readonly seconds: bigint;
  /** 0 to 999,999,999, also for times before 1970. */
  readonly nanoseconds: bigint;
}

/** Throws a RangeError when the seconds do not fit 64 bits. */
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
export function timesWriter(libc: Libc): (atimeNs: bigint, mtimeNs: bigint) => number {
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
