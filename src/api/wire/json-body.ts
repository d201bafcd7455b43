/** Parses request bodies: one JSON value in UTF-8, limited in depth and in number of values, with no field named twice. */
import type { FastifyRequest } from 'fastify';
import { ApiError } from './api-error.ts';
import type { ApiLimits } from './limits.ts';

/**
 * The value, or undefined for an empty body.
 * @throws {ApiError} INVALID_JSON, INVALID_REQUEST
 */
export function parseJsonBody(
  bytes: Uint8Array,
  limits: Pick<ApiLimits, 'bodyDepth' | 'bodyValues'>,
): unknown {
  if (bytes.length === 0) return undefined;
  const text = decode(bytes);
  requireModest(text, limits);
  const value = parsed(text);
  if (HALF.test(text)) requireWhole(value);
  return value;
}

/** Matches an escaped surrogate. Lone surrogates can only be written as escapes, since valid UTF-8 has none. */
const HALF = /\\u[dD][89a-fA-F]/;

/**
 * Refuses lone surrogates. Text stores replace each of them by the same character, which would make two different paths
 * or ids equal.
 * @throws {ApiError} INVALID_REQUEST
 */
function requireWhole(value: unknown, field = ''): void {
  if (typeof value === 'string') {
    if (value.isWellFormed()) return;
    const message = 'contains half of a character (a lone surrogate)';
    throw new ApiError('INVALID_REQUEST', field === '' ? `A text ${message}` : `'${field}' ${message}`, {
      hint: 'Write the full character, or leave it out. Send a path that is not text as base64, where the route accepts that.',
      details: { field, problems: [{ field, message }] },
    });
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [name, part] of Object.entries(value)) {
    requireWhole(name);
    requireWhole(part, field === '' ? name : `${field}.${name}`);
  }
}

/**
 * Refuses a body in another form than its own, which no route reads (RFC 9110, 15.5.16). Must run before it is parsed.
 * @throws {ApiError} UNSUPPORTED_MEDIA_TYPE
 */
export function requirePlainBody(headers: FastifyRequest['headers']): void {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  if (!hasBody) return;
  const codings = (headers['content-encoding'] ?? '').split(',').map((one) => one.trim());
  const other = codings.filter((one) => one !== '' && one.toLowerCase() !== 'identity');
  if (other.length === 0) return;
  throw new ApiError('UNSUPPORTED_MEDIA_TYPE', `The body is encoded (${other.join(', ').slice(0, 100)})`, {
    hint: 'Send it as it is, without Content-Encoding.',
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    // The parser's own message quotes the body, which may hold a secret.
    throw invalidJson('The body is not valid JSON', cause);
  }
}

/** Replaces an absent body by an empty object, for routes whose fields are all optional. Must run before validation. */
export async function withoutBody(request: FastifyRequest): Promise<void> {
  // The text `null` is no empty body.
  if (request.body === undefined) request.body = {};
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw invalidJson('The body is not valid UTF-8', cause);
  }
}

/**
 * Scans the text once, before anything is built from it. Text that is not JSON passes here and fails in the parser. A
 * field named twice is refused because programs disagree on which of the two is valid.
 */
function requireModest(
  text: string,
  { bodyDepth, bodyValues }: Pick<ApiLimits, 'bodyDepth' | 'bodyValues'>,
): void {
  /** One entry for each open bracket: the field names of an object, null for an array. */
  const open: (Set<string> | null)[] = [];
  let nameNext = false;
  let parts = 1;
  for (let index = 0; index < text.length; index += 1) {
    switch (text[index]) {
      case '"': {
        const end = endOfString(text, index);
        const names = open.at(-1);
        if (nameNext && names) addName(names, text.slice(index, end + 1));
        nameNext = false;
        index = end;
        break;
      }
      case '{':
        open.push(new Set());
        nameNext = true;
        break;
      case '[':
        open.push(null);
        nameNext = false;
        break;
      case '}':
      case ']':
        open.pop();
        nameNext = false;
        break;
      case ',':
        parts += 1;
        nameNext = open.at(-1) instanceof Set;
        break;
      default:
    }
    if (open.length > bodyDepth) throw tooComplex(`is nested more than ${bodyDepth} levels deep`);
    if (parts > bodyValues) throw tooComplex(`has more than ${bodyValues} values`);
  }
}

/** Index of the closing quote; the length of the text when there is none. */
function endOfString(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index += 1) {
    if (text[index] === '\\') index += 1;
    else if (text[index] === '"') return index;
  }
  return text.length;
}

function addName(names: Set<string>, quoted: string): void {
  const name = quoted.includes('\\') ? unescape(quoted) : quoted.slice(1, -1);
  if (names.has(name)) {
    throw new ApiError('INVALID_JSON', `The body names the field '${name.slice(0, 100)}' twice`, {
      hint: 'Give each field once.',
      details: { field: name.slice(0, 100) },
    });
  }
  if (name === '__proto__') throw invalidJson("The body has a field '__proto__'");
  names.add(name);
}

function unescape(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    // Not a valid JSON string: the parser reports that for the whole body.
    return quoted;
  }
}

function invalidJson(message: string, cause?: unknown): ApiError {
  return new ApiError('INVALID_JSON', message, { hint: 'Send one JSON object in UTF-8.', cause });
}

function tooComplex(what: string): ApiError {
  return new ApiError('INVALID_REQUEST', `The body ${what}`, { hint: 'No route accepts such a body.' });
}
