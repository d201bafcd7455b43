/** One request: its address and headers, who asks, what is tried again, and the data of the reply or the error. */
import { HoldfastError } from './holdfast-error.ts';
import { type Clock, growingPauseMs } from './pauses.ts';

/** What the calls of a route may be given. The types of the routes say which of it each one has. */
export interface RequestInput {
  readonly path?: Readonly<Record<string, string>> | undefined;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  readonly body?: unknown;
  readonly idempotencyKey?: string | undefined;
  readonly waitSeconds?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** `fetch` as far as it is used. */
export type Fetch = (address: string, init: RequestInit) => Promise<Response>;

/** Who asks. */
export interface Identity {
  headers(): Promise<Readonly<Record<string, string>>>;
  /** Whether asking once more, as somebody who signed in again, may help against this error. */
  renews(error: HoldfastError): boolean;
}

export interface Connection {
  /** Up to the version, as `http://127.0.0.1:7390/v1`. */
  readonly base: string;
  readonly identity: Identity;
  readonly fetch: Fetch;
  readonly clock: Clock;
  /** Of all pauses of one request together. */
  readonly longestPauseMs: number;
}

/** Nobody waits for less: neither for the agent to start, nor for a place among the requests of the plan. */
const FIRST_PAUSE_MS = 1_000;
/** Of a call that was given none. */
export const NEVER: AbortSignal = new AbortController().signal;

/** The data of the reply; the whole `Response` where it is no JSON. */
export async function call(
  connection: Connection,
  method: string,
  route: string,
  input: RequestInput = {},
): Promise<unknown> {
  const response = await send(connection, method, route, input);
  if (!isJson(response)) return response;
  const reply = await readJson(response);
  if (isRecord(reply) && reply['success'] === true) return reply['data'];
  throw unexpectedReply(response);
}

/**
 * A reply with a status of success.
 * @throws {HoldfastError} once asking again does not help, or not soon enough
 */
export async function send(
  connection: Connection,
  method: string,
  route: string,
  input: RequestInput,
): Promise<Response> {
  const { clock, identity, longestPauseMs } = connection;
  // The same for each try, so that one that was carried out without an answer is not carried out again.
  const request = {
    method,
    address: addressOf(connection.base, route, input),
    headers: headersOf(method, input),
  };
  let pausedMs = 0;
  let renewed = false;
  for (let tries = 0; ; tries += 1) {
    const response = await ask(connection, request, input, await identity.headers());
    if (response.ok) return response;
    const error = await errorOf(response);
    if (!renewed && identity.renews(error)) {
      renewed = true;
      continue;
    }
    const pauseMs = pauseBefore(error, tries);
    if (pauseMs === undefined || pausedMs + pauseMs > longestPauseMs) throw error;
    await clock.sleep(pauseMs, input.signal ?? NEVER);
    pausedMs += pauseMs;
  }
}

interface PreparedRequest {
  readonly method: string;
  readonly address: string;
  readonly headers: Readonly<Record<string, string>>;
}

async function ask(
  connection: Connection,
  { method, address, headers }: PreparedRequest,
  { body, signal }: RequestInput,
  identity: Readonly<Record<string, string>>,
): Promise<Response> {
  try {
    return await connection.fetch(address, {
      method,
      headers: { ...headers, ...identity },
      redirect: 'manual',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    signal?.throwIfAborted();
    throw connectionFailed(address, error);
  }
}

export function connectionFailed(address: string, cause: unknown): HoldfastError {
  const { origin } = new URL(address);
  return new HoldfastError({
    code: 'CONNECTION_FAILED',
    message: `There is no answer from ${origin}. See whether Holdfast runs there, and ask again.`,
    cause,
  });
}

function addressOf(base: string, route: string, { path = {}, query = {} }: RequestInput): string {
  const filled = route.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(path[name] ?? ''));
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const words = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  return `${base}${filled}${given.length === 0 ? '' : `?${words.toString()}`}`;
}

function headersOf(
  method: string,
  { headers = {}, body, idempotencyKey, waitSeconds }: RequestInput,
): Readonly<Record<string, string>> {
  const given = Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return {
    ...Object.fromEntries(given),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(method === 'POST' ? { 'idempotency-key': idempotencyKey ?? crypto.randomUUID() } : {}),
    ...(waitSeconds === undefined ? {} : { prefer: `wait=${waitSeconds}` }),
  };
}

/** Undefined when the same request would be refused again. */
function pauseBefore({ status, retryAfterSeconds }: HoldfastError, tries: number): number | undefined {
  if (status !== 429 && status !== 503) return undefined;
  return retryAfterSeconds === undefined ? growingPauseMs(FIRST_PAUSE_MS, tries) : retryAfterSeconds * 1_000;
}

async function errorOf(response: Response): Promise<HoldfastError> {
  const reply = isJson(response) ? await readJson(response) : undefined;
  if (reply === undefined) await response.body?.cancel();
  const { error, meta } = isRecord(reply) ? reply : {};
  if (!isRecord(error)) return unexpectedReply(response);
  const { code, message, details } = error;
  if (typeof code !== 'string' || typeof message !== 'string') return unexpectedReply(response);
  return new HoldfastError({
    code,
    message,
    details: isRecord(details) ? details : {},
    status: response.status,
    requestId: requestIdOf(response, meta),
    retryAfterSeconds: retryAfterOf(response),
  });
}

function unexpectedReply(response: Response): HoldfastError {
  return new HoldfastError({
    code: 'UNEXPECTED_REPLY',
    message: `What answers at ${new URL(response.url).origin} is not Holdfast, or something in between answers for it (status ${response.status}). Look at the address.`,
    status: response.status,
    requestId: requestIdOf(response, undefined),
    retryAfterSeconds: retryAfterOf(response),
  });
}

function requestIdOf(response: Response, meta: unknown): string | undefined {
  const id = isRecord(meta) ? meta['request_id'] : undefined;
  return typeof id === 'string' ? id : (response.headers.get('x-request-id') ?? undefined);
}

/** Both services say it in whole seconds. */
function retryAfterOf(response: Response): number | undefined {
  const text = response.headers.get('retry-after') ?? '';
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

function isJson(response: Response): boolean {
  return /^application\/json\b/.test(response.headers.get('content-type') ?? '');
}

/** Undefined when it is none, or breaks off. */
async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    return undefined;
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
