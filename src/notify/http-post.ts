/** One POST to a receiver of notices: bounded in time and size, and never led to another host. */
import { isTimeout, withDeadline } from '../base/deadline.ts';
import { systemClock } from '../base/clock.ts';
import { readStartWithin } from '../base/web/http-reply.ts';
import { silenceAskedMs } from '../base/web/retry-after.ts';
import { NO_CERTIFICATE } from '../base/web/trusted-authorities.ts';
import { callWeb, proxyReply, webTrouble, type WebReply } from '../base/web/web-call.ts';
import { DeliveryError } from './sender.ts';

export interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whether the receiver may answer with a web page. */
  readonly mayAnswerPage?: boolean;
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
  // It cannot be told then whether the receiver has done something with it.
  let mayHaveArrived = false;
  const sent = (): void => {
    mayHaveArrived = true;
  };
  try {
    return await withDeadline(timeoutMs, (deadline) => follow(url, request, sent, deadline), signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof DeliveryError) throw error;
    if (isTimeout(error)) {
      throw new DeliveryError(`${url.host} did not answer within ${timeoutMs / 1000} s`, {
        hint: 'Check that the address is right and the receiver works.',
        retry: 'later',
        mayHaveArrived,
        cause: error,
      });
    }
    const { what, hint } = webTrouble(error);
    throw new DeliveryError(`${url.host} ${what}`, { hint, retry: 'later', mayHaveArrived, cause: error });
  }
}

async function follow(first: URL, request: Post, sent: () => void, signal: AbortSignal): Promise<string> {
  let url = first;
  for (let redirects = 0; redirects <= LIMITS.redirects; redirects += 1) {
    const { headers, body } = request;
    const response = await callWeb(url, { method: 'POST', headers, body, sent }, signal);
    const start = await startOf(response);
    // Nobody but the receiver itself answers on a connection that is its own.
    const isForeign = url.protocol === 'http:' && PAGE.test(start);
    const { status } = response;
    if (status >= 200 && status <= 299) {
      if (!isForeign) return start;
      throw notTheReceiver(url, status, request.mayAnswerPage === true);
    }
    if (isForeign && (status === 401 || status === 403)) throw notTheReceiver(url, status, false);
    if (!isRedirect(status)) throw refusal(url, response, start);
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

/** Of an answer that is text for programs, or a web page. */
async function startOf({ status, headers, body }: WebReply): Promise<string> {
  const isTaken = status >= 200 && status <= 299;
  const isPage = /html/i.test(headers['content-type'] ?? '');
  if (isTaken || isPage)
    return (await readStartWithin(body, LIMITS.replyBytes, LIMITS.replyMs)).toString('utf8');
  body.destroy();
  return '';
}

/** Not what a program prints that never says what it is. */
const PAGE = /^\s*(?:<!doctype html|<html|<head|<\?xml[^>]*>\s*<!doctype html)/i;

const PORTAL = 'A network that wants you to sign in first answers like this, too: it is tried again.';

/** Elsewhere, or after a sign-in, it may arrive. */
function notTheReceiver({ host }: URL, status: number, mayHaveArrived: boolean): DeliveryError {
  return new DeliveryError(
    `${host} answered with a web page (status ${status}), as no receiver of notices does`,
    {
      hint: `Check the address. ${PORTAL}`,
      details: { status },
      retry: 'later',
      mayHaveArrived,
    },
  );
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
  const isForeign = from.protocol === 'http:';
  throw new DeliveryError(`${from.host} redirects elsewhere, which is not followed`, {
    hint: `Give the address that it redirects to, if you trust it.${isForeign ? ` ${PORTAL}` : ''}`,
    details: { status: response.status },
    retry: isForeign ? 'later' : 'never',
  });
}

/** @param page the start of one that came with it, else empty */
function refusal(url: URL, response: WebReply, page: string): DeliveryError {
  const { status, headers } = response;
  const byProxy = proxyReply(url, status);
  if (byProxy !== undefined)
    return new DeliveryError(`${url.host} ${byProxy.what}`, { hint: byProxy.hint, retry: 'later' });
  if (/SSL certificate was (?:sent|required)|client certificate/i.test(page))
    return new DeliveryError(`${url.host} wants a certificate of this machine (${status})`, {
      hint: NO_CERTIFICATE,
      details: { status },
    });
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
