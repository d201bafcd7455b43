import { DestinationError, RepositoryError } from '../../base/errors.ts';

/** What a file system says of one file that lies on a bad part of its disk, or belongs to somebody else. */
const OF_ONE_FILE: ReadonlySet<unknown> = new Set(['EIO', 'EACCES']);

/**
 * True for what concerns one stored object: it is gone or damaged, or the file system cannot read it. What lies in others can
 * still be had, unless they turn out to be the same.
 */
export function isLostObject(error: unknown): error is RepositoryError | DestinationError {
  if (error instanceof RepositoryError) return error.code === 'CORRUPT_DATA';
  if (!(error instanceof DestinationError)) return false;
  return error.kind === 'not-found' || error.kind === 'corrupt-reply' || isUnreadObject(error);
}

/** True where a file system has the object and cannot read it. A drive that has gone may say the same of each. */
export function isUnreadObject(error: unknown): error is DestinationError {
  if (!(error instanceof DestinationError)) return false;
  const { errno, key } = error.details;
  return key !== undefined && OF_ONE_FILE.has(errno);
}

/**
 * What is wrong with one object, as opposed to a destination that does not answer or an abort: it cannot be opened, or the
 * storage does not give it as it has it. Undefined for anything else, that it is gone included.
 */
export function damageTo(error: unknown): RepositoryError | undefined {
  // That the key which opened the repository was removed meanwhile is not about one object.
  if (error instanceof RepositoryError) return error.code === 'WRONG_PASSPHRASE' ? undefined : error;
  const isDamaged = error instanceof DestinationError && error.kind === 'corrupt-reply';
  return isDamaged ? corruptBy(error) : undefined;
}

/** To whoever needs the object it is all the same why it cannot be had. */
export function corruptBy(cause: DestinationError): RepositoryError {
  const { message, hint, details } = cause;
  return new RepositoryError('CORRUPT_DATA', message, { hint, details, cause });
}
