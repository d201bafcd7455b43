/** Whether what was opened is what had been looked at, where somebody may have put another thing in its place. */
import { constants, statfsSync } from 'node:fs';
import type { ByteString } from '../../base/byte-path.ts';
import { errnoOf } from '../../base/errors.ts';
import type { EntryStat } from '../../system/entry-stat.ts';

/** The problem of a file in whose place another one is: it is worth another look. */
export const REPLACED_CODE = 'REPLACED';

/** By which statfs(2) names file systems of this machine that keep a ctime and an inode for as long as a file is there. */
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
 * The same by device, inode and kind: a number that was given back may be that of something else at once. Something else stands for it where inodes are numbers of the moment (FAT, FUSE, some networks
 * and layers) if it is as open to others. A mount that came or went meanwhile is another thing, which is looked at anew.
 */
export function isSameOrAsOpen(fd: number, opened: Identity, seen: Identity): boolean {
  if (((opened.mode ^ seen.mode) & constants.S_IFMT) !== 0) return false;
  if (opened.ino === seen.ino && opened.dev === seen.dev) return true;
  if (keepsInodes(fd)) return false;
  return opened.mode === seen.mode && opened.uid === seen.uid && opened.gid === seen.gid;
}

/** Of whatever is open, a link or a device too. Unknown without /proc: then it counts as keeping them. */
export function keepsInodes(fd: number): boolean {
  if (process.platform !== 'linux') return true;
  try {
    return KEEP_INODES.has(statfsSync(`/proc/self/fd/${fd}`).type);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return true;
  }
}

/** Another thing stands in the place of the one that was met. */
export function replacedError(path: ByteString): Error {
  return Object.assign(new Error(`${path} was replaced`), { code: REPLACED_CODE, syscall: 'open', path });
}

export function isReplaced(error: unknown): boolean {
  return errnoOf(error) === REPLACED_CODE;
}

/** What opening says where something else, a link or nothing stands by now. */
const NOT_AS_MET: ReadonlySet<string | undefined> = new Set([
  REPLACED_CODE,
  'ENOENT',
  'ENOTDIR',
  'ELOOP',
  'ENXIO',
]);

/** Of an entry that was there when it was looked at: what stands there now is worth another look. */
export function isNotAsMet(error: unknown): boolean {
  return NOT_AS_MET.has(errnoOf(error));
}

/** Something else, or nothing, stands where a directory had been met. */
export class NotAsMet extends Error {
  override readonly name = 'NotAsMet';

  constructor(cause: unknown) {
    super('it is not what was met', { cause });
  }
}

/** How often an entry is looked at once more that is replaced again and again, by whatever. */
export const MOST_LOOKS = 5;

/** What to say of an entry after so many looks: of one that was something else at each of them, that it was replaced. */
export function afterLooks(looks: number, path: ByteString, error: unknown): unknown {
  return looks === MOST_LOOKS && isNotAsMet(error) ? replacedError(path) : error;
}
