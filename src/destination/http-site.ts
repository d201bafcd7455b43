/**
 * Requests to one web server, for stores whose protocol is plain HTTP: kept connections, sign-in and streamed bodies.
 * It uses Node's own client, as `fetch` does not report moving bytes, does not accept further certificates, and does
 * not let a caller write as slowly as a limit asks.
 */
import {
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as httpRequest,
} from 'node:http';
import { request as httpsRequest } from 'node:https';
import { errnoOf } from '../base/errors.ts';
import { boundNotices } from '../base/web/endless-notices.ts';
import { bodyStream } from './body.ts';
import { EndlessAnswer } from './bounds.ts';
import { createAuthorization, type HttpCredentials } from './http-authorization.ts';
import {
  failure,
  meaning,
  retryAfterMs,
  storesWords,
  type WebAction,
  type WebAnswer,
  webFailure,
} from './http-failure.ts';
import { storeAgents, wasUsed } from './kept-connections.ts';
import type { UploadPace } from './limited.ts';
import { type Moving, STALL_MS, whileMoving } from './stall.ts';

export interface HttpSiteOptions {
  /** `http(s)://host[:port]`. */
  readonly origin: string;
  /** For people: the plain URL of the destination. */
  readonly url: string;
  readonly credentials: HttpCredentials;
  /** PEM of certificates to trust in addition to those that the program trusts, including `NODE_EXTRA_CA_CERTS`. */
  readonly certificates?: string | undefined;
  readonly maxSockets: number;
}

export interface HttpRequest {
  readonly method: string;
  /** Encoded, with a leading slash. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Bytes before and after the body, where it is a part of a form. */
  readonly frame?: { readonly before: Buffer; readonly after: Buffer };
  /** Set only when the body is an object. */
  readonly pace?: UploadPace | undefined;
  /** How long nothing may move before the request fails, in milliseconds; `STALL_MS` by default. */
  readonly stallMs?: number;
  /** For messages. */
  readonly op: string;
  readonly key?: string | undefined;
  /** The status codes that are no failure. */
  readonly accepts: readonly number[];
}

export interface HttpReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly stream: IncomingMessage;
}

/** Uses the reply. It must read its stream to the end or destroy it. */
export type TakeReply<T> = (reply: HttpReply, moving: Moving) => Promise<T>;

export interface HttpSite {
  /**
   * Rejects with a DestinationError for an answer that the request does not accept, for a connection that fails, and
   * when nothing moves for too long; with the signal's reason when that is aborted.
   */
  ask<T>(request: HttpRequest, signal: AbortSignal, take: TakeReply<T>): Promise<T>;
  close(): void;
}

/** The most tries in a row with a server that refuses each nonce as stale. */
const MOST_SIGN_INS = 4;

interface Sent {
  readonly outgoing: ClientRequest;
  readonly reply: HttpReply;
  /** The `Authorization` header of that request. */
  readonly sent: string | undefined;
}

