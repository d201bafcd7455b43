/**
 * A single request to a web server that is contacted rarely. It uses a connection of its own, as a kept one may be
 * closed by then, goes through the proxy of the environment, and never follows redirects.
 */
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { errnoText } from '../errno-words.ts';
import { errnoOf } from '../errors.ts';
import { boundNotices, EndlessNotices } from './endless-notices.ts';
import { readStart } from './http-reply.ts';
import { hintOfProxy, proxyTrouble, proxyTroubleOf } from './proxy-trouble.ts';
import { ProxyUnusable, proxyFor } from './proxy.ts';
import { tlsTrouble } from './trusted-authorities.ts';
import { webAgents } from './web-agents.ts';

export interface WebCall {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Called once the whole request has been sent. */
  readonly sent?: () => void;
}

export interface WebReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: IncomingMessage;
}

/** @throws {ProxyUnusable}; Node's error for a network failure; the signal's reason */
export async function callWeb(
  url: URL,
  { method, headers, body, sent }: WebCall,
  signal: AbortSignal,
): Promise<WebReply> {
  signal.throwIfAborted();
  const agents = webAgents({ target: url, keepAlive: false });
  const isTls = url.protocol === 'https:';
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const outgoing = (isTls ? httpsRequest : httpRequest)(url, {
    method,
    agent: isTls ? agents.https : agents.http,
    headers: {
      ...headers,
      ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
    },
    signal,
  });
  boundNotices(outgoing);
  outgoing.on('response', resolve);
  outgoing.on('error', reject);
  if (sent !== undefined) outgoing.on('finish', sent);
  outgoing.end(body);
  try {
    const reply = await promise;
    return { status: reply.statusCode ?? 0, headers: reply.headers, body: reply };
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}

/** The first `bytes` bytes of a reply. @throws the signal's reason; Node's error for a reply that breaks off */
export async function startOfReply({ body }: WebReply, bytes: number, signal: AbortSignal): Promise<Buffer> {
  try {
    return await readStart(body, bytes);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}

export interface WebTrouble {
  /** The end of a sentence about the host: "cannot be reached: the connection was refused (ECONNREFUSED)". */
  readonly what: string;
  readonly hint: string;
}

/** Explains a failure of `callWeb`. */
export function webTrouble(error: unknown): WebTrouble {
  if (error instanceof ProxyUnusable)
    return { what: `cannot be reached: ${error.message}`, hint: error.hint };
  if (error instanceof EndlessNotices)
    return {
      what: `cannot be reached: its answer is ${error.what}`,
      hint: 'Check what answers there, and whether the address is right.',
    };
  const code = codeOf(error);
  const proxy = proxyTroubleOf(error);
  if (proxy !== undefined) return { what: `cannot be reached: ${proxy.what} (${code})`, hint: proxy.hint };
  const trouble = tlsTrouble(code);
  if (trouble !== undefined)
    return { what: `cannot be reached: ${trouble.what} (${code})`, hint: trouble.hint };
  return {
    what: `cannot be reached: ${errnoText(code)}`,
    hint: `Check the address and the network.${hintOfProxy()}`,
  };
}

/** Explains a reply that came from the proxy instead of the receiver; undefined for any other. */
export function proxyReply(url: URL, status: number): WebTrouble | undefined {
  if (status !== 407) return undefined;
  const { what, hint } = proxyTrouble(status, proxyFor(url));
  return { what: `cannot be reached: ${what} (${status})`, hint };
}

function codeOf(error: unknown): string {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    const inner: unknown = at instanceof AggregateError ? at.errors[0] : undefined;
    const code = errnoOf(at) ?? errnoOf(inner);
    if (code !== undefined) return code;
  }
  return 'network error';
}
