import { DestinationError, RepositoryError } from '../../base/errors.ts';

/** Errors of a file system that concern one file: it is on a bad part of the disk, or belongs to somebody else. */
const OF_ONE_FILE: ReadonlySet<unknown> = new Set(['EIO', 'EACCES']);

/**
 * True for an error that concerns one stored object: it is gone or damaged, or the file system cannot read it. Other
 * objects may still be readable, unless they fail in the same way.
 */
export function isLostObject(error: unknown): error is RepositoryError | DestinationError {
  if (error instanceof RepositoryError) return error.code === 'CORRUPT_DATA';
  if (!(error instanceof DestinationError)) return false;
  return error.kind === 'not-found' || error.kind === 'corrupt-reply' || isUnreadObject(error);
}

/** True where the file system has the object but cannot read it. A drive that has gone may report this for every object. */
export function isUnreadObject(error: unknown): error is DestinationError {
  if (!(error instanceof DestinationError)) return false;
  const { errno, key } = error.details;
  return key !== undefined && OF_ONE_FILE.has(errno);
}

/**
 * The damage to one object, as opposed to a destination that does not answer or an abort: the object cannot be opened,
 * or the storage does not return it as stored. Undefined for any other error, also when the object is gone.
 */
export function damageTo(error: unknown): RepositoryError | undefined {
  // WRONG_PASSPHRASE means that the key was removed meanwhile, which concerns the whole repository.
  if (error instanceof RepositoryError) return error.code === 'WRONG_PASSPHRASE' ? undefined : error;
  const isDamaged = error instanceof DestinationError && error.kind === 'corrupt-reply';
  return isDamaged ? corruptBy(error) : undefined;
}

/** CORRUPT_DATA with the cause's message: callers that need the object do not distinguish why it is not available. */
export function corruptBy(cause: DestinationError): RepositoryError {
  const { message, hint, details } = cause;
  return new RepositoryError('CORRUPT_DATA', message, { hint, details, cause });
}
