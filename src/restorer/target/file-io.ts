import { fsyncSync, readSync, writeSync } from 'node:fs';
import { errnoOf } from '../../base/errors.ts';

export function writeFully(fd: number, bytes: Buffer, position: number): void {
  let done = 0;
  while (done < bytes.length) done += writeSync(fd, bytes, done, bytes.length - done, position + done);
}

/** False when the file ends before `into` is full. */
export function readFully(fd: number, into: Buffer, position: number): boolean {
  for (let done = 0; done < into.length;) {
    const count = readSync(fd, into, done, into.length - done, position + done);
    if (count === 0) return false;
    done += count;
  }
  return true;
}

/** Errors of file systems that have no such call: nothing more can be done on these. */
const NO_SYNC: ReadonlySet<string> = new Set(['EINVAL', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP']);

/**
 * Returns when an open file or directory is on disk, with its metadata.
 * @throws a system error when part of it could not be written to disk
 */
export function syncToDisk(fd: number): void {
  try {
    fsyncSync(fd);
  } catch (error) {
    if (!NO_SYNC.has(errnoOf(error) ?? '')) throw error;
  }
}
