import type { StatsFs } from 'node:fs';
import { type ByteString, isUtf8 } from '../../base/byte-path.ts';
import { causeText } from '../../base/errno-words.ts';
import { errnoOf, HoldfastError, isAbort, StateError } from '../../base/errors.ts';
import { isHostileName } from '../../format/tree.ts';
import { isLostObject } from '../../repository/objects/lost-object.ts';

export type EntryFailureCode =
  /** Another entry has the name, and the overwrite mode does not allow replacing it. */
  | 'IN_THE_WAY'
  /** Another entry of the snapshot already has this name on this file system. */
  | 'SAME_NAME'
  /** The name cannot exist, here or anywhere. */
  | 'IMPOSSIBLE_NAME'
  /** Something else happened to the entry during the restore. */
  | 'CHANGED'
  /** The file of which this is another name could not be restored. */
  | 'LINK_FAILED'
  /** Its stored bytes could not be read. */
  | 'CORRUPT_DATA'
  | 'OTHER_FILE_SYSTEM'
  | 'TOO_DEEP';

/** Why one entry cannot be restored; it is listed, and the restore goes on. */
export class EntryFailure extends Error {
  override readonly name = 'EntryFailure';
  readonly code: EntryFailureCode;

  constructor(code: EntryFailureCode, message: string) {
    super(message);
    this.code = code;
  }
}

export interface FailureFacts {
  readonly code: string;
  readonly message: string;
}

/**
 * What to list about a failed entry. Errors that end the whole restore are rethrown: a full target, a destination that
 * cannot be reached, a bug.
 */
export function entryFailure(error: unknown): FailureFacts {
  const code = errnoOf(error);
  if (code === undefined || isFull(code) || !(error instanceof Error) || isAbort(error)) throw error;
  if (isLostObject(error)) return { code: 'CORRUPT_DATA', message: error.message };
  if (error instanceof HoldfastError && error.side !== 'repository') throw error;
  return { code, message: causeText(error) };
}

/** @throws {EntryFailure} for a name that could lead elsewhere, or that this system cannot have */
export function requirePossible(name: ByteString): void {
  if (isHostileName(name))
    throw new EntryFailure('IMPOSSIBLE_NAME', 'its name could lead out of its directory');
  if (isImpossibleHere(name))
    throw new EntryFailure('IMPOSSIBLE_NAME', 'this system cannot have a file of that name');
}

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
  return new StateError('TARGET_FULL', `The restore stopped because the target is full: ${message}`, {
    op: 'restore',
    hint: 'Free up space or choose another target, then run the same restore again: it continues where this one stopped.',
    retry: 'later',
    cause,
  });
}

/** Names with a special meaning on Windows, with or without an extension. */
const RESERVED =
  /^(con|prn|aux|nul|com[0-9\u00b9\u00b2\u00b3]|lpt[0-9\u00b9\u00b2\u00b3]|conin\$|conout\$)(\..*)?$/i;
const REFUSED = /[[\p{Cc}&&[\0-~]]<>:"\|?*\\\/]/v;

/** Whether this system would take the name for another one, or for a path, a stream or a device. */
export function isImpossibleHere(name: ByteString, platform: NodeJS.Platform = process.platform): boolean {
  if (platform !== 'win32') return false;
  // Names are UTF-16 there: bytes that are not UTF-8 would become another name without a word.
  if (!isUtf8(name)) return true;
  return REFUSED.test(name) || name.endsWith('.') || name.endsWith(' ') || RESERVED.test(name);
}
