/** What the failures of Azure Blob Storage mean for a destination. */
import { HoldfastError, isAbort } from '../../base/errors.ts';
import {
  DENIED,
  FULL,
  NOT_THE_STORE,
  SENSELESS,
  TAKEN,
  THROTTLED,
  failure,
  meaning,
  noSuch,
  retryAfterMs,
  storesWords,
  webFailure,
  type WebAction,
  type WebAnswer,
} from '../http-failure.ts';
import { ForeignAnswer } from './azure-answers.ts';

const NO_CONTAINER = noSuch('container', 'Check its name and the account, or create the container first.');
const WRONG_KEY = meaning(
  'denied',
  'never',
  'the credentials are wrong or have expired',
  'Check the account key or the shared access signature, and when it expires.',
);

/** Keyed by the store's own error codes. */
const MEANINGS = {
  ContainerNotFound: NO_CONTAINER,
  ContainerBeingDeleted: NO_CONTAINER,
  ContainerDisabled: DENIED,
  AuthenticationFailed: WRONG_KEY,
  InvalidAuthenticationInfo: WRONG_KEY,
  AuthorizationFailure: DENIED,
  AuthorizationPermissionMismatch: DENIED,
  AccountIsDisabled: DENIED,
  BlobImmutableDueToPolicy: DENIED,
  // Sent instead of a conflict to credentials that may create blobs but not overwrite them.
  UnauthorizedBlobOverwrite: TAKEN,
  ServerBusy: THROTTLED,
  Md5Mismatch: meaning('unreachable', 'now', 'the bytes arrived damaged', 'Check the network.'),
  AccountQuotaExceeded: FULL,
  BlobArchived: meaning(
    'unsupported',
    'never',
    'the object is in the archive tier',
    'Move it to a tier with immediate access.',
  ),
} as const;

export function azureFailure(error: unknown, action: WebAction): unknown {
  if (error instanceof ForeignAnswer) return failure(NOT_THE_STORE, action, error);
  const found = webFailure(error, action, answerOf, MEANINGS);
  // The library throws such an error for an answer that it cannot parse, and has as a whole.
  const isOfLibrary = found === error && error instanceof Error && !(error instanceof HoldfastError);
  return isOfLibrary && !isAbort(error)
    ? failure({ ...SENSELESS, details: { whole: true } }, action, error)
    : found;
}

export function azureStatus(error: unknown): number | undefined {
  return answerOf(error)?.status;
}

export function azureCode(error: unknown): string | undefined {
  return answerOf(error)?.code;
}

interface Refusal extends Error {
  readonly statusCode?: number;
  readonly code?: string;
  readonly response?: { readonly headers: { get(name: string): string | undefined } };
}

/** Codes that the library itself sets, with a message of its own, for an answer that it cannot read. */
const OF_THE_LIBRARY = new Set(['PARSE_ERROR', 'REQUEST_SEND_ERROR']);

function answerOf(error: unknown): WebAnswer | undefined {
  if (!(error instanceof Error) || error.name !== 'RestError') return undefined;
  const { statusCode: status, code: read, response } = error as Refusal;
  if (status === undefined) return undefined;
  const header = (name: string): string | undefined => response?.headers.get(name);
  const code =
    header('x-ms-error-code') ?? (read !== undefined && OF_THE_LIBRARY.has(read) ? undefined : read);
  // Without a code of the store the message is the library's own. Lines after the first only hold the request id.
  const [sentence] = error.message.split('\n');
  return {
    status,
    code,
    words: code === undefined ? undefined : storesWords(sentence, code),
    retryAfterMs: retryAfterMs(header('retry-after'), header('date')),
  };
}
