/** One request: its address and headers, who asks, and when it is tried again. */
import type { Connection } from './connection.ts';
import type { HoldfastError } from './holdfast-error.ts';
import { growingPauseMs } from './pauses.ts';
import { connectionFailed, dataOf, errorOf } from './replies.ts';

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
  return await dataOf(await send(connection, method, route, input), connection.base, input.signal);
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
    const proof = await unlessAborted(identity.headers(), input.signal);
    const response = await ask(connection, request, input, proof);
    if (response.ok) return response;
    const error = await errorOf(response, connection.base, input.signal);
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
  proof: Readonly<Record<string, string>>,
): Promise<Response> {
  try {
    return await connection.fetch(address, {
      method,
      headers: { ...headers, ...proof },
      redirect: 'manual',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    signal?.throwIfAborted();
    throw connectionFailed(address, error);
  }
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
function pauseBefore({ code, status, retryAfterSeconds }: HoldfastError, tries: number): number | undefined {
  // The last: somebody repeats a request whose answer got lost, while the first one is still at work.
  if (status !== 429 && status !== 503 && code !== 'IDEMPOTENCY_IN_PROGRESS') return undefined;
  return retryAfterSeconds === undefined ? growingPauseMs(FIRST_PAUSE_MS, tries) : retryAfterSeconds * 1_000;
}

/** Signing in is shared with other calls, and goes on without this one. */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal = NEVER): Promise<T> {
  signal.throwIfAborted();
  return await new Promise<T>((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
