/** Every error code of both APIs: its HTTP status, its meaning, and whether a retry can help. */

import type { Retry } from '../../base/errors.ts';

export interface ErrorCodeEntry {
  /** Null for codes that appear only in `job.error`. */
  readonly status: number | null;
  readonly title: string;
  readonly description: string;
  readonly retry: Retry;
}

function entry<Status extends number | null>(
  status: Status,
  retry: Retry,
  title: string,
  description: string,
): ErrorCodeEntry & { readonly status: Status } {
  return { status, title, description, retry };
}

export const ERROR_CODES = {
  INVALID_REQUEST: entry(
    400,
    'never',
    'Invalid request',
    'The request does not match what this route accepts; details.problems lists what is wrong.',
  ),
  INVALID_JSON: entry(
    400,
    'never',
    'Invalid JSON',
    'The body is not one well-formed JSON value in UTF-8, or names a field twice.',
  ),
  MISSING_FIELD: entry(
    400,
    'never',
    'Missing field',
    'A field that this route needs is absent; details.field names it.',
  ),
  UNKNOWN_FIELD: entry(
    400,
    'never',
    'Unknown field',
    'A field or query parameter is unknown here; details.field names it, and details.did_you_mean the closest known one.',
  ),
  INVALID_SOURCE: entry(
    400,
    'never',
    'Invalid source',
    'A path cannot be backed up; details.path and details.reason say which one and why.',
  ),
  INVALID_DESTINATION: entry(
    400,
    'never',
    'Invalid destination',
    'The destination is neither a configured name nor a usable URL; details.destination or details.field says which one.',
  ),
  INVALID_TARGET: entry(
    400,
    'never',
    'Invalid target',
    'Nothing can be restored to that place; details.reason says why.',
  ),
  SECRET_IN_URL: entry(
    400,
    'never',
    'Secret in a URL',
    'A URL carries a password or key. Configure a named destination instead.',
  ),
  UNSUPPORTED_COMPRESSION: entry(
    400,
    'never',
    'Unsupported compression',
    'Use zstd, zstd:1 to zstd:19, none or auto.',
  ),
  INVALID_CURSOR: entry(
    400,
    'never',
    'Invalid cursor',
    'The cursor does not belong to this list with these filters. Start without one.',
  ),
  ENROLLMENT_TOKEN_INVALID: entry(
    400,
    'never',
    'Invalid enrollment token',
    'The enrollment token is unknown, already used or expired. Ask for a new one.',
  ),
  INVALID_WEBHOOK_URL: entry(
    400,
    'never',
    'Invalid webhook URL',
    'Webhooks are sent to https addresses on the public internet.',
  ),
  UNAUTHORIZED: entry(
    401,
    'never',
    'Unauthorized',
    'The Authorization header is missing or not of the form "Bearer <token>".',
  ),
  TOKEN_EXPIRED: entry(
    401,
    'never',
    'Token expired',
    'The access token has expired. Get a new one from POST /auth/token.',
  ),
  INVALID_TOKEN: entry(
    401,
    'never',
    'Invalid token',
    'The access token was not issued by this agent, or its credential was rotated or revoked.',
  ),
  INVALID_CREDENTIALS: entry(
    401,
    'never',
    'Invalid credentials',
    'The API key is unknown or the secret does not belong to it.',
  ),
  INVALID_API_KEY: entry(
    401,
    'never',
    'Invalid API key',
    'The API key is unknown, or was replaced or revoked.',
  ),
  QUOTA_EXCEEDED: entry(
    402,
    'never',
    'Storage quota exceeded',
    'The storage or the devices of the plan are used up.',
  ),
  FORBIDDEN: entry(403, 'never', 'Forbidden', 'This caller does not have permission to do that.'),
  HOST_NOT_ALLOWED: entry(
    403,
    'never',
    'Host not allowed',
    'The Host header does not name this agent: localhost, 127.0.0.1 or [::1] and its port.',
  ),
  ORIGIN_NOT_ALLOWED: entry(
    403,
    'never',
    'Origin not allowed',
    "The request comes from another site's page.",
  ),
  PARTNER_SUSPENDED: entry(403, 'never', 'Partner suspended', 'The account is suspended.'),
  NOT_FOUND: entry(
    404,
    'never',
    'Not found',
    'There is no such route; or, where no other code is about it, nothing with that id.',
  ),
  BACKUP_NOT_FOUND: entry(404, 'never', 'Backup not found', 'There is no backup job with that id.'),
  RESTORE_NOT_FOUND: entry(404, 'never', 'Restore not found', 'There is no restore job with that id.'),
  SNAPSHOT_NOT_FOUND: entry(
    404,
    'never',
    'Snapshot not found',
    'There is no such snapshot; details.snapshot names it. Where others have one that could be meant, details.host or details.stored_by says whose.',
  ),
  PATH_NOT_IN_SNAPSHOT: entry(
    404,
    'never',
    'Path not in the snapshot',
    'The snapshot does not contain that path, which details.path names.',
  ),
  CUSTOMER_NOT_FOUND: entry(404, 'never', 'Customer not found', 'There is no customer with that id.'),
  PLAN_NOT_FOUND: entry(404, 'never', 'Plan not found', 'There is no plan with that id.'),
  WEBHOOK_NOT_FOUND: entry(404, 'never', 'Webhook not found', 'There is no webhook with that id.'),
  DEVICE_NOT_FOUND: entry(404, 'never', 'Device not found', 'There is no device with that id.'),
  DELIVERY_NOT_FOUND: entry(404, 'never', 'Delivery not found', 'There is no delivery with that id.'),
  METHOD_NOT_ALLOWED: entry(
    405,
    'never',
    'Method not allowed',
    'The route exists, but not for this method; the Allow header lists the methods it accepts.',
  ),
  REQUEST_TIMEOUT: entry(408, 'now', 'Request timeout', 'The request did not arrive in time.'),
  JOB_NOT_CANCELABLE: entry(
    409,
    'never',
    'Job not cancelable',
    'The job has already ended; details.status says how.',
  ),
  QUEUE_FULL: entry(
    409,
    'later',
    'Queue full',
    'As many jobs are waiting as may wait, which details.limit says. Try again when some of them are done.',
  ),
  REPOSITORY_LOCKED: entry(
    409,
    'later',
    'Repository locked',
    'Another program holds a lock on the repository.',
  ),
  ENCRYPTION_REQUIRED: entry(
    409,
    'never',
    'Encryption required',
    'The settings of this agent allow encrypted backups only.',
  ),
  IDEMPOTENCY_IN_PROGRESS: entry(
    409,
    'later',
    'Idempotent request in progress',
    'The first request with this Idempotency-Key has not been answered yet.',
  ),
  CONFIG_INVALID: entry(
    409,
    'later',
    'Configuration not valid',
    'The configuration file has mistakes; details.line, details.column and details.path say where the first one is. Correct them on the computer itself first.',
  ),
  CUSTOMER_EXISTS: entry(409, 'never', 'Customer exists', 'Another customer has that external_id.'),
  API_KEY_EXISTS: entry(
    409,
    'never',
    'API key exists',
    'There is already an active key. Regenerate or revoke it.',
  ),
  REVISION_MISMATCH: entry(
    412,
    'never',
    'Revision mismatch',
    'The settings have changed since they were read; details.revision is the present one. Read them again.',
  ),
  PAYLOAD_TOO_LARGE: entry(413, 'never', 'Payload too large', 'The body is larger than 1 MiB.'),
  UNSUPPORTED_MEDIA_TYPE: entry(415, 'never', 'Unsupported media type', 'Bodies must be application/json.'),
  RANGE_NOT_SATISFIABLE: entry(
    416,
    'never',
    'Range not satisfiable',
    'The Range header asks for bytes that the file does not have; details.size_bytes says how many it has.',
  ),
  IDEMPOTENCY_KEY_REUSED: entry(
    422,
    'never',
    'Idempotency key reused',
    'This Idempotency-Key belongs to a different request of the last 24 hours.',
  ),
  RATE_LIMIT_EXCEEDED: entry(
    429,
    'later',
    'Rate limit exceeded',
    'Too many requests. Retry-After and details.retry_after_seconds say in how many seconds the next one is accepted; details.limit and details.window_seconds say how many are.',
  ),
  HEADERS_TOO_LARGE: entry(
    431,
    'never',
    'Headers too large',
    'Request line and headers are larger than 16 KiB together.',
  ),
  INTERNAL_ERROR: entry(
    500,
    'later',
    'Internal error',
    'Something failed unexpectedly; the log has the request id.',
  ),
  DESTINATION_ERROR: entry(
    502,
    'later',
    'Destination error',
    'The storage failed, or is not the same as before; details.reason is away where it cannot be reached.',
  ),
  SERVICE_UNAVAILABLE: entry(
    503,
    'later',
    'Service unavailable',
    'The agent cannot answer this in time, or has not started fully.',
  ),
  SHUTTING_DOWN: entry(503, 'later', 'Shutting down', 'The agent is stopping and takes no more requests.'),
  INSUFFICIENT_STORAGE: entry(
    507,
    'later',
    'Insufficient storage',
    'The disk of the agent or of the destination is full.',
  ),
  JOB_INTERRUPTED: entry(
    null,
    'later',
    'Job interrupted',
    'The engine died three times in a row without storing anything new.',
  ),
  HOOK_FAILED: entry(
    null,
    'later',
    'Command failed',
    'The command before the job failed, so the job was not started, or it ran with a warning, depending on the settings. Or the command after it failed, which is a warning.',
  ),
  SECRET_UNAVAILABLE: entry(
    null,
    'later',
    'Secret not available',
    'The secret of the destination is not where the settings say it is.',
  ),
  SECRET_UNSAFE: entry(
    null,
    'never',
    'Secret open to others',
    'Other users can read or change the file with the secret of the destination, so it is not used.',
  ),
  STATE_NOT_PRIVATE: entry(
    null,
    'never',
    'State open to others',
    'Other users can read or change files of the agent that hold keys, so they are not used.',
  ),
  STATE_DAMAGED: entry(null, 'never', 'State damaged', 'A file of the agent is damaged.'),
  DESTINATION_UNREACHABLE: entry(
    null,
    'later',
    'Destination unreachable',
    'The storage could not be reached.',
  ),
  DESTINATION_AUTH_FAILED: entry(
    null,
    'never',
    'Destination refused the login',
    'The storage rejects the credentials of the destination.',
  ),
  DECRYPTION_FAILED: entry(
    null,
    'never',
    'Decryption failed',
    'Stored data cannot be opened with the key of the repository.',
  ),
  CORRUPT_DATA: entry(null, 'never', 'Corrupt data', 'Stored data is damaged. Run a check.'),
  WRONG_PASSPHRASE: entry(null, 'never', 'Wrong passphrase', 'The passphrase does not open the repository.'),
  READ_ERROR: entry(null, 'later', 'Read error', 'The source could not be read.'),
  WRITE_ERROR: entry(null, 'later', 'Write error', 'A file could not be written.'),
  SOURCE_SUSPICIOUSLY_EMPTY: entry(
    null,
    'never',
    'Source suspiciously empty',
    'The source has lost nearly all its files since the last backup; it may not be mounted.',
  ),
} as const satisfies Readonly<Record<string, ErrorCodeEntry>>;

export type ErrorCode = keyof typeof ERROR_CODES;

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_CODES, code);
}

/** Codes that a response can carry. */
export type ResponseCode = {
  [Code in ErrorCode]: (typeof ERROR_CODES)[Code]['status'] extends number ? Code : never;
}[ErrorCode];

/** HTTP status of a code; 500 for codes of jobs, which a response should not have. */
export function statusOf(code: ErrorCode): number {
  return ERROR_CODES[code].status ?? 500;
}
