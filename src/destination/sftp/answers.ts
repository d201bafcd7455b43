/** What the answers of an SFTP server mean for a destination. */
import { DestinationError, errnoOf } from '../../base/errors.ts';
import type { DestinationKind, Retry } from '../../base/errors.ts';
import { cannot } from '../failed-action.ts';
import { saysFull, storesWords } from '../http-failure.ts';

/** Status codes of SFTP version 3, and those of later versions that some servers send regardless. */
export const STATUS = {
  endOfFile: 1,
  noSuchFile: 2,
  permissionDenied: 3,
  failure: 4,
  badMessage: 5,
  unsupported: 8,
  writeProtected: 12,
  noSpace: 14,
  quotaExceeded: 15,
} as const;

/** The status code of a server's refusal; undefined for any other error. */
export function statusOf(error: unknown): number | undefined {
  if (error instanceof DestinationError || !(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'number' ? error.code : undefined;
}

export function isStatus(error: unknown, ...codes: readonly number[]): boolean {
  const status = statusOf(error);
  return status !== undefined && codes.includes(status);
}

/** The call that failed, for the message. */
export interface SftpAction {
  /** As a verb: "store", "read". */
  readonly op: string;
  /** The destination, for people. */
  readonly url: string;
  readonly key?: string | undefined;
}

interface Meaning {
  readonly kind: DestinationKind;
  readonly what: string;
  readonly hint: string;
  readonly retry: Retry;
}

const noSpace: Meaning = {
  kind: 'full',
  what: 'there is no space left on the server, or the quota is used up',
  hint: 'Free up some space on the destination, or choose another one.',
  retry: 'later',
};

const meanings: Readonly<Record<number, Meaning>> = {
  [STATUS.noSuchFile]: {
    kind: 'not-found',
    what: 'it does not exist',
    hint: 'Check the path of the destination, and that its disk is mounted on the server.',
    retry: 'never',
  },
  [STATUS.permissionDenied]: {
    kind: 'denied',
    what: 'permission denied',
    hint: 'Check the owner and permissions of the directory on the server.',
    retry: 'never',
  },
  [STATUS.badMessage]: {
    kind: 'unsupported',
    what: 'the server rejects the name or the operation',
    hint: 'Choose a directory with a shorter path.',
    retry: 'never',
  },
  [STATUS.unsupported]: {
    kind: 'unsupported',
    what: 'the server cannot do this',
    hint: 'Use another server or another kind of destination.',
    retry: 'never',
  },
  [STATUS.writeProtected]: {
    kind: 'denied',
    what: 'the file system is read-only',
    hint: 'Check on the server why it is mounted read-only.',
    retry: 'never',
  },
  [STATUS.noSpace]: noSpace,
  [STATUS.quotaExceeded]: noSpace,
};

const otherwise: Meaning = {
  kind: 'unreachable',
  what: 'the server reports a failure',
  hint: 'Check the server’s log: its disk may be full, over quota, read-only or failing.',
  retry: 'later',
};

/** Turns a server's refusal into a DestinationError; any other error is returned unchanged. */
export function answerError(error: unknown, { op, url, key }: SftpAction): unknown {
  const status = statusOf(error);
  if (status === undefined) return error;
  const isFull = error instanceof Error && saysFull(error.message);
  const { kind, what, hint, retry } = isFull ? noSpace : (meanings[status] ?? otherwise);
  const says = error instanceof Error ? storesWords(error.message) : undefined;
  const words = error instanceof Error && error.message !== '' ? `, "${error.message.slice(0, 200)}"` : '';
  return new DestinationError(kind, `${cannot(op, url, key)}: ${what} (status ${status}${words})`, {
    op,
    hint,
    retry,
    details: { status, url, ...(key === undefined ? {} : { key }), ...(says === undefined ? {} : { says }) },
    cause: error,
  });
}

/** The error for a directory of the destination that the server does not make. */
export function notMade(refusal: unknown, url: string): unknown {
  // "Failure" stands for many reasons, and none of those that keep a directory from being made passes by itself.
  if (!isStatus(refusal, STATUS.failure)) return answerError(refusal, { op: 'create', url });
  return new DestinationError(
    'denied',
    `Cannot create ${url}: the server does not make the directory (status 4)`,
    {
      op: 'create',
      hint: 'Check on the server whether the disk is full, over quota or read-only, or make the directory there.',
      details: { status: STATUS.failure, url },
      cause: refusal,
    },
  );
}

export function absent({ op, url, key = '' }: SftpAction, cause?: unknown): DestinationError {
  return new DestinationError('not-found', `Cannot ${op} ${key} in ${url}: there is no such object`, {
    op,
    hint: 'Check that this is the right destination, and that nothing was removed from it.',
    details: { key, url },
    cause,
  });
}

/**
 * The error for a just created name that the server does not find: servers that cache directories (rclone) may not see
 * it for a moment.
 */
export function lostFromSight({ op, url, key = '' }: SftpAction, cause: unknown): DestinationError {
  return new DestinationError(
    'unreachable',
    `Cannot ${op} ${key} in ${url}: a file that was just created is missing`,
    {
      op,
      hint: 'Try again, and check that nothing else changes the destination.',
      retry: 'now',
      details: { key, url },
      cause,
    },
  );
}

export function full({ op, url, key = '' }: SftpAction, cause: unknown): DestinationError {
  return new DestinationError('full', `${cannot(op, url, key)}: there is no space left on the server`, {
    op,
    hint: 'Free up some space on the destination, or choose another one.',
    retry: 'later',
    details: { key, url },
    cause,
  });
}

/** The error for a file that can be created but not written to. */
export function takesNoMore({ op, url, key = '' }: SftpAction, cause: unknown): DestinationError {
  const what = 'the server stopped writing: the quota of the account may be used up';
  return new DestinationError('full', `${cannot(op, url, key)}: ${what}`, {
    op,
    hint: 'Free up some space on the destination, or get more. If there is enough, check the server’s log: its disk may be failing.',
    retry: 'later',
    details: { key, url },
    cause,
  });
}

export function incomplete(url: string, key: string, actual: number, expected: number): DestinationError {
  return new DestinationError('corrupt-reply', `${key} in ${url} has ${actual} of ${expected} bytes`, {
    op: 'transfer',
    hint: 'The server or its disk loses data. Check it before relying on it.',
    details: { key, url, actual, expected },
    retry: 'now',
  });
}

/** The code that the network gives the failure, as a detail. */
function codeOf(cause: unknown): { readonly code?: string } {
  const code = errnoOf(cause);
  return code === undefined ? {} : { code };
}

/** The error for a connection that is lost or could not be made. */
export function disconnected(url: string, what: string, cause?: unknown, stalled = false): DestinationError {
  return new DestinationError('unreachable', `${url}: ${what}`, {
    op: 'connect',
    hint: 'Check the network, that the server is running, and its name and port.',
    retry: 'now',
    details: { url, ...codeOf(cause), ...(stalled ? { stalled } : {}) },
    cause,
  });
}
