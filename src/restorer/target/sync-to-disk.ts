import { fsyncSync } from 'node:fs';
import { errnoOf } from '../../base/errors.ts';

/** What file systems without such a call answer: they hold what they are given as they do. */
const NO_SYNC: ReadonlySet<string> = new Set(['EINVAL', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP']);

/**
 * Returns when an open file or directory is on disk, with its metadata.
 * @throws a system error when a part of it could not be written there
 */
export function syncToDisk(fd: number): void {
  try {
    fsyncSync(fd);
  } catch (error) {
    if (!NO_SYNC.has(errnoOf(error) ?? '')) throw error;
  }
}
