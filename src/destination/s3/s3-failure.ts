/** What the failures of S3 stores mean for a destination. */
import { DestinationError, errnoOf } from '../../base/errors.ts';
import {
  DENIED,
  FULL,
  THROTTLED,
  TOO_LARGE,
  failure,
  meaning,
  meaningOfStatus,
  noSuch,
  NOT_THE_STORE,
  retryAfterMs,
  storesWords,
  webFailure,
  type WebAction,
  type WebAnswer,
} from '../http-failure.ts';

const NO_BUCKET = noSuch(
  'bucket',
  'Check its name, the endpoint and the region, or create the bucket first.',
);
const EXPIRED = meaning(
  'denied',
  'later',
  'the credentials have expired',
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
  'Set them in "access" of the destination, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.',
);
const DAMAGED_ON_THE_WAY = meaning('unreachable', 'now', 'the bytes arrived damaged', 'Check the network.');
const ARCHIVED = meaning(
  'unsupported',
  'never',
  'the object is in an archive and must be restored there first',
  'Ask the store to restore it, and choose a storage class with immediate access.',
);
const REGION = meaning(
  'unsupported',
  'never',
  'the bucket is in another region',
  'Add ?region=NAME to its URL.',
);
/** Not followed, as the redirect could send keys and data to anybody. */
const REDIRECTED = meaning(
  'unsupported',
  'never',
  'the store redirects to another address, which is not followed',
  'Use the actual host and region of the bucket in the URL of the destination.',
);
const BUSY = meaning('unreachable', 'now', 'the same object is being changed at the moment', 'Try again.');

const NOT_SAID_BY_THE_STORE = meaning(
  'unreachable',
  'later',
  'something other than the store answers "not found"',
  'Check that the store is running and that the address is right: a proxy may answer like this while the store is down.',
);

/** Without the right to list, a store also refuses where it would otherwise say that an object does not exist. */
const REFUSED = {
  ...DENIED,
  hint: 'Check that the policy of these credentials allows s3:ListBucket on the bucket itself, and s3:GetObject, s3:PutObject and, for whatever removes something, s3:DeleteObject on what is in it.',
};

/** Keyed by the stores' own error codes, including those of other makers. */
const MEANINGS = {
  NoSuchBucket: NO_BUCKET,
  AccessDenied: REFUSED,
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
  RequestTimeout: meaning('unreachable', 'now', 'the store timed out waiting', 'Check the network.'),
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
  EntityTooLarge: TOO_LARGE,
  MaxMessageLengthExceeded: TOO_LARGE,
  InvalidObjectState: ARCHIVED,
  TemporaryRedirect: REDIRECTED,
  Redirect: REDIRECTED,
  PermanentRedirect: REGION,
  AuthorizationHeaderMalformed: REGION,
  IllegalLocationConstraintException: REGION,
} as const;

export function s3Failure(error: unknown, action: WebAction): unknown {
  // Both come from the credential provider, without an answer of the store.
  const name = error instanceof Error ? error.name : '';
  if (name === 'CredentialsProviderError' || name === 'TokenProviderError')
    return failure(NO_CREDENTIALS, action, error);
  if (isOfSomebodyElse(error)) return failure(NOT_THE_STORE, action, undefined);
  // A store itself says what does not exist; without a code it may be a proxy.
  if (isNotFound(error) && answerOf(error)?.code === undefined) return notSaidByTheStore(action, error);
  const region = regionOf(error);
  if (region !== undefined) return failure(elsewhere(region), action, error, answerOf(error));
  const answer = answerOf(error);
  if (answer?.code === undefined && isRedirect(answer?.status))
    return failure(REDIRECTED, action, error, answer);
  return webFailure(error, action, answerOf, MEANINGS);
}

/**
 * Whether something other than the store has answered, by a redirect without explanation or a refusal that is a web
 * page: a network that wants a sign-in first, or a proxy that denies access. Answers of a store have an error code or
 * an `x-amz-` header.
 */
function isOfSomebodyElse(error: unknown): boolean {
  const answer = answerOf(error);
  if (answer?.status === undefined || answer.code !== undefined || !(error instanceof Error)) return false;
  const headers = headersOf(error);
  if (Object.keys(headers).some((name) => name.startsWith('x-amz-'))) return false;
  const { status } = answer;
  if (isRedirect(status)) return true;
  return (status === 401 || status === 403) && /html/i.test(headers['content-type'] ?? '');
}

function isRedirect(status: number | undefined): boolean {
  return status !== undefined && status >= 300 && status < 400;
}

