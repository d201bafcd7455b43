import type { StatsFs } from 'node:fs';
import { StateError } from '../../base/errors.ts';

/** Whether the error means that the target is full: then nothing else would succeed either. */
export function isFull(code: string | undefined): boolean {
  return code === 'ENOSPC' || code === 'EDQUOT';
}

/**
 * Whether a file system has a free block and a free inode, apart from root's reserve. Some (btrfs) do not count inodes,
 * and show only in `bavail` that there is no room for metadata.
 */
export function hasRoom({ bavail, files, ffree }: Pick<StatsFs, 'bavail' | 'files' | 'ffree'>): boolean {
  return bavail > 0 && (files === 0 || ffree > 0);
}

export function targetFull(message: string, cause?: unknown): StateError {
  return new StateError('TARGET_FULL', `The restore stopped because the target is full (${message})`, {
    op: 'restore',
    hint: 'Make room or choose another target, then run the same restore again: it goes on where this one stopped.',
    retry: 'later',
    cause,
  });
}
