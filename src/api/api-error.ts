import { HoldfastError } from '../base/errors.ts';
import { type ErrorCode, type ResponseCode, isErrorCode, statusOf } from './error-codes.ts';

export interface ApiErrorFacts {
  /** What to do next, as a sentence; joined to the message. */
  readonly hint?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** An error response. `message` says what happened, then what to do; the status is that of the code. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;
  readonly statusCode: number;
  readonly details: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ResponseCode, message: string, facts: ApiErrorFacts = {}) {
    super(sentences(message, facts.hint), facts.cause === undefined ? undefined : { cause: facts.cause });
    this.code = code;
    this.statusCode = statusOf(code);
    this.details = facts.details ?? {};
    this.headers = facts.headers ?? {};
  }
}

/** The error response that one of the program's own errors becomes, or undefined when its code is no public one. */
export function fromHoldfastError(error: unknown): ApiError | undefined {
  if (!(error instanceof HoldfastError)) return undefined;
  const code = publicCode(error);
  if (code === undefined) return undefined;
  return new ApiError(code, error.message, { hint: error.hint, details: error.details, cause: error });
}

/**
 * Only errors about the request, the repository and the destination are told: those of local state name paths of the
 * agent, and a bug says nothing to the caller.
 */
function publicCode(error: HoldfastError): ResponseCode | undefined {
  if (error.side === 'destination') {
    return error.code === 'DESTINATION_FULL' ? 'INSUFFICIENT_STORAGE' : 'DESTINATION_ERROR';
  }
  if (error.side === 'request') return isResponseCode(error.code) ? error.code : undefined;
  if (error.side !== 'repository') return undefined;
  // Damage and wrong keys met while browsing: the storage does not hold what it should.
  return isResponseCode(error.code) ? error.code : 'DESTINATION_ERROR';
}

function isResponseCode(code: string): code is ResponseCode {
  return isErrorCode(code) && statusOf(code) !== 500;
}

function sentences(message: string, hint: string | undefined): string {
  if (hint === undefined || hint === '') return message;
  return `${/[.!?]$/.test(message) ? message : `${message}.`} ${hint}`;
}
