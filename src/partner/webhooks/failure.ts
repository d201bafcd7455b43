/** Describes why an attempt failed: a code for programs and a sentence for the partner. */
import { ApiError } from '../../api/wire/api-error.ts';
import { isTimeout } from '../../base/paced-work.ts';
import { errnoText } from '../../base/errno-words.ts';
import { errnoOf } from '../../base/errors.ts';

export type FailureReason =
  /** The URL is not, or no longer, acceptable. */
  | 'invalid_url'
  /** The name has no address. */
  | 'name_not_found'
  /** An address of the name is not on the public internet; nothing was connected to. */
  | 'not_public'
  | 'unreachable'
  /** The certificate is not valid for the name, or of an unknown authority. */
  | 'certificate'
  | 'timeout'
  | 'redirect'
  /** Any other status that is not 2xx. */
  | 'status';

export interface Failure {
  readonly reason: FailureReason;
  /** HTTP status; null when there was no reply. */
  readonly status: number | null;
  /** One sentence. Names the host, but never a path, query, secret, address or anything from the response. */
  readonly error: string;
}

/** The name of the receiver has no address, or one that must not be connected to. */
export class TargetRefused extends Error {
  override readonly name = 'TargetRefused';
  readonly reason: 'name_not_found' | 'not_public';

  constructor(reason: 'name_not_found' | 'not_public') {
    super(reason);
    this.reason = reason;
  }
}

/** The failure that an unsuccessful response means. */
export function refusalOf(host: string, status: number): Failure {
  return status >= 300 && status <= 399
    ? { reason: 'redirect', status, error: `${host} redirects with status ${status}, which is not followed` }
    : { reason: 'status', status, error: `${host} answered with status ${status}` };
}

/** The failure that an error before any response means. */
export function failureOf(error: unknown, host: string, timeoutMs: number): Failure {
  if (error instanceof ApiError) return { reason: 'invalid_url', status: null, error: error.message };
  const reason = reasonOf(error);
  return { reason, status: null, error: sentenceOf(reason, error, host, timeoutMs) };
}

type EarlyReason = Exclude<FailureReason, 'invalid_url' | 'redirect' | 'status'>;

function reasonOf(error: unknown): EarlyReason {
  if (error instanceof TargetRefused) return error.reason;
  if (isTimeout(error)) return 'timeout';
  return /CERT|SIGNATURE|ISSUER/.test(errnoOf(error) ?? '') ? 'certificate' : 'unreachable';
}

function sentenceOf(reason: EarlyReason, error: unknown, host: string, timeoutMs: number): string {
  const code = errnoOf(error) ?? 'network error';
  switch (reason) {
    case 'name_not_found':
      return `${host} has no address`;
    case 'not_public':
      return `${host} leads to an address that is not on the public internet`;
    case 'timeout':
      return `${host} did not answer within ${timeoutMs / 1000} s`;
    case 'certificate':
      return `The certificate of ${host} is not valid (${code})`;
    case 'unreachable':
      return `${host} cannot be reached: ${errnoText(code)}`;
  }
}
