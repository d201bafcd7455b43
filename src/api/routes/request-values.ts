/** Reads values of requests that a schema cannot express: paths as bytes, times. */
import { isAbsolute, resolve } from 'node:path';
import { asByteString, type ByteString } from '../../base/byte-path.ts';
import { treePath } from '../../base/tree-path.ts';
import { momentOf } from '../../jobs/agent.ts';
import { ApiError } from '../wire/api-error.ts';
import { MAX_PATH_BYTES } from '../schemas/values.ts';

/** An INVALID_REQUEST about one field, in the same form as schema violations. */
export function badField(field: string, message: string, hint: string): ApiError {
  return new ApiError('INVALID_REQUEST', `'${field}' ${message}`, {
    hint,
    details: { field, problems: [{ field, message }] },
  });
}

/**
 * The bytes of a path given as text.
 * @throws {ApiError} INVALID_REQUEST when it contains a NUL or is too long
 */
export function readPath(field: string, text: string): ByteString {
  return checked(field, treePath(text));
}

/**
 * The source in the form that jobs and snapshots use: without doubled slashes, `..` or a trailing slash.
 * @throws {ApiError} INVALID_REQUEST
 */
export function readSource(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  readPath('source', text);
  return isAbsolute(text) ? resolve(text) : text;
}

/** The `stored_by` filter in the form that the agent takes. The schema has checked its format. */
export function readStoredBy(text: string | undefined): readonly string[] | undefined {
  return text === undefined ? undefined : [text];
}

/**
 * The bytes of a path given in base64, with either alphabet.
 * @throws {ApiError} INVALID_REQUEST
 */
export function readPathB64(field: string, text: string): ByteString {
  const bytes = Buffer.from(text, 'base64');
  // Decoding skips characters that are not base64.
  if (bytes.toString('base64url') !== plainBase64(text)) {
    throw badField(field, 'is not base64', 'Encode the bytes of the path.');
  }
  return checked(field, asByteString(bytes.toString('latin1')));
}

function plainBase64(text: string): string {
  return text
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/={1,2}$/, '');
}

/**
 * The path of a request that takes `path` or `path_b64`; undefined when it has neither.
 * @throws {ApiError} INVALID_REQUEST when it has both, or the path is not valid
 */
export function readEitherPath(query: {
  readonly path?: string | undefined;
  readonly path_b64?: string | undefined;
}): ByteString | undefined {
  if (query.path !== undefined && query.path_b64 !== undefined) {
    throw badField('path_b64', 'cannot be combined with path', 'Give one of the two.');
  }
  if (query.path !== undefined) return readPath('path', query.path);
  return query.path_b64 === undefined ? undefined : readPathB64('path_b64', query.path_b64);
}

/**
 * As `readEitherPath`, for a request that needs a path.
 * @throws {ApiError} MISSING_FIELD, INVALID_REQUEST
 */
export function readRequiredPath(query: Parameters<typeof readEitherPath>[0]): ByteString {
  const path = readEitherPath(query);
  if (path !== undefined) return path;
  throw new ApiError('MISSING_FIELD', "The query parameter 'path' is missing", {
    hint: 'Name the file by path or by path_b64.',
    details: { field: 'path' },
  });
}

function checked(field: string, bytes: ByteString): ByteString {
  if (bytes.includes('\0'))
    throw badField(field, 'contains a NUL character', 'File names cannot contain one.');
  if (bytes.length > MAX_PATH_BYTES) {
    throw badField(field, `is longer than ${MAX_PATH_BYTES} bytes`, 'Name a directory above it.');
  }
  return bytes;
}

const RFC_3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.\d{1,9})?(?:[Zz]|[+-](\d\d):(\d\d))$/;

/** Milliseconds since 1970 of an RFC 3339 time; undefined when the text is not one. */
export function parseTime(text: string): number | undefined {
  const match = RFC_3339.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, aheadHour = 0, aheadMinute = 0] = match.map(Number);
  const inRange =
    Number(month) >= 1 &&
    Number(month) <= 12 &&
    Number(day) >= 1 &&
    Number(day) <= daysOf(Number(year), Number(month)) &&
    Number(hour) <= 23 &&
    Number(minute) <= 59 &&
    Number(second) <= 59 &&
    (Number.isNaN(aheadHour) || aheadHour <= 23) &&
    (Number.isNaN(aheadMinute) || aheadMinute <= 59);
  if (!inRange) return undefined;
  const ms = Date.parse(text.toUpperCase().replace(' ', 'T'));
  return Number.isNaN(ms) ? undefined : ms;
}

function daysOf(year: number, month: number): number {
  const last = new Date(0);
  // Day 0 of the next month is the last day of this one. setUTCFullYear does not shift years below 100, unlike Date.UTC.
  last.setUTCFullYear(year, month, 0);
  return last.getUTCDate();
}

/**
 * Milliseconds since 1970.
 * @throws {ApiError} INVALID_REQUEST
 */
export function readTime(field: string, text: string): number {
  const ms = parseTime(text);
  if (ms !== undefined) return ms;
  throw badField(
    field,
    'is not a time',
    'Write it as 2026-11-21T16:40:00Z or 2026-11-21T17:40:00+01:00; in a query string a plus is %2B.',
  );
}

/** @throws {ApiError} INVALID_REQUEST */
export function readOptionalTime(field: string, text: string | undefined): number | undefined {
  return text === undefined ? undefined : readTime(field, text);
}

/**
 * Converts `latest`, a snapshot id or a time to the form that the agent takes.
 * @throws {ApiError} INVALID_REQUEST for a text that begins like a time and is not one
 */
export function readSnapshot(text: string): string {
  if (!/^\d{4}-/.test(text)) return text;
  return momentOf(readTime('snapshot', text));
}

/** Seconds of `wait=N` in a Prefer header, at most `most`; undefined without one. Malformed preferences are ignored. */
export function readWait(header: string | undefined, most: number): number | undefined {
  for (const preference of (header ?? '').split(',')) {
    const match = /^\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:;.*)?$/i.exec(preference);
    if (match !== null) return Math.min(Number(match[1]), most);
  }
  return undefined;
}
