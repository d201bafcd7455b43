/** How asking a Partner service fails. */
import { HoldfastError, type ErrorFacts } from '../base/errors.ts';

export type PartnerErrorCode =
  /** No answer came. */
  | 'PARTNER_UNREACHABLE'
  /** The service said no. */
  | 'PARTNER_REFUSED'
  /** What came is not what the interface says, or not signed as it must be. */
  | 'PARTNER_REPLY_INVALID';

interface PartnerFacts extends ErrorFacts {
  readonly status?: number | undefined;
  readonly reason?: string | undefined;
  readonly retryAfterMs?: number | null;
}

/** The message holds nothing that the service chose but a status and the code of an error. */
export class PartnerError extends HoldfastError<PartnerErrorCode> {
  override readonly name = 'PartnerError';
  readonly side = 'destination';
  /** Of the answer; undefined when there was none. */
  readonly status: number | undefined;
  /** The code that the service gave, from the list of error codes. */
  readonly reason: string | undefined;
  /** What the service asked for before the next try, in milliseconds. */
  readonly retryAfterMs: number | null;

  constructor(code: PartnerErrorCode, message: string, facts: PartnerFacts = {}) {
    super(code, message, facts);
    this.status = facts.status;
    this.reason = facts.reason;
    this.retryAfterMs = facts.retryAfterMs ?? null;
  }
}

/** What cannot be what the interface says. `what` as "The plan". */
export function invalidReply(what: string, cause?: unknown): PartnerError {
  return new PartnerError('PARTNER_REPLY_INVALID', `${what}: this is not what a Partner service says`, {
    hint: 'Check the address, and whether something between this machine and the service changes what is sent.',
    retry: 'later',
    cause,
  });
}
