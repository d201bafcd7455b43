import type { ByteString } from '../../base/byte-path.ts';
import { HoldfastError, errnoOf, isAbort } from '../../base/errors.ts';
import { isHostileName } from '../../format/tree.ts';
import { isLostObject } from '../../repository/objects/lost-object.ts';
import { isFull } from './full-target.ts';
import { isImpossibleHere } from './portable-names.ts';
import { isTemporary } from './temporary-names.ts';

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
  return { code, message: toldOf(error) };
}

/** The message of a system error, without the temporary name of the entry. */
export function toldOf(error: NodeJS.ErrnoException & { readonly dest?: string }): string {
  const { message, path, dest } = error;
  if (dest !== undefined && isTemporary(dest)) return message.replace(` -> '${dest}'`, '');
  if (path === undefined || !isTemporary(path)) return message;
  return message.replace(`'${path}' -> `, '').replace(` '${path}'`, '');
}

/** @throws {EntryFailure} for a name that could lead elsewhere, or that this system cannot have */
export function requirePossible(name: ByteString): void {
  if (isHostileName(name))
    throw new EntryFailure('IMPOSSIBLE_NAME', 'its name could lead out of its directory');
  if (isImpossibleHere(name))
    throw new EntryFailure('IMPOSSIBLE_NAME', 'this system cannot have a file of that name');
}
