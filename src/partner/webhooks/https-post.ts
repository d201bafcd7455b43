/** One POST over TLS to an address that was looked at before: no redirect, no second resolution, bounded reply. */
import type { LookupAddress } from 'node:dns';
import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { readStart } from '../../base/web/http-reply.ts';
import type { RefusalHeaders } from '../../base/web/retry-after.ts';
import { trustSystem } from '../../base/web/trusted-authorities.ts';

export interface HttpsPost {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Where the connection goes, in the order to be tried; the first eight. Certificate and `Host` are those of the URL's name. */
  readonly addresses: readonly string[];
  /** PEM of the only authorities to trust; null for those that the program knows. */
  readonly authority: string | null;
}

export interface HttpsReply {
  readonly status: number;
  readonly headers: RefusalHeaders;
}

const LIMITS = Object.freeze({
  /** Taken off the connection so that a receiver can finish its reply, and thrown away. */
  replyBytes: 64 * 1024,
  replyHeaderBytes: 16 * 1024,
  /** Of one name; a name with more may not keep the service busy. */
  addresses: 8,
  /** For one address while others are left. */
  connectMs: 3000,
});

/** Settles with the status as soon as the reply has been read, or its first 64 KiB. Nothing of its text is kept. */
export async function httpsPost(post: HttpsPost, signal: AbortSignal): Promise<HttpsReply> {
  const response = await send(post, signal);
  // The receiver has answered: a reply that breaks off, or is still coming at the end of the time, changes nothing.
  await readStart(response, LIMITS.replyBytes).catch(() => undefined);
  const { 'retry-after': retryAfter, date } = response.headers;
  return { status: response.statusCode ?? 0, headers: { retryAfter, date } };
}

async function send(post: HttpsPost, signal: AbortSignal): Promise<IncomingMessage> {
  trustSystem();
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = httpsRequest(post.url, {
    method: 'POST',
    headers: { ...post.headers, 'content-length': String(Buffer.byteLength(post.body)) },
    // One of its own for each request: a kept connection could lead to an address of an earlier time.
    agent: new Agent({
      keepAlive: false,
      lookup: lookupAmong(post.addresses.slice(0, LIMITS.addresses)),
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: LIMITS.connectMs,
      rejectUnauthorized: true,
      ...(post.authority === null ? {} : { ca: post.authority }),
    }),
    maxHeaderSize: LIMITS.replyHeaderBytes,
    signal,
  });
  request.on('response', resolve);
  request.on('upgrade', (response, socket) => {
    socket.destroy();
    resolve(response);
  });
  request.on('error', reject);
  request.end(post.body);
  return await promise;
}

/** Answers with these addresses, whatever is asked: the place of the resolution that a connection makes for itself. */
function lookupAmong(addresses: readonly string[]): LookupFunction {
  const found: readonly LookupAddress[] = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_name, { all }, answer) => {
    process.nextTick(() => {
      const [first] = found;
      if (first === undefined) answer(new Error('no address to connect to'), '', 0);
      else if (all === true) answer(null, [...found]);
      else answer(null, first.address, first.family);
    });
  };
}
