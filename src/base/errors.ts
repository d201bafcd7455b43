/**
 * Errors, one class per side, because the side decides what happens next: a source error costs one entry, a
 * destination error ends the run without a snapshot, a bug ends everything.
 */

/** Whether doing the same thing again can help. */
export type Retry = 'never' | 'later' | 'now';

export interface ErrorFacts {
  /** What was being done, e.g. "open pack". */
  readonly op?: string;
  /** What the person should do next, as a sentence. */
  readonly hint?: string;
  /** The last part of `message`: what is wrong, without what was tried, for callers that word the rest differently. */
  readonly what?: string | undefined;
  readonly details?: Readonly<Record<string, string | number | boolean>>;
  readonly retry?: Retry;
  readonly cause?: unknown;
}

/** Base of every error the program raises on purpose. `message` says what happened; `hint` says what to do. */
export abstract class HoldfastError<Code extends string = string> extends Error {
  abstract readonly side: 'source' | 'destination' | 'repository' | 'state' | 'config' | 'request' | 'bug';
  readonly code: Code;
  readonly op: string;
  readonly hint: string;
  readonly what: string | undefined;
  readonly details: Readonly<Record<string, string | number | boolean>>;
  readonly retry: Retry;

  constructor(code: Code, message: string, facts: ErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.code = code;
    this.op = facts.op ?? '';
    this.hint = facts.hint ?? '';
    this.what = facts.what;
    this.details = facts.details ?? {};
    this.retry = facts.retry ?? 'never';
  }
}

/** One entry of the source could not be read; the run goes on and the snapshot says so. */
export class SourceError extends HoldfastError {
  override readonly name = 'SourceError';
  readonly side = 'source';
}

export type DestinationKind =
  | 'not-found'
  | 'exists'
  | 'denied'
  | 'full'
  | 'unreachable'
  | 'corrupt-reply'
  | 'unsupported';

/** The storage failed or refused. Decide by `kind`, never by errno or HTTP status. */
export class DestinationError extends HoldfastError {
  override readonly name = 'DestinationError';
  readonly side = 'destination';
  readonly kind: DestinationKind;

  constructor(kind: DestinationKind, message: string, facts: ErrorFacts = {}) {
    super(`DESTINATION_${kind.toUpperCase().replace('-', '_')}`, message, facts);
    this.kind = kind;
  }
}

/**
 * Details of an error for a place that does not exist and that Holdfast does not make, such as a bucket. It only makes
 * directories.
 */
export const MADE_ELSEWHERE = Object.freeze({ madeElsewhere: true });

/**
 * Details of an error for an object that the storage protects from removal for a time, by Object Lock, a retention
 * policy or a legal hold.
 */
export const PROTECTED_FOR_NOW = Object.freeze({ protectedForNow: true });

export function isProtectedForNow(error: unknown): error is DestinationError {
  return error instanceof DestinationError && error.details['protectedForNow'] === true;
}

/** Whether the place does not exist, but a repository may be made there. */
export function isAbsentPlace(error: unknown): error is DestinationError {
  if (!(error instanceof DestinationError) || error.kind !== 'not-found') return false;
  return error.details['madeElsewhere'] !== true;
}

export type RepositoryCode =
  | 'NO_REPOSITORY'
  | 'WRONG_PASSPHRASE'
  | 'REPOSITORY_LOCKED'
  | 'REPOSITORY_EXISTS'
  | 'CORRUPT_DATA'
  | 'NEWER_FORMAT'
  | 'SNAPSHOT_NOT_FOUND'
  | 'PATH_NOT_IN_SNAPSHOT'
  | 'REFUSED'
  | 'LIMIT_EXCEEDED';

/** The repository is absent, locked, damaged, too new, or the key does not fit. */
export class RepositoryError extends HoldfastError<RepositoryCode> {
  override readonly name = 'RepositoryError';
  readonly side = 'repository';
}

/** Local state (restore targets, caches, key files) could not be read or written. */
export class StateError extends HoldfastError {
  override readonly name = 'StateError';
  readonly side = 'state';
}

/** The person asked for something that cannot be: a wrong option, a missing source. */
export class RequestError extends HoldfastError {
  override readonly name = 'RequestError';
  readonly side = 'request';
}

/** An invariant of the program itself does not hold. */
export class BugError extends HoldfastError {
  override readonly name = 'BugError';
  readonly side = 'bug';

  constructor(message: string, facts: ErrorFacts = {}) {
    super('BUG', message, facts);
  }
}

/**
 * The message of an error about `object`, for callers that name the object themselves: without the prefix that
 * `corrupt` adds.
 */
export function damageOf(error: unknown, object: string): string {
  if (!(error instanceof Error)) return String(error);
  const isItsOwn =
    error instanceof RepositoryError && error.code === 'CORRUPT_DATA' && error.details['object'] === object;
  return isItsOwn ? (error.what ?? error.message) : error.message;
}

/** Damage found in stored bytes: always the same code, with the object named. */
export function corrupt(object: string, what: string, cause?: unknown): RepositoryError {
  return new RepositoryError('CORRUPT_DATA', `${object}: ${what}`, { what, details: { object }, cause });
}

/** An object that is authentic but was signed for another place: somebody with a write-only key has put it there. */
export function planted(object: string, what: string): RepositoryError {
  return new RepositoryError('CORRUPT_DATA', `${object}: ${what}`, {
    what,
    details: { object, planted: true },
  });
}

/** An object of a newer program that this one cannot read. It is never reported as damage. */
export function newerFormat(object: string): RepositoryError {
  return new RepositoryError('NEWER_FORMAT', `${object} was written by a newer version of Holdfast`, {
    hint: 'Install a newer version of Holdfast.',
    details: { object },
  });
}

/** True for an abort raised by an AbortSignal: never wrapped, never counted as a failure. */
export function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

/** The errno name (`ENOENT`) of a Node system error, or undefined. */
export function errnoOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
