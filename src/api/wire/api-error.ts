import { HoldfastError } from '../../base/errors.ts';
import { holdfast } from '../../base/holdfast-command.ts';
import { type ErrorCode, type ResponseCode, isErrorCode, statusOf } from './error-codes.ts';

export interface ApiErrorFacts {
  /** What to do next, as a sentence; joined to the message. */
  readonly hint?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** An error response. `message` says what happened, then what to do. The HTTP status follows from the code. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;
  readonly statusCode: number;
  readonly details: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  /** The two parts of the message: what happened, and what to do. */
  readonly statement: string;
  readonly hint: string;

  constructor(code: ResponseCode, message: string, facts: ApiErrorFacts = {}) {
    super(sentences(message, facts.hint), facts.cause === undefined ? undefined : { cause: facts.cause });
    this.code = code;
    this.statusCode = statusOf(code);
    this.details = facts.details ?? {};
    this.headers = facts.headers ?? {};
    this.statement = message;
    this.hint = facts.hint ?? '';
  }
}

/** The error response for one of the program's own errors; undefined when the error must not be shown to callers. */
export function fromHoldfastError(error: unknown): ApiError | undefined {
  if (!(error instanceof HoldfastError)) return undefined;
  const code = publicCode(error);
  if (code !== undefined)
    return new ApiError(code, error.message, {
      hint: (error.side === 'repository' ? BY_REQUEST[code] : undefined) ?? error.hint,
      details: AWAY.has(error.code) ? { ...error.details, reason: 'away' } : error.details,
      cause: error,
    });
  if (error.side === 'config') {
    return new ApiError('DESTINATION_ERROR', 'The secret of the destination is not available', {
      hint: `To find out why, run on the computer of the agent: ${holdfast`doctor`}`,
      cause: error,
    });
  }
  if (!CATALOG_CODES.has(error.code)) return undefined;
  return new ApiError('SERVICE_UNAVAILABLE', 'The catalog cannot be read at the moment', {
    hint: 'Try again later.',
    cause: error,
  });
}

/** What a program asks next, in place of the command that the parts below name to a person. */
const BY_REQUEST: Readonly<Partial<Record<ResponseCode, string>>> = {
  PATH_NOT_IN_SNAPSHOT: 'To see which snapshots have it: GET /files/versions?path=…',
  SNAPSHOT_NOT_FOUND: 'GET /snapshots lists the snapshots.',
};

/** The storage is absent, such as an unplugged disk, but has not failed. */
const AWAY: ReadonlySet<string> = new Set(['DESTINATION_UNREACHABLE', 'DESTINATION_NOT_FOUND']);

/** Codes about the request from parts that distinguish more cases than the API does. */
export const ALSO_INVALID: ReadonlySet<string> = new Set([
  'EXCLUDE_NAME',
  'EXCLUDE_PATH',
  'EXCLUDE_PATTERN',
  'INVALID_DURATION',
  'INVALID_PATH',
  'INVALID_PATTERN',
  'INVALID_RANGE',
  'INVALID_SCHEDULE',
  'INVALID_SIZE',
  'INVALID_TIME_ZONE',
  'INVALID_URL',
  'NOT_A_DIRECTORY',
  'NOT_A_FILE',
  'PATH_OUTSIDE_SOURCE',
  'UNSUPPORTED',
]);
const CATALOG_CODES: ReadonlySet<string> = new Set(['CATALOG_CLOSED', 'CATALOG_DAMAGED']);

/**
 * The public code of an error. Errors about the request, the repository and the destination are shown as they are.
 * Errors of local state and of the settings name paths of the agent, and a bug tells the caller nothing.
 */
function publicCode(error: HoldfastError): ResponseCode | undefined {
  if (error.side === 'destination') {
    return error.code === 'DESTINATION_FULL' ? 'INSUFFICIENT_STORAGE' : 'DESTINATION_ERROR';
  }
  if (error.side === 'request') {
    if (isResponseCode(error.code)) return error.code;
    return ALSO_INVALID.has(error.code) ? 'INVALID_REQUEST' : undefined;
  }
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
