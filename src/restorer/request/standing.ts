import { storedNumber } from '../../format/stored-number.ts';
import type { Entry, FileEntry } from '../../format/tree.ts';
import type { EntryStat } from '../../system/entry-stat.ts';
import type { OverwriteMode, PlannedAction } from './request.ts';

/**
 * What to do about an entry whose name may be taken in the target. `update`: rewrite what differs. `replace`: create a
 * new file and rename it over the existing entry. `compare`: size and time are right, the content has to be looked at.
 * `clear`: a directory has to be removed first. `merge`: a directory stays and is filled. `touch-up`: the content stays,
 * and the metadata is set.
 */
export type Standing =
  | 'create'
  | 'leave'
  | 'skip'
  | 'update'
  | 'replace'
  | 'compare'
  | 'clear'
  | 'merge'
  | 'touch-up';

const TYPE = 0o170000;
const REGULAR = 0o100000;
const DIRECTORY = 0o040000;
const SYMLINK = 0o120000;

export const isDirectory = ({ mode }: EntryStat): boolean => (mode & TYPE) === DIRECTORY;
export const isRegular = ({ mode }: Pick<EntryStat, 'mode'>): boolean => (mode & TYPE) === REGULAR;
export const isSymlink = ({ mode }: EntryStat): boolean => (mode & TYPE) === SYMLINK;

/** Node sets times of Windows, which have 100 ns, to less than a microsecond. Elsewhere they are set exactly. */
const APART_NS = process.platform === 'win32' ? 999n : 0n;

/** Whether a restored entry has the time of the snapshot. */
export function isSameTime(found: bigint, wanted: bigint, apart = APART_NS): boolean {
  return found - wanted <= apart && wanted - found <= apart;
}

/** FAT and exFAT, which have no ctime of their own, keep times in steps of this size. */
const COARSE_NS = 10_000_000n;

/**
 * Whether a file of the right size and time is the one that the backup read, unchanged since: any program can set the
 * time back, but none the ctime. A ctime that is no finer than the mtime and equal to it may be just a copy of it.
 */
function isUntouched(entry: FileEntry, { ino, ctimeNs, mtimeNs }: EntryStat): boolean {
  if (entry.changedWhileRead || entry.ctimeNs !== ctimeNs || entry.inode !== storedNumber(ino)) return false;
  return ctimeNs > mtimeNs || ctimeNs % COARSE_NS !== 0n;
}

/**
 * Decides what to do about `entry` by what has its name in the target.
 * @param finished false for an entry that a killed restore has left unfinished: no mode spares it
 */
export function standingOf(
  entry: Entry,
  found: EntryStat | undefined,
  overwrite: OverwriteMode,
  finished: boolean,
): Standing {
  if (found === undefined) return 'create';
  if (entry.type === 'directory' && isDirectory(found)) return 'merge';
  if (finished && overwrite === 'never') return 'skip';
  if (finished && overwrite === 'if_newer' && entry.mtimeNs <= found.mtimeNs) return 'skip';
  if (isDirectory(found)) return 'clear';
  if (entry.type !== 'file' || !isRegular(found)) return 'replace';
  if (
    finished &&
    overwrite === 'if_changed' &&
    found.size === entry.size &&
    isSameTime(found.mtimeNs, entry.mtimeNs)
  )
    return isUntouched(entry, found) ? 'leave' : 'compare';
  // the file may have another name outside the restore: writing would change that file too
  return found.nlink === 1 ? 'update' : 'replace';
}

/** The action that a dry run reports. */
export function actionOf(standing: Standing): PlannedAction {
  switch (standing) {
    case 'clear':
      return 'replace';
    case 'merge':
      return 'leave';
    case 'touch-up':
    case 'compare':
      return 'update';
    default:
      return standing;
  }
}
