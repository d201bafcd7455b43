import { fsyncSync } from 'node:fs';
import { errnoOf } from '../../base/errors.ts';

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
