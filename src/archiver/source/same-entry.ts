/** Decides whether an opened entry is the one that was looked at, where something else may have been put in its place. */
import { constants, statfsSync } from 'node:fs';
import type { ByteString } from '../../base/byte-path.ts';
import { errnoOf } from '../../base/errors.ts';
import type { EntryStat } from '../../system/entry-stat.ts';

/** The error code for an entry that was replaced by another: it is worth another look. */
export const REPLACED_CODE = 'REPLACED';

/**
 * The statfs(2) types of local file systems that keep a ctime, and that keep an inode number for as long as the file exists.
 */
export const KEEP_INODES: ReadonlySet<number> = new Set([
  0xef53, // ext2, ext3, ext4
  0x58465342, // XFS
  0x9123683e, // Btrfs
  0x2fc12fc1, // ZFS
  0xf2f52010, // F2FS
  0xca451a4e, // bcachefs
  0x01021994, // tmpfs
  0x858458f6, // ramfs
  0x3153464a, // JFS
  0x52654973, // ReiserFS
  0x3434, // NILFS
  0x7366746e, // NTFS by the kernel
  0x24051905, // UBIFS
  0x72b6, // JFFS2
]);

type Identity = Pick<EntryStat, 'dev' | 'ino' | 'mode' | 'uid' | 'gid'>;

/**
 * Whether an entry has the same device, inode and kind as the one seen. The kind is compared as well because a freed
 * inode number may be reused at once. Where inode numbers are not permanent (FAT, FUSE, some networks and overlays),
 * another number passes if mode and owner are the same, so that at least nothing is read that was more closed. A mount
 * that came or went meanwhile is another entry, which is looked at anew.
 */
export function isSameOrAsOpen(fd: number, opened: Identity, seen: Identity): boolean {
  if (((opened.mode ^ seen.mode) & constants.S_IFMT) !== 0) return false;
  if (opened.ino === seen.ino && opened.dev === seen.dev) return true;
  if (keepsInodes(fd)) return false;
  return opened.mode === seen.mode && opened.uid === seen.uid && opened.gid === seen.gid;
}

/** Whether the file system of an open entry (of any kind) keeps inode numbers. Without /proc that is unknown, and assumed. */
export function keepsInodes(fd: number): boolean {
  if (process.platform !== 'linux') return true;
  try {
    return KEEP_INODES.has(statfsSync(`/proc/self/fd/${fd}`).type);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return true;
  }
}

/** The error for an entry that has been replaced by another since it was met. */
export function replacedError(path: ByteString): Error {
  return Object.assign(new Error(`${path} was replaced`), { code: REPLACED_CODE, syscall: 'open', path });
}

export function isReplaced(error: unknown): boolean {
  return errnoOf(error) === REPLACED_CODE;
}

/** The errors of opening a name where something else, a link or nothing is found now. */
const NOT_AS_MET: ReadonlySet<string | undefined> = new Set([
  REPLACED_CODE,
  'ENOENT',
  'ENOTDIR',
  'ELOOP',
  'ENXIO',
]);

/** Whether the error means that an entry has changed or gone since it was looked at, which is worth another look. */
export function isNotAsMet(error: unknown): boolean {
  return NOT_AS_MET.has(errnoOf(error));
}

/** A directory that had been met has gone or has been replaced. */
export class NotAsMet extends Error {
  override readonly name = 'NotAsMet';

  constructor(cause: unknown) {
    super('it is not what was met', { cause });
  }
}

/** How often an entry is looked at again that is found replaced each time. */
export const MOST_LOOKS = 5;

/** The error to report for an entry after `looks` looks: that it was replaced, if it was something else each time. */
export function afterLooks(looks: number, path: ByteString, error: unknown): unknown {
  return looks === MOST_LOOKS && isNotAsMet(error) ? replacedError(path) : error;
}