export function openHttpSite({
  origin,
  url,
  credentials,
  certificates,
  maxSockets,
}: HttpSiteOptions): HttpSite {
  const base = new URL(origin);
  const agents = storeAgents({ target: base, certificates, maxSockets }, url);
  const [agent, send] =
    base.protocol === 'https:' ? [agents.https, httpsRequest] : [agents.http, httpRequest];
  const authorization = createAuthorization(credentials);

  async function ask<T>(request: HttpRequest, signal: AbortSignal, take: TakeReply<T>): Promise<T> {
    const action: WebAction = { op: request.op, url, key: request.key, bytes: request.body?.byteLength };
    try {
      const { stallMs = STALL_MS } = request;
      const subject = request.key === undefined ? url : `${request.key} in ${url}`;
      return await whileMoving(`${request.op} ${subject}`, stallMs, signal, async (moving) => {
        const reply = await signedIn(request, moving);
        if (request.accepts.includes(reply.status)) return await take(reply, moving);
        const words = await wordsOf(reply, moving);
        throw webFailure(new Error(`status ${reply.status}`), action, () => answerOf(reply, words));
      });
    } catch (error) {
      signal.throwIfAborted();
      const found = webFailure(error, action, () => undefined);
      if (found === error && error instanceof Error && error.message === 'aborted')
        throw failure(broken, action, error);
      throw found;
    }
  }

  /** Sends the request again when the server asks for a sign-in, or for another one than was sent. */
  async function signedIn(request: HttpRequest, moving: Moving): Promise<HttpReply> {
    for (let tries = 1; ; tries += 1) {
      const { outgoing, reply, sent } = await onKeptConnection(request, moving);
      if (reply.status !== 401) return reply;
      const told = authorization.challenged(reply.headers['www-authenticate'] ?? '', sent);
      if (told === 'refused' || tries >= (told === 'stale' ? MOST_SIGN_INS : 2)) return reply;
      // The rest of the body would still be sent, for nothing, while the next request is under way.
      if (outgoing.writableEnded) await drain(reply, moving);
      else outgoing.destroy();
    }
  }

  /**
   * Sends the request, again as long as the server had closed a kept connection just then, which is no failure. Apache
   * closes kept connections whenever it is short of threads, so every method is sent again. The first request may have
   * been done after all: callers that make folders or move objects look at what is there when the second answer
   * suggests that.
   */
  async function onKeptConnection(request: HttpRequest, moving: Moving): Promise<Sent> {
    for (;;) {
      const outgoing = begin(request, moving);
      let wasKept = false;
      // `reusedSocket` is not set for a request that waited in the agent's queue, although it gets a kept connection
      // too.
      outgoing.once('socket', (socket) => (wasKept = wasUsed(socket)));
      boundNotices(outgoing);
      try {
        const reply = await exchange(outgoing, request, moving);
        return { outgoing, reply, sent: outgoing.getHeader('Authorization')?.toString() };
      } catch (error) {
        outgoing.destroy();
        moving.signal.throwIfAborted();
        const wasClosed = ['ECONNRESET', 'EPIPE'].includes(errnoOf(error) ?? '');
        if (!wasKept || !wasClosed) throw error;
      }
    }
  }

  function begin(request: HttpRequest, { signal }: Moving): ClientRequest {
    const { method, path, headers = {}, body, frame } = request;
    const around = (frame?.before.byteLength ?? 0) + (frame?.after.byteLength ?? 0);
    const authorized = authorization.header(method, path);
    return send(base, {
      agent,
      method,
      path,
      signal,
      headers: {
        ...headers,
        ...(body === undefined ? {} : { 'Content-Length': `${body.byteLength + around}` }),
        ...(authorized === undefined ? {} : { Authorization: authorized }),
      },
    });
  }

  return { ask, close: () => agents.close() };
}

const broken = meaning(
  'corrupt-reply',
  'now',
  'the answer is incomplete or not HTTP',
  'Check that no proxy or network sign-in page answers instead of the store.',
);

async function exchange(outgoing: ClientRequest, request: HttpRequest, moving: Moving): Promise<HttpReply> {
  const answered = Promise.withResolvers<IncomingMessage>();
  outgoing.once('response', answered.resolve);
  outgoing.on('error', answered.reject);
  outgoing.once('socket', (socket) => {
    socket.setNoDelay(true);
    if (socket.connecting) socket.once('connect', () => moving.moved());
  });
  const { body, frame, pace, key = '' } = request;
  if (body === undefined) outgoing.end();
  else {
    const stream = bodyStream(body, key, pace, moving);
    stream.once('error', (error) => outgoing.destroy(error));
    outgoing.once('close', () => stream.destroy());
    if (frame !== undefined) outgoing.write(frame.before);
    stream.pipe(outgoing, { end: false });
    stream.once('end', () => outgoing.end(frame?.after));
  }
  const stream = await answered.promise;
  moving.moved();
  const { statusCode: status = 0, headers } = stream;
  return { status, headers, stream };
}

function answerOf({ status, headers }: HttpReply, words: string | undefined): WebAnswer {
  const { 'retry-after': after, date } = headers;
  return { status, code: undefined, words, retryAfterMs: retryAfterMs(after, date) };
}

