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

/** Whether this browser has a session. Unlike `ask`, it ends nothing where there is none. */
export async function isSignedIn(): Promise<boolean> {
  try {
    return (await fetch(addressOf('/alarms'), { credentials: 'same-origin', cache: 'no-store' })).ok;
  } catch {
    return false;
  }
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

/** @throws {AskError} */
export async function askText(path: string): Promise<string> {
  let response: Response;
  try {
    response = await fetch(addressOf(path), {
      credentials: 'same-origin',
      cache: 'no-store',
      redirect: 'error',
      referrerPolicy: 'no-referrer',
    });
  } catch (error) {
    throw new AskError(
      'OFFLINE',
      0,
      error instanceof Error ? error.message : 'The agent does not answer',
      {},
    );
  }
  const text = await response.text();
  if (response.ok) return text;
  const { error } = JSON.parse(text) as {
    readonly error: {
      readonly code: string;
      readonly message: string;
      readonly details: Record<string, unknown>;
    };
  };
  throw new AskError(error.code, response.status, error.message, error.details);
}

export interface ContentAsked {
  readonly snapshot: string;
  /** `path` or `path_b64`. */
  readonly path: Readonly<Record<string, string>>;
}

/** The address at which a browser downloads the file. */
export function contentAddress({ snapshot, path }: ContentAsked): string {
  return addressOf(withQuery('/files/content', { snapshot, ...path }));
}

/** The address at which a browser downloads a folder as a tar archive. */
export function archiveAddress({ snapshot, path }: ContentAsked): string {
  return addressOf(withQuery('/archive', { snapshot, ...path }));
}

/**
 * The first `most` bytes of a file, or all of a smaller one.
 * @throws {AskError} and the reason of `signal`
 */
export async function fetchContent(
  asked: ContentAsked,
  most: number,
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  let response: Response;
  try {
    response = await fetch(contentAddress(asked), {
      headers: { range: `bytes=0-${most - 1}` },
      credentials: 'same-origin',
      cache: 'no-store',
      redirect: 'error',
      signal,
    });
    if (response.ok) return new Uint8Array(await response.arrayBuffer());
  } catch (error) {
    signal.throwIfAborted();
    const message = error instanceof Error ? error.message : 'The agent does not answer';
    throw new AskError('OFFLINE', 0, message, {});
  }
  // The agent refuses a range of an empty file.
  if (response.status === 416) return new Uint8Array();
  const { error } = (await response.json()) as {
    readonly error?: Pick<AskError, 'code' | 'message' | 'details'>;
  };
  throw new AskError(
    error?.code ?? 'INTERNAL_ERROR',
    response.status,
    error?.message ?? '',
    error?.details ?? {},
  );
}
