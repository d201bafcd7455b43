/** What the failures of Google Cloud Storage mean for a destination. */
import { HoldfastError, isAbort } from '../../base/errors.ts';
import {
  DENIED,
  FULL,
  NOT_THE_STORE,
  SENSELESS,
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

const WRONG_KEY = meaning(
  'denied',
  'never',
  'the credentials are wrong or have expired',
  'Check the key of the service account, and the clock of this machine.',
);

/** Keyed by the reasons of the store and of the sign-in service. */
const MEANINGS = {
  rateLimitExceeded: THROTTLED,
  userRateLimitExceeded: THROTTLED,
  quotaExceeded: FULL,
  forbidden: DENIED,
  authError: WRONG_KEY,
  invalid_grant: WRONG_KEY,
  invalid_client: WRONG_KEY,
  unauthorized_client: WRONG_KEY,
} as const;

const NO_KEY = meaning(
  'denied',
  'never',
  'there are no credentials',
  'Set "credentials" to the JSON key of a service account, or set up default credentials on this machine.',
);

/** A list of the bucket was answered with "not found", which can only mean the bucket itself. */
export const NO_BUCKET = noSuch('bucket', 'Check its name and the account, or create the bucket first.');

/** A successful answer that is not the store's own. */
export class ForeignAnswer extends Error {
  override readonly name = 'ForeignAnswer';

  constructor() {
    super('The answer is not from the store');
  }
}

/** Nowhere are credentials that can be used: the library's own error for that has no code. */
export class NoCredentials extends Error {
  override readonly name = 'NoCredentials';

  constructor(cause: unknown) {
    super('There are no credentials', { cause });
  }
}

export function googleFailure(error: unknown, action: WebAction): unknown {
  // First, as its cause may be of the file system, whose codes mean something else here.
  if (error instanceof NoCredentials) return failure(NO_KEY, action, error);
  const found = webFailure(error, action, answerOf, MEANINGS);
  if (found !== error || !(error instanceof Error) || error instanceof HoldfastError || isAbort(error))
    return found;
  if (error instanceof ForeignAnswer) return failure(NOT_THE_STORE, action, error);
  // The library throws such an error for an answer that it cannot parse.
  return failure(SENSELESS, action, error);
}

export function googleStatus(error: unknown): number | undefined {
  return answerOf(error)?.status;
}

interface Refusal {
  readonly code?: unknown;
  readonly status?: unknown;
  readonly errors?: readonly { readonly reason?: string; readonly message?: string }[];
  /** The sign-in service gives its reason as a plain word. */
  readonly response?: {
    readonly headers?: Fields;
    readonly data?: { readonly error?: unknown; readonly error_description?: unknown };
  };
}

/** Headers of an answer of the store or of the sign-in service. */
type Fields = Readonly<Record<string, string>> | Pick<Headers, 'get'>;

function headerOf(fields: Fields | undefined, name: string): string | undefined {
  if (fields === undefined) return undefined;
  return typeof fields.get === 'function'
    ? (fields.get(name) ?? undefined)
    : new Map(Object.entries(fields)).get(name);
}

function answerOf(error: unknown): WebAnswer | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, status: given, errors, response } = error as Error & Refusal;
  const status = Number(typeof code === 'number' ? code : given);
  if (!Number.isInteger(status) || status < 100) return undefined;
  const header = (name: string): string | undefined => headerOf(response?.headers, name);
  const afterMs = retryAfterMs(header('retry-after'), header('date'));
  const said = errors?.[0]?.reason ?? response?.data?.error;
  const reason = typeof said === 'string' ? said : undefined;
  const words = storesWords(errors?.[0]?.message ?? response?.data?.error_description, reason);
  return { status, code: reason, words, retryAfterMs: afterMs };
}
