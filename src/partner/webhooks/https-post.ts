/**
 * Sends a single POST over TLS to addresses that were checked before: no redirects, no second resolution, a bounded
 * response.
 */
import type { LookupAddress } from 'node:dns';
import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { readStart, type RefusalHeaders } from '../../base/web/http-reply.ts';
import { trustSystem } from '../../base/web/trusted-authorities.ts';

export interface HttpsPost {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /**
   * Addresses to connect to, in the order to try them; only the first eight are used. The certificate and `Host` are
   * for the name in the URL.
   */
  readonly addresses: readonly string[];
  /** PEM of the only authorities to trust; null for the program's usual ones. */
  readonly authority: string | null;
}

export interface HttpsReply {
  readonly status: number;
  readonly headers: RefusalHeaders;
}

const LIMITS = Object.freeze({
  /** Bytes that are read and discarded, so that the receiver can finish its response. */
  replyBytes: 64 * 1024,
  replyHeaderBytes: 16 * 1024,
  /** Addresses of one name: a name with more must not keep the service busy. */
  addresses: 8,
  /** Time for one address while others remain. */
  connectMs: 3000,
});

/** Resolves with the status as soon as the response, or its first 64 KiB, has been read. Nothing of the body is kept. */
export async function httpsPost(post: HttpsPost, signal: AbortSignal): Promise<HttpsReply> {
  const response = await send(post, signal);
  // The receiver has answered: a body that breaks off, or is incomplete at the deadline, does not matter.
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
    // A separate agent for each request: a kept connection could lead to an address that was checked for an earlier request.
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

/** Replaces the resolution that a connection makes by itself, and returns the checked addresses for any name. */
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
