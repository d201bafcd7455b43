/** A single request to the Partner service, limited in time and size, without following redirects. */
import { systemClock } from '../base/clock.ts';
import { isTimeout, withDeadline } from '../base/paced-work.ts';
import { type ErrorFacts, HoldfastError, RequestError } from '../base/errors.ts';
import { retryAfterMs } from '../base/web/http-reply.ts';
import { callWeb, proxyReply, startOfReply, type WebReply, webTrouble } from '../base/web/web-call.ts';

export interface PartnerRequest {
  readonly method: 'GET' | 'POST';
  /** For example `/enroll`. */
  readonly route: string;
  /** The device's key; undefined before it has one. */
  readonly key?: string | undefined;
  /** JSON. */
  readonly body?: string | undefined;
  /** Version of this program. */
  readonly version: string;
}

const LIMITS = Object.freeze({
  timeoutMs: 30_000,
  /** A receipt with ten orders takes a few kilobytes. */
  replyBytes: 262_144,
  /** The longest wait that the service may ask for. */
  retryAfterMs: 24 * 3_600_000,
});

/**
 * Resolves with `data` of the reply.
 * @throws {PartnerError}; the signal's reason
 */
export async function askPartner(
  address: string,
  request: PartnerRequest,
  signal: AbortSignal,
): Promise<unknown> {
  const { host } = new URL(address);
  try {
    return await withDeadline(
      LIMITS.timeoutMs,
      async (deadline) => await ask(address, host, request, deadline),
      signal,
    );
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof PartnerError) throw error;
    const { what, hint } = isTimeout(error)
      ? {
          what: `cannot be reached (no answer within ${LIMITS.timeoutMs / 1000} s)`,
          hint: 'Check the address and the network.',
        }
      : webTrouble(error);
    throw new PartnerError('PARTNER_UNREACHABLE', `The Partner service at ${host} ${what}`, {
      hint,
      retry: 'later',
      cause: error,
    });
  }
}

async function ask(
  address: string,
  host: string,
  { method, route, key, body, version }: PartnerRequest,
  signal: AbortSignal,
): Promise<unknown> {
  const headers = {
    accept: 'application/json',
    'user-agent': `holdfast/${version}`,
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  };
  const url = new URL(routeUrl(address, route));
  const response = await callWeb(url, { method, headers, body }, signal);
  const reply = jsonOf(await startOfReply(response, LIMITS.replyBytes, signal));
  const byProxy = proxyReply(url, response.status);
  if (byProxy !== undefined)
    throw new PartnerError('PARTNER_UNREACHABLE', `The Partner service at ${host} ${byProxy.what}`, {
      hint: byProxy.hint,
      retry: 'later',
    });
  if (response.status < 200 || response.status > 299) throw refusal(host, response, reply);
  const data = fieldOf(reply, 'data');
  if (fieldOf(reply, 'success') !== true || data === undefined) throw invalidReply(`The reply of ${host}`);
  return data;
}

/** Undefined when the bytes are not JSON, such as a page of a proxy. */
function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
}

/** A field of an object; undefined when the value is no object or has no such field of its own. */
export function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}

function refusal(host: string, { status, headers }: WebReply, reply: unknown): PartnerError {
  const error = fieldOf(reply, 'error');
  const code = fieldOf(error, 'code');
  const reason = typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,63}$/.test(code) ? code : undefined;
  const named = fieldOf(fieldOf(error, 'details'), 'reason');
  const detail = typeof named === 'string' && /^[a-z][a-z0-9_]{1,63}$/.test(named) ? named : undefined;
  const passes = status === 408 || status === 409 || status === 425 || status === 429 || status >= 500;
  return new PartnerError(
    'PARTNER_REFUSED',
    `The Partner service at ${host} answered with status ${status}${reason === undefined ? '' : ` (${reason})`}`,
    {
      hint: passes ? 'It may work again later.' : 'Check the address.',
      status,
      reason,
      detail,
      retry: passes ? 'later' : 'never',
      retryAfterMs: passes
        ? retryAfterMs(
            { retryAfter: headers['retry-after'], date: headers.date },
            { longestMs: LIMITS.retryAfterMs, nowMs: systemClock.now() },
          )
        : null,
    },
  );
}

const PREFIX = '/api/partner/v1';
const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * The address without a trailing slash and without the API prefix, which may be given or omitted.
 * @throws {RequestError} INVALID_URL
 */
export function partnerAddress(text: string): string {
  const url = URL.parse(text.trim());
  if (url === null || !/^https?:$/.test(url.protocol))
    throw invalid('The address of the Partner service is not a web address', 'Enter it as https://HOST.');
  if (url.username !== '' || url.password !== '')
    throw invalid(
      'The address of the Partner service contains a user name or password',
      'Leave it out: the enrollment token is all you need.',
    );
  if (url.search !== '' || url.hash !== '')
    throw invalid(
      'The address of the Partner service has a query',
      'Leave out the ? or # and what follows it.',
    );
  if (url.protocol === 'http:' && !LOOPBACK.has(url.hostname))
    throw invalid(
      'The Partner service must use https',
      'Begin the address with https://. Only a service on this computer can use http.',
    );
  const path = url.pathname.replace(/\/+$/, '');
  return url.origin + (path.endsWith(PREFIX) ? path.slice(0, -PREFIX.length) : path);
}

/** The URL of a route such as `/enroll`. */
export function routeUrl(address: string, route: string): string {
  return `${address}${PREFIX}${route}`;
}

function invalid(message: string, hint: string): RequestError {
  return new RequestError('INVALID_URL', message, { hint, details: { reason: 'address' } });
}

export type PartnerErrorCode =
  /** There was no answer. */
  | 'PARTNER_UNREACHABLE'
  /** The service refused the request. */
  | 'PARTNER_REFUSED'
  /** The reply does not match the API, or is not signed as required. */
  | 'PARTNER_REPLY_INVALID';

/** What the page has words for. */
const REASONS: Readonly<Record<PartnerErrorCode, string>> = {
  PARTNER_UNREACHABLE: 'unreachable',
  PARTNER_REFUSED: 'refused',
  PARTNER_REPLY_INVALID: 'reply_invalid',
};

interface PartnerFacts extends ErrorFacts {
  readonly status?: number | undefined;
  readonly reason?: string | undefined;
  readonly detail?: string | undefined;
  readonly retryAfterMs?: number | null;
}

/** The message contains nothing that the service chose, except a status and an error code. */
export class PartnerError extends HoldfastError<PartnerErrorCode> {
  override readonly name = 'PartnerError';
  readonly side = 'destination';
  /** Status of the answer; undefined when there was none. */
  readonly status: number | undefined;
  /** The service's error code, from the list of known codes. */
  readonly reason: string | undefined;
  /** The service's `details.reason` with that code. */
  readonly detail: string | undefined;
  /** The wait before the next try that the service asked for, in milliseconds. */
  readonly retryAfterMs: number | null;

  constructor(code: PartnerErrorCode, message: string, facts: PartnerFacts = {}) {
    super(code, message, { ...facts, details: { reason: REASONS[code] } });
    this.status = facts.status;
    this.reason = facts.reason;
    this.detail = facts.detail;
    this.retryAfterMs = facts.retryAfterMs ?? null;
  }
}

/** The error for a reply that does not match the API. `what` is the subject, such as "The plan". */
export function invalidReply(what: string, cause?: unknown): PartnerError {
  return new PartnerError('PARTNER_REPLY_INVALID', `${what}: no Partner service answers like this`, {
    hint: 'Check the address, and whether something between this machine and the service changes what is sent.',
    retry: 'later',
    cause,
  });
}
