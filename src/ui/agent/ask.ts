/** Sends requests to the agent. The browser adds the session cookie. */

const BASE = '/internal/v1';

/** An error of the agent, or of the connection to it. */
export class AskError extends Error {
  override readonly name = 'AskError';
  /** From the registry of error codes; `OFFLINE` when the agent did not answer. */
  readonly code: string;
  /** 0 when there was no answer. */
  readonly status: number;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: string, status: number, message: string, details: Readonly<Record<string, unknown>>) {
    super(message);
    this.code = code;
    this.status = status;
    this.details = details;
  }
}

export interface AskOptions {
  readonly body?: unknown;
  /** The revision of the settings that were read. */
  readonly ifMatch?: string;
  readonly signal?: AbortSignal;
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

interface Reply {
  readonly success: boolean;
  readonly data?: unknown;
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly details: Readonly<Record<string, unknown>>;
  };
}

/** Called when the session is over. */
let signedOut: () => void = () => undefined;

export function onSignedOut(heard: () => void): void {
  signedOut = heard;
}

/**
 * `Data` is the type that the route's schema has in src/api/schemas.
 * @throws {AskError} and the reason of `signal`
 */
export async function ask<Data>(method: Method, path: string, options: AskOptions = {}): Promise<Data> {
  const { body, ifMatch, signal } = options;
  let response: Response;
  try {
    response = await fetch(BASE + path, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(ifMatch === undefined ? {} : { 'if-match': `"${ifMatch}"` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
      credentials: 'same-origin',
      cache: 'no-store',
      redirect: 'error',
      referrerPolicy: 'no-referrer',
    });
  } catch (error) {
    signal?.throwIfAborted();
    throw new AskError(
      'OFFLINE',
      0,
      error instanceof Error ? error.message : 'The agent does not answer',
      {},
    );
  }
  const reply = (await response.json()) as Reply;
  if (reply.success) return reply.data as Data;
  if (response.status === 401 && path !== '/session') signedOut();
  const { code, message, details } = reply.error ?? { code: 'INTERNAL_ERROR', message: '', details: {} };
  throw new AskError(code, response.status, message, details);
}

/** A path with a query, without parameters that are undefined or empty. */
export function withQuery(
  path: string,
  query: Readonly<Record<string, string | number | undefined>>,
): string {
  const parts = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') parts.set(name, String(value));
  const text = parts.toString();
  return text === '' ? path : `${path}?${text}`;
}

/** The address of something that the browser fetches, such as a download or a picture. */
export function addressOf(path: string): string {
  return BASE + path;
}
