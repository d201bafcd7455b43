/** A single request to the Partner service, limited in time and size, without following redirects. */
import { isTimeout, withDeadline } from '../base/deadline.ts';
import { systemClock } from '../base/clock.ts';
import { retryAfterMs } from '../base/web/retry-after.ts';
import { callWeb, proxyReply, startOfReply, webTrouble, type WebReply } from '../base/web/web-call.ts';
import { routeUrl } from './address.ts';
import { invalidReply, PartnerError } from './partner-error.ts';

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
  const code = fieldOf(fieldOf(reply, 'error'), 'code');
  const reason = typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,63}$/.test(code) ? code : undefined;
  const passes = status === 408 || status === 409 || status === 425 || status === 429 || status >= 500;
  return new PartnerError(
    'PARTNER_REFUSED',
    `The Partner service at ${host} answered with status ${status}${reason === undefined ? '' : ` (${reason})`}`,
    {
      hint: passes ? 'It may work again later.' : 'Check the address.',
      status,
      reason,
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
