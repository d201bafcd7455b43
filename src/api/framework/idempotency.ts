/** Gives a POST that is repeated with the same `Idempotency-Key` one effect and one response. */
import { createHash } from 'node:crypto';
import type { IdempotencyKey, IdempotencyStore, KeptResponse } from '../../db/idempotency.ts';
import type { Clock } from '../../base/clock.ts';
import { ApiError } from '../wire/api-error.ts';
import { ERROR_CODES, isErrorCode } from '../wire/error-codes.ts';
import { PREFIXES } from './route.ts';

/** A request that holds its key while it runs. It ends once, by `finish` or `abandon`. */
export interface RunningRequest {
  /**
   * Keeps the response, unless repeating the request could have another outcome. `prefix` is the prefix of the
   * request's path.
   */
  finish(response: KeptResponse, prefix: string): void;
  /**
   * Stores the response for a repeated request in case this process ends before `finish`. To be called in the
   * transaction that stores the effect. Afterwards the key is kept, however the request is answered.
   */
  note(response: KeptResponse, prefix: string): void;
  abandon(): void;
}

export type Beginning =
  | { readonly kind: 'run'; readonly running: RunningRequest }
  | { readonly kind: 'replay'; readonly response: KeptResponse };

export interface IdempotentRequest {
  readonly key: string;
  readonly caller: string;
  /** Path with its prefix, without the query string. */
  readonly path: string;
  readonly query: unknown;
  readonly body: unknown;
}

/** @throws {ApiError} INVALID_REQUEST for a malformed key, IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_IN_PROGRESS */
export function beginIdempotent(
  store: IdempotencyStore,
  { key, caller, path, query, body }: IdempotentRequest,
  clock: Clock,
): Beginning {
  requireIdempotencyKey(key);
  const { prefix, rest } = split(path);
  const id: IdempotencyKey = { key, caller, route: `POST ${rest}` };
  const verdict = store.begin(id, requestHash(query, body), clock.now());
  switch (verdict.kind) {
    case 'new':
      return { kind: 'run', running: runningRequest(store, id) };
    case 'done':
      return { kind: 'replay', response: withPrefix(verdict.response, prefix) };
    case 'running':
      throw stillRunning();
    case 'reused':
      throw keyReused();
  }
}

/** Equal for equal requests: the order of fields does not matter. */
export function requestHash(query: unknown, body: unknown): string {
  return createHash('sha256')
    .update(canonical({ query, body: body ?? null }))
    .digest('hex');
}

export function stillRunning(): ApiError {
  return new ApiError(
    'IDEMPOTENCY_IN_PROGRESS',
    'The first request with this Idempotency-Key is still being answered',
    { hint: 'Ask again in a moment.', headers: { 'retry-after': '1' } },
  );
}

export function keyReused(): ApiError {
  return new ApiError('IDEMPOTENCY_KEY_REUSED', 'This Idempotency-Key belongs to a different request', {
    hint: 'Use a new key for each request, and the same one only to repeat it.',
  });
}

/** @throws {ApiError} INVALID_REQUEST */
export function requireIdempotencyKey(key: string): void {
  if (/^[\u0021-\u007e][\u0020-\u007e]{0,254}$/.test(key)) return;
  throw new ApiError('INVALID_REQUEST', 'The Idempotency-Key is not 1 to 255 printable characters', {
    hint: 'Use a random id, such as a UUID.',
    details: { field: 'Idempotency-Key' },
  });
}

function runningRequest(store: IdempotencyStore, id: IdempotencyKey): RunningRequest {
  let ended = false;
  let hasEffect = false;
  const giveUp = (): void => {
    if (hasEffect) store.release(id);
    else store.abandon(id);
  };
  return {
    finish({ status, headers, body }, prefix) {
      if (ended) return;
      ended = true;
      if (!isFinalResponse(status, body)) giveUp();
      else store.finish(id, { status, headers: withoutPrefix(headers, prefix), body: withoutSecret(body) });
    },
    note({ status, headers, body }, prefix) {
      store.note(id, { status, headers: withoutPrefix(headers, prefix), body: withoutSecret(body) });
      hasEffect = true;
    },
    abandon() {
      if (ended) return;
      ended = true;
      giveUp();
    },
  };
}

/**
 * Whether repeating the request would always give this response. Temporary failures do not qualify: a full queue
 * empties, a failed disk recovers.
 */
export function isFinalResponse(status: number, body: string): boolean {
  if (status < 400) return true;
  const { error }: { readonly error?: { readonly code?: string } } = JSON.parse(body);
  const code = error?.code ?? '';
  return status < 500 && isErrorCode(code) && ERROR_CODES[code].retry === 'never';
}

/** Replaces the secret in a response: a secret is shown once, and a repeated request learns only that it was shown. */
export function withoutSecret(body: string): string {
  const parsed: { data?: Record<string, unknown> | null } = JSON.parse(body);
  if (typeof parsed.data?.['secret'] !== 'string') return body;
  return JSON.stringify({ ...parsed, data: { ...parsed.data, secret: null, secret_shown: true } });
}

function split(path: string): { readonly prefix: string; readonly rest: string } {
  const prefix = PREFIXES.find((start) => path.startsWith(`${start}/`)) ?? '';
  return { prefix, rest: path.slice(prefix.length) };
}

type Headers = KeptResponse['headers'];

function withoutPrefix(headers: Headers, prefix: string): Headers {
  const { location, ...more } = headers;
  return location?.startsWith(`${prefix}/`) ? { ...more, location: location.slice(prefix.length) } : headers;
}

function withPrefix({ status, headers, body }: KeptResponse, prefix: string): KeptResponse {
  const { location, ...more } = headers;
  return {
    status,
    body,
    headers: location === undefined ? more : { ...more, location: `${prefix}${location}` },
  };
}

/** JSON with the fields of each object sorted by name, since their order in the request has no meaning. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonical(field)}`).join(',')}}`;
}
