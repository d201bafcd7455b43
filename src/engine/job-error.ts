/** Converts a thrown error into the error that a job reports. */
import { placedCauseText } from '../base/errno-words.ts';
import {
  BugError,
  DestinationError,
  HoldfastError,
  RepositoryError,
  StateError,
  errnoOf,
} from '../base/errors.ts';
import type { DestinationKind, RepositoryCode } from '../base/errors.ts';
import { STATE_UNWRITABLE, type JobError, type JobType } from '../jobs/job.ts';

const DESTINATION_CODES: Readonly<Record<DestinationKind, string>> = {
  'not-found': 'DESTINATION_ERROR',
  exists: 'DESTINATION_ERROR',
  denied: 'DESTINATION_AUTH_FAILED',
  full: 'INSUFFICIENT_STORAGE',
  unreachable: 'DESTINATION_UNREACHABLE',
  'corrupt-reply': 'DESTINATION_ERROR',
  unsupported: 'DESTINATION_ERROR',
};

const REPOSITORY_CODES: Readonly<Record<RepositoryCode, string>> = {
  NO_REPOSITORY: 'DESTINATION_ERROR',
  WRONG_PASSPHRASE: 'WRONG_PASSPHRASE',
  REPOSITORY_LOCKED: 'REPOSITORY_LOCKED',
  REPOSITORY_EXISTS: 'DESTINATION_ERROR',
  CORRUPT_DATA: 'CORRUPT_DATA',
  NEWER_FORMAT: 'DESTINATION_ERROR',
  SNAPSHOT_NOT_FOUND: 'SNAPSHOT_NOT_FOUND',
  PATH_NOT_IN_SNAPSHOT: 'PATH_NOT_IN_SNAPSHOT',
  REFUSED: 'DESTINATION_ERROR',
  LIMIT_EXCEEDED: 'DESTINATION_ERROR',
};

/** Error codes of requests, sources and local files that the registry has under the same name. */
const SAME_NAME: ReadonlySet<string> = new Set([
  'INVALID_SOURCE',
  'INVALID_DESTINATION',
  'INVALID_TARGET',
  'SECRET_IN_URL',
  'SOURCE_SUSPICIOUSLY_EMPTY',
  'UNSUPPORTED_COMPRESSION',
  'READ_ERROR',
  'WRITE_ERROR',
]);

const FULL: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);

/** The code for a system error: READ_ERROR for jobs that mainly read, WRITE_ERROR for those that write. */
const SYSTEM_CODES: Readonly<Record<JobType, string>> = {
  backup: 'READ_ERROR',
  restore: 'WRITE_ERROR',
  check: 'READ_ERROR',
  prune: 'WRITE_ERROR',
  drill: 'WRITE_ERROR',
};

/** Chooses the code by class and kind of the error. No stack gets through. */
export function jobErrorOf(error: unknown, type: JobType): JobError {
  if (error instanceof HoldfastError && !(error instanceof BugError)) {
    return {
      code: codeOf(error, type),
      message: sentences(error.message, error.hint, BY_REQUEST[error.code] ?? ''),
      details: { ...error.details, retry: error.retry, ...stateDetails(error, type) },
    };
  }
  const errno = errnoOf(error);
  if (error instanceof Error && errno !== undefined && /^E[A-Z0-9]+$/.test(errno)) {
    const full = FULL.has(errno);
    return {
      code: full ? 'INSUFFICIENT_STORAGE' : SYSTEM_CODES[type],
      message: sentences(
        placedCauseText(error),
        full ? 'Free up space and run it again.' : 'Check the disk and its permissions.',
      ),
      details: { errno },
    };
  }
  return internalError(error);
}

/** The hint names a command. Whoever reads the job through the API has no use for it, and is told the request, too. */
const BY_REQUEST: Readonly<Record<string, string>> = {
  PATH_NOT_IN_SNAPSHOT: 'A program asks GET /files/versions.',
  SNAPSHOT_NOT_FOUND: 'A program asks GET /snapshots.',
};

/** For a restore the error concerns its target, not the state directory, and a person waits for it, so it fails at once. */
function stateDetails(error: HoldfastError, type: JobType): JobError['details'] {
  if (!(error instanceof StateError) || error.code !== 'WRITE_ERROR' || type === 'restore') return {};
  const errno = errnoOf(error.cause) ?? '';
  return FULL.has(errno) || errno === 'EROFS' ? { [STATE_UNWRITABLE]: true } : {};
}

export function internalError(error: unknown): JobError {
  const what = error instanceof Error ? error.message : `a thrown ${typeof error}`;
  return {
    code: 'INTERNAL_ERROR',
    message: sentences(
      `Unexpected error: ${what}`,
      'This is a bug in Holdfast: please report it with the log of the job.',
    ),
    details: {},
  };
}

function codeOf(error: HoldfastError, type: JobType): string {
  // On a local disk access was denied by the file system, so there is no login to correct.
  if (error instanceof DestinationError && error.kind === 'denied' && error.details['errno'] !== undefined)
    return 'DESTINATION_ERROR';
  if (error instanceof DestinationError) return DESTINATION_CODES[error.kind];
  if (error instanceof RepositoryError) return REPOSITORY_CODES[error.code];
  if (SAME_NAME.has(error.code)) return error.code;
  if (error.code === 'TARGET_FULL') return 'INSUFFICIENT_STORAGE';
  if (error.code === 'TARGET_IN_USE') return 'INVALID_TARGET';
  if (error.side === 'request' || error.side === 'config') return 'INVALID_REQUEST';
  return error.side === 'source' ? 'READ_ERROR' : SYSTEM_CODES[type];
}

/** Joins what happened and what to do into sentences. */
export function sentences(...parts: readonly string[]): string {
  return parts
    .filter((part) => part !== '')
    .map((part) => (/[.!?:]$/.test(part) ? part : `${part}.`))
    .join(' ');
}
