/** Errors of requests to a Partner service. */
import { HoldfastError, type ErrorFacts } from '../base/errors.ts';

export type PartnerErrorCode =
  /** There was no answer. */
  | 'PARTNER_UNREACHABLE'
  /** The service refused the request. */
  | 'PARTNER_REFUSED'
  /** The reply does not match the API, or is not signed as required. */
  | 'PARTNER_REPLY_INVALID';

interface PartnerFacts extends ErrorFacts {
  readonly status?: number | undefined;
  readonly reason?: string | undefined;
  readonly retryAfterMs?: number | null;
}

/** The message contains nothing that the service chose, except a status and an error code. */
export class PartnerError extends HoldfastError<PartnerErrorCode> {
  override readonly name = 'PartnerError';
  readonly side = 'destination';
  /** Status of the answer; undefined when there was none. */
  readonly status: number | undefined;
  /** The service's error code, from the list of known codes. */
  readonly reason: string | undefined;
  /** The wait before the next try that the service asked for, in milliseconds. */
  readonly retryAfterMs: number | null;

  constructor(code: PartnerErrorCode, message: string, facts: PartnerFacts = {}) {
    super(code, message, facts);
    this.status = facts.status;
    this.reason = facts.reason;
    this.retryAfterMs = facts.retryAfterMs ?? null;
  }
}

/** The error for a reply that does not match the API. `what` is the subject, such as "The plan". */
export function invalidReply(what: string, cause?: unknown): PartnerError {
  return new PartnerError('PARTNER_REPLY_INVALID', `${what}: this is not what a Partner service says`, {
    hint: 'Check the address, and whether something between this machine and the service changes what is sent.',
    retry: 'later',
    cause,
  });
}