/** The region that the store says the bucket is in; undefined for any other failure. */
function regionOf(error: unknown): string | undefined {
  const answer = answerOf(error);
  if (!(error instanceof Error) || answer === undefined) return undefined;
  const { code, status } = answer;
  const isOfRegion =
    code === undefined
      ? status === 301 || status === 400
      : Object.entries(MEANINGS).some(([name, one]) => name === code && one === REGION);
  if (!isOfRegion) return undefined;
  const told = 'Region' in error ? error.Region : headersOf(error)['x-amz-bucket-region'];
  return typeof told === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(told) ? told : undefined;
}

function elsewhere(region: string): ReturnType<typeof meaning> {
  return {
    ...REGION,
    what: `the bucket is in the region ${region}`,
    hint: `Add ?region=${region} to its URL (or &region=${region} after other parameters).`,
  };
}

/** Whether the answer is "not found", no matter who sent it. */
export function isNotFound(error: unknown): boolean {
  const status = statusOf(error);
  return status === 404 || status === 410;
}

const REASONS: ReadonlySet<string> = new Set(['NoSuchKey', 'NoSuchVersion', 'NoSuchBucket']);

/**
 * Whether the answer is "not found" without a reason that stores give: it may come from a proxy whose store is down.
 */
export function lacksReason(error: unknown): boolean {
  return isNotFound(error) && !REASONS.has(answerOf(error)?.code ?? '');
}

/** Whether the answer has a request id as S3 stores send it, and nobody else does. Not all stores send one. */
export function isNumbered(error: unknown): boolean {
  return error instanceof Error && (headersOf(error)['x-amz-request-id'] ?? '') !== '';
}

/** The error for an object that does not exist, according to the store itself. */
export function absent(action: WebAction, cause: unknown): DestinationError {
  return failure(meaningOfStatus(404), action, cause, answerOf(cause));
}

/** The error for a "not found" that did not come from the store. */
export function notSaidByTheStore(action: WebAction, cause: unknown): DestinationError {
  const type = cause instanceof Error ? headersOf(cause)['content-type'] : undefined;
  // A cause that says more than the library's own error about a body that it cannot parse.
  return failure(NOT_SAID_BY_THE_STORE, action, new Error(`${statusOf(cause)} with ${type ?? 'no body'}`));
}

/** Whether a `not-found` refers to the bucket. */
export function isBucketMissing({ cause }: DestinationError): boolean {
  return cause instanceof Error && cause.name === 'NoSuchBucket';
}

/** The error for an answer that does not fit the request. */
export function senseless(
  op: string,
  url: string,
  key: string,
  what: string,
  cause?: unknown,
): DestinationError {
  return new DestinationError('corrupt-reply', `Cannot ${op} ${key} in ${url}: ${what}`, {
    op,
    what,
    hint: 'Check that no proxy answers instead of the store, and run a check of the repository.',
    // An answer with a cause may still become right, such as when an object is not visible yet.
    details: { key, ...(cause === undefined ? { whole: true } : {}) },
    retry: 'now',
    cause,
  });
}

/** The HTTP status of the answer; undefined when there was none. */
export function statusOf(error: unknown): number | undefined {
  return answerOf(error)?.status;
}

function answerOf(error: unknown): WebAnswer | undefined {
  if (!(error instanceof Error) || !('$metadata' in error)) return undefined;
  const metadata = error.$metadata as { readonly httpStatusCode?: number };
  const status = metadata.httpStatusCode ?? responseOf(error)?.statusCode;
  if (status === undefined && errnoOf(error) !== undefined) return undefined;
  const headers = headersOf(error);
  // Only errors that the library has parsed from the store's answer have this property.
  const told = 'Code' in error && typeof error.Code === 'string' ? error.Code : undefined;
  // Without a body, or with one that it cannot parse, the library uses a generic name.
  const code = told ?? (UNNAMED.test(error.name) ? undefined : error.name);
  return {
    status,
    code,
    words: told === undefined ? undefined : storesWords(error.message, code),
    retryAfterMs: retryAfterMs(headers['retry-after'], headers['date']),
  };
}

const UNNAMED = /^(?:Unknown|UnknownError|Error|TypeError|SyntaxError|NotFound|\d+)$/;

interface Response {
  readonly statusCode?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

function responseOf(error: Error): Response | undefined {
  return ('$response' in error ? error.$response : undefined) as Response | undefined;
}

function headersOf(error: Error): Readonly<Record<string, string>> {
  return responseOf(error)?.headers ?? {};
}
