/** One POST to a receiver of notices: limited in time and size, and never redirected to another host. */
import { isTimeout, withDeadline } from '../base/paced-work.ts';
import { systemClock } from '../base/clock.ts';
import { readStartWithin, silenceAskedMs } from '../base/web/http-reply.ts';
import { NO_CERTIFICATE } from '../base/web/trusted-authorities.ts';
import { callWeb, proxyReply, type WebReply, webTrouble } from '../base/web/web-call.ts';
import { DeliveryError } from './sender.ts';

export interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whether the receiver may answer with a web page. */
  readonly mayAnswerPage?: boolean;
}

const LIMITS = Object.freeze({
  /** For one try, including redirects and the reply. */
  timeoutMs: 15_000,
  redirects: 3,
  /** A reply is only searched for a short text, as its status has already said whether the notice was accepted. */
  replyBytes: 4096,
  replyMs: 3_000,
});

/**
 * Returns the beginning of a reply with status 200 to 299. The notice then counts as delivered, even if reading the
 * rest of the reply fails.
 * @throws {DeliveryError}
 */
export async function post(
  request: Post,
  signal: AbortSignal,
  timeoutMs: number = LIMITS.timeoutMs,
): Promise<string> {
  const url = parseTarget(request.url);
  // From then on it is unknown whether the receiver has processed the request.
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
    // On an unencrypted connection the web page may come from somebody else, such as a login portal.
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
    throw new DeliveryError(`The address for notices at ${url.host} contains a user name or password`, {
      hint: 'Remove it from the URL. The settings take a token or secret as a reference.',
    });
  }
  return url;
}

/** Reads the beginning of a reply that was successful or is a web page; empty for any other. */
async function startOf({ status, headers, body }: WebReply): Promise<string> {
  const isTaken = status >= 200 && status <= 299;
  const isPage = /html/i.test(headers['content-type'] ?? '');
  if (isTaken || isPage)
    return (await readStartWithin(body, LIMITS.replyBytes, LIMITS.replyMs)).toString('utf8');
  body.destroy();
  return '';
}

/** Judges a page by its content, as some programs that send text do not state its type. */
const PAGE = /^\s*(?:<!doctype html|<html|<head|<\?xml[^>]*>\s*<!doctype html)/i;

const PORTAL = 'A network that requires you to sign in first also answers like this. Holdfast keeps trying.';

/** With another network, or after signing in, the notice may arrive. */
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

/** Without 303, which asks for another request instead of the same one elsewhere. */
function isRedirect(status: number): boolean {
  return status === 301 || status === 302 || status === 307 || status === 308;
}

/** The target of a redirect. Only the same host is allowed, or its HTTPS version. */
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

/** @param page the beginning of a web page in the reply, otherwise empty */
function refusal(url: URL, response: WebReply, page: string): DeliveryError {
  const { status, headers } = response;
  const byProxy = proxyReply(url, status);
  if (byProxy !== undefined)
    return new DeliveryError(`${url.host} ${byProxy.what}`, { hint: byProxy.hint, retry: 'later' });
  if (/SSL certificate was (?:sent|required)|client certificate/i.test(page))
    return new DeliveryError(`${url.host} requires a certificate from this computer (${status})`, {
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