/** Bytes of a refusal that are read. A refusal has a few lines; of a longer answer only the beginning is used. */
const LARGEST_REFUSAL = 64 * 1024;

/**
 * The sentence of a refusal: plain text, or the message within XML or JSON. Undefined where there is none that can be
 * read.
 */
async function wordsOf({ headers, stream }: HttpReply, { moved }: Moving): Promise<string | undefined> {
  const type = headers['content-type'] ?? '';
  const isReadable = /^text\/plain|[/+](?:xml|json)\b/i.test(type) && !/html/i.test(type);
  const chunks: Buffer[] = [];
  try {
    let bytes = 0;
    if (isReadable)
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        moved(chunk.byteLength);
        chunks.push(chunk);
        bytes += chunk.byteLength;
        if (bytes > LARGEST_REFUSAL) break;
      }
  } catch {
    // The status alone says enough.
  } finally {
    stream.destroy();
  }
  return storesWords(sentenceIn(Buffer.concat(chunks).toString('utf8'), type));
}

function sentenceIn(text: string, type: string): string | undefined {
  if (/^text\/plain/i.test(type)) return text;
  const [, message] = /json/i.test(type)
    ? (/"(?:message|error_description|error)"\s*:\s*"((?:[^"\\]|\\[^u])*)"/i.exec(text) ?? [])
    : (/<(?:[\w.-]+:)?message\b[^<>]*>([^<]*)</i.exec(text) ?? []);
  return message
    ?.replaceAll(/&(?:quot|#34);|\\"/g, '"')
    .replaceAll(/&(?:apos|#39);/g, "'")
    .replaceAll('&amp;', '&');
}

/** Reads an answer that nobody needs to its end, so that the connection can be used again. */
export async function drain({ stream }: HttpReply, moving: Moving): Promise<void> {
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    moving.moved(chunk.byteLength);
    bytes += chunk.byteLength;
    if (bytes > 1024 * 1024) break;
  }
}

/** The reply as text. Rejects when it ends too early or is larger than `largest` bytes. */
export async function textOf(reply: HttpReply, moving: Moving, largest: number): Promise<string> {
  return (await bytesOf(reply, moving, largest)).toString('utf8');
}

/** The same of XML, which says itself how its letters are written, piece by piece. What nobody knows is read as UTF-8. */
export async function eachText(
  { headers, stream }: HttpReply,
  { moved }: Moving,
  largest: number,
  take: (text: string) => void,
): Promise<void> {
  let begin = Buffer.alloc(0);
  let decoder: TextDecoder | undefined;
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    moved(chunk.byteLength);
    bytes += chunk.byteLength;
    if (bytes > largest) throw new EndlessAnswer(largest);
    if (decoder !== undefined) take(decoder.decode(chunk, { stream: true }));
    else {
      begin = Buffer.concat([begin, chunk]);
      if (begin.length < DECLARATION_BYTES) continue;
      decoder = decoderOf(begin, headers['content-type'] ?? '');
      take(decoder.decode(begin, { stream: true }));
    }
  }
  decoder ??= decoderOf(begin, headers['content-type'] ?? '');
  take(decoder.decode(bytes < DECLARATION_BYTES ? begin : undefined));
}

/** Within so many it says how its letters are written. */
const DECLARATION_BYTES = 200;

function decoderOf(begin: Buffer, type: string): TextDecoder {
  const [, charset] = /charset\s*=\s*"?([\w.:-]+)/i.exec(type) ?? [];
  const [, declared] =
    /^<\?xml[^>]*\sencoding\s*=\s*["']([\w.:-]+)/.exec(begin.toString('latin1', 0, DECLARATION_BYTES)) ?? [];
  const wide = { fffe: 'utf-16le', feff: 'utf-16be' }[begin.toString('hex', 0, 2)];
  try {
    return new TextDecoder(wide ?? charset ?? declared ?? 'utf-8');
  } catch {
    return new TextDecoder();
  }
}

async function bytesOf({ stream }: HttpReply, moving: Moving, largest: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    moving.moved(chunk.byteLength);
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes > largest) throw new EndlessAnswer(largest);
  }
  return Buffer.concat(chunks);
}
