/** What Google Cloud Storage answers when it does not do what it is asked. */
import {
  DENIED,
  FULL,
  THROTTLED,
  meaning,
  webFailure,
  type WebAction,
  type WebAnswer,
} from '../http-failure.ts';

const WRONG_KEY = meaning(
  'denied',
  'never',
  'the credentials are wrong or no longer valid',
  'Check the key of the service account.',
);

/** By the store's own reasons. */
const MEANINGS = {
  rateLimitExceeded: THROTTLED,
  userRateLimitExceeded: THROTTLED,
  quotaExceeded: FULL,
  forbidden: DENIED,
  authError: WRONG_KEY,
  invalid_grant: WRONG_KEY,
} as const;

export function googleFailure(error: unknown, action: WebAction): unknown {
  return webFailure(error, action, answerOf, MEANINGS);
}

export function googleStatus(error: unknown): number | undefined {
  return answerOf(error)?.status;
}

interface Refusal {
  readonly code?: unknown;
  readonly status?: unknown;
  readonly errors?: readonly { readonly reason?: string }[];
}

function answerOf(error: unknown): WebAnswer | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, status: given, errors } = error as Error & Refusal;
  const status = Number(typeof code === 'number' ? code : given);
  if (!Number.isInteger(status) || status < 100) return undefined;
  return { status, code: errors?.[0]?.reason, retryAfterMs: undefined };
}
