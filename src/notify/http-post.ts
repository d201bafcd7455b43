/** One POST to a receiver of notices: bounded in time and size, and never led to another host. */
import { isTimeout, withDeadline } from '../base/deadline.ts';
import { systemClock } from '../base/clock.ts';
import { readStartWithin } from '../base/http-reply.ts';
import { silenceAskedMs } from '../base/retry-after.ts';
import { callWeb, proxyReply, webTrouble, type WebReply } from '../base/web-call.ts';
import { DeliveryError } from './sender.ts';

export interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const LIMITS = Object.freeze({
  /** For one try, redirects and reply included. */
  timeoutMs: 15_000,
  redirects: 3,
  /** Replies are only searched for a short text, and the status has said whether the notice was taken. */
  replyBytes: 4096,
  replyMs: 3_000,
});

/**
 * Gives the first part of the reply, which has a status of 200 to 299: with that the notice is delivered, whatever becomes
 * of the reply.
 * @throws {DeliveryError}
 */
export async function post(
  request: Post,
  signal: AbortSignal,
  timeoutMs: number = LIMITS.timeoutMs,
): Promise<string> {
  const url = parseTarget(request.url);
  try {
    return await withDeadline(timeoutMs, (deadline) => follow(url, request, deadline), signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof DeliveryError) throw error;
    if (isTimeout(error)) {
      throw new DeliveryError(`${url.host} did not answer within ${timeoutMs / 1000} s`, {
        hint: 'Check that the address is right and the receiver works.',
        retry: 'later',
        cause: error,
      });
    }
    const { what, hint } = webTrouble(error);
    throw new DeliveryError(`${url.host} ${what}`, { hint, retry: 'later', cause: error });
  }
}

async function follow(first: URL, request: Post, signal: AbortSignal): Promise<string> {
  let url = first;
  for (let redirects = 0; redirects <= LIMITS.redirects; redirects += 1) {
    const { headers, body } = request;
    const response = await callWeb(url, { method: 'POST', headers, body }, signal);
    if (response.status >= 200 && response.status <= 299)
      return (await readStartWithin(response.body, LIMITS.replyBytes, LIMITS.replyMs)).toString('utf8');
    response.body.destroy();
    if (!isRedirect(response.status)) throw refusal(url, response);
    url = redirectTarget(url, response);
  }
  throw new DeliveryError(`${first.host} redirects in a circle`, { hint: 'Check the address.' });
}

function parseTarget(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new DeliveryError('The address for notices is not a web address', {
      hint: 'Give a URL that begins with https:// or http://.',
    });
  }
  if (url.username !== '' || url.password !== '') {
    throw new DeliveryError(`The address for notices at ${url.host} holds a user name or password`, {
      hint: 'Take it out of the URL; a token or secret is given by reference in the settings.',
    });
  }
  return url;
}

/** 303 means something else: it asks for another request, not for this one elsewhere. */
function isRedirect(status: number): boolean {
  return status === 301 || status === 302 || status === 307 || status === 308;
}

/** Where a redirect leads: the same host, or its own encrypted side. */
function redirectTarget(from: URL, response: WebReply): URL {
  const to = URL.parse(response.headers.location ?? '', from.href);
  const encrypts =
    from.protocol === 'http:' && to?.protocol === 'https:' && from.port === '' && to.port === '';
  const sameHost = to !== null && to.hostname === from.hostname;
  const sameSide = to !== null && to.protocol === from.protocol && to.port === from.port;
  if (sameHost && (sameSide || encrypts) && to.username === '' && to.password === '') return to;
  throw new DeliveryError(`${from.host} redirects elsewhere, which is not followed`, {
    hint: 'Give the address that it redirects to, if you trust it.',
    details: { status: response.status },
  });
}

function refusal(url: URL, response: WebReply): DeliveryError {
  const { status, headers } = response;
  const byProxy = proxyReply(url, status);
  if (byProxy !== undefined)
    return new DeliveryError(`${url.host} ${byProxy.what}`, { hint: byProxy.hint, retry: 'later' });
  const passes = status === 408 || status === 425 || status === 429 || status >= 500;
  return new DeliveryError(`${url.host} answered with status ${status}`, {
    hint: passes ? 'It may work again later.' : 'Check the address and the token or secret.',
    details: { status },
    retry: passes ? 'later' : 'never',
    silenceMs: silenceAskedMs(
      status,
      { retryAfter: headers['retry-after'], date: headers.date },
      systemClock.now(),
    ),
  });
}
