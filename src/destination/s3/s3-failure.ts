/** What S3 stores answer when they do not do what they are asked. */
import { errnoOf } from '../../base/errors.ts';
import {
  DENIED,
  FULL,
  THROTTLED,
  failure,
  meaning,
  retryAfterMs,
  webFailure,
  type WebAction,
  type WebAnswer,
} from '../http-failure.ts';

const NO_BUCKET = meaning(
  'not-found',
  'never',
  'there is no such bucket',
  'Check its name, the endpoint and the region, or make the bucket first.',
);
const EXPIRED = meaning(
  'denied',
  'later',
  'the credentials are no longer valid',
  'Renew them, or use some that do not expire.',
);
const WRONG_KEY = meaning(
  'denied',
  'never',
  'the credentials are wrong',
  'Check the access key and its secret.',
);
const CLOCK = meaning(
  'denied',
  'later',
  'the clock of this machine is wrong',
  'Set the clock of this machine.',
);
const NO_CREDENTIALS = meaning(
  'denied',
  'never',
  'there are no credentials',
  'Name them in "access" of the destination, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.',
);
const DAMAGED_ON_THE_WAY = meaning('unreachable', 'now', 'the bytes arrived damaged', 'Check the network.');
const ARCHIVED = meaning(
  'unsupported',
  'never',
  'the object is in an archive that must be thawed first',
  'Ask the store to restore it, and choose a storage class that is read at once.',
);
const REGION = meaning(
  'unsupported',
  'never',
  'the bucket is in another region',
  'Add ?region=NAME to its URL.',
);
const BUSY = meaning('unreachable', 'now', 'another change of the same object is under way', 'Try again.');

/** By the store's own names; those of other makers among them. */
const MEANINGS = {
  NoSuchBucket: NO_BUCKET,
  AccessDenied: DENIED,
  AllAccessDisabled: DENIED,
  InvalidAccessKeyId: WRONG_KEY,
  SignatureDoesNotMatch: WRONG_KEY,
  InvalidTokenId: WRONG_KEY,
  InvalidToken: WRONG_KEY,
  ExpiredToken: EXPIRED,
  ExpiredTokenException: EXPIRED,
  TokenRefreshRequired: EXPIRED,
  RequestTimeTooSkewed: CLOCK,
  RequestExpired: CLOCK,
  CredentialsProviderError: NO_CREDENTIALS,
  TokenProviderError: NO_CREDENTIALS,
  SlowDown: THROTTLED,
  Throttling: THROTTLED,
  ThrottlingException: THROTTLED,
  TooManyRequests: THROTTLED,
  RequestLimitExceeded: THROTTLED,
  RequestTimeout: meaning('unreachable', 'now', 'the store waited in vain', 'Check the network.'),
  BadDigest: DAMAGED_ON_THE_WAY,
  IncompleteBody: DAMAGED_ON_THE_WAY,
  XAmzContentSHA256Mismatch: DAMAGED_ON_THE_WAY,
  ConditionalRequestConflict: BUSY,
  OperationAborted: BUSY,
  QuotaExceeded: FULL,
  InsufficientStorage: FULL,
  XMinioStorageFull: FULL,
  XMinioAdminBucketQuotaExceeded: FULL,
  ServiceQuotaExceeded: FULL,
  InvalidObjectState: ARCHIVED,
  PermanentRedirect: REGION,
  AuthorizationHeaderMalformed: REGION,
  IllegalLocationConstraintException: REGION,
} as const;

export function s3Failure(error: unknown, action: WebAction): unknown {
  // Neither has an answer of a store.
  const name = error instanceof Error ? error.name : '';
  if (name === 'CredentialsProviderError' || name === 'TokenProviderError')
    return failure(NO_CREDENTIALS, action, error);
  return webFailure(error, action, answerOf, MEANINGS);
}

/** The HTTP status of the answer; undefined when there was none. */
export function statusOf(error: unknown): number | undefined {
  return answerOf(error)?.status;
}

function answerOf(error: unknown): WebAnswer | undefined {
  if (!(error instanceof Error) || !('$metadata' in error)) return undefined;
  const metadata = error.$metadata as { readonly httpStatusCode?: number };
  const response = ('$response' in error ? error.$response : undefined) as
    | { readonly statusCode?: number; readonly headers?: Readonly<Record<string, string>> }
    | undefined;
  const status = metadata.httpStatusCode ?? response?.statusCode;
  if (status === undefined && errnoOf(error) !== undefined) return undefined;
  const headers = response?.headers ?? {};
  return {
    status,
    // What came without a body has no name of its own.
    code: /^(?:Unknown|UnknownError|Error|NotFound|\d+)$/.test(error.name) ? undefined : error.name,
    retryAfterMs: retryAfterMs(headers['retry-after'], headers['date']),
  };
}
