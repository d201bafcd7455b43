/**
 * Connections that are kept between requests, and closed by the other side at the very moment in which they are used
 * again: a server that is short of threads, a balancer or a router that forgets them. That says nothing about the store,
 * so it costs no wait and counts as no try. Node tells of each request that is made, and for whom, whatever library makes it.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { errnoOf } from '../base/errors.ts';
import {
  EndlessAnswer,
  HollowAnswer,
  LARGEST_PAGE,
  LARGEST_REFUSAL,
  MOST_PARTS,
  PackedAnswer,
} from './bounds.ts';

interface Call {
  /** Bytes of an answer that is no refusal. */
  readonly largest: number;
  /** A library makes something of it as a whole: it is no content of an object. */
  readonly isTakenApart: boolean;
  /** Breaks the call off. */
  readonly giveUp: (error: Error) => void;
  /** The last request was sent on a connection that had served another one, and has no answer. */
  isOnKept: boolean;
  /** What the network made of it, of which libraries keep but a part. */
  failure?: Error;
}

const calls = new AsyncLocalStorage<Call>();
const used = new WeakSet<Socket>();
let isListening = false;

/** Whether a request has been sent on it before. */
export function wasUsed(socket: Socket): boolean {
  const isKept = used.has(socket);
  used.add(socket);
  return isKept;
}

/** Failures of requests that were sent twice: the first one may have been done. */
const ofSecond = new WeakSet<Error>();

/** Of a failure, or of what caused it: whether an earlier request of the same call may have been done. */
export function mayHaveBeenDone(error: unknown): boolean {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1)
    if (ofSecond.has(at)) return true;
  return false;
}

/**
 * What `work`, which makes a request, comes to: anew as long as the connection was a kept one that is lost. Each of
 * them is lost once, so the last one is new. What comes of an answer is counted before any library keeps it.
 */
export async function onLiveConnection<T>(
  signal: AbortSignal,
  largest: number | undefined,
  work: () => Promise<T>,
): Promise<T> {
  listen();
  for (let isSecond = false; ; isSecond = true) {
    const endless = Promise.withResolvers<never>();
    endless.promise.catch(() => {});
    const call: Call = {
      largest: largest ?? LARGEST_PAGE,
      isTakenApart: largest === undefined,
      giveUp: endless.reject,
      isOnKept: false,
    };
    try {
      return await calls.run(call, async () => await Promise.race([work(), endless.promise]));
    } catch (error) {
      if (call.isOnKept && isReset(error) && !signal.aborted) continue;
      if (error instanceof Error) {
        if (isSecond) ofSecond.add(error);
        if (call.failure !== error) error.cause ??= call.failure;
      }
      throw error;
    }
  }
}

function listen(): void {
  if (isListening) return;
  isListening = true;
  subscribe('http.client.request.created', (message) => {
    const call = calls.getStore();
    if (call === undefined) return;
    const { request } = message as { readonly request: ClientRequest };
    request.once('socket', (socket) => (call.isOnKept = wasUsed(socket)));
    request.once('error', (error) => (call.failure = error));
    request.prependOnceListener('response', (answer) => {
      call.isOnKept = false;
      holdAnswer(answer, call);
    });
    // No library is to unpack what comes, of which nobody could tell how much it will be.
    if (!request.headersSent) request.removeHeader('accept-encoding');
  });
}

/** Without listening to it, which would make it flow before the library takes it. */
function holdAnswer(answer: IncomingMessage, { largest, isTakenApart, giveUp }: Call): void {
  const refuse = (error: Error): void => {
    giveUp(error);
    answer.destroy(error);
  };
  const encoding = answer.headers['content-encoding'] ?? 'identity';
  if (!/^(?:identity|aws-chunked)?$/i.test(encoding.trim())) refuse(new PackedAnswer(encoding));
  const most = (answer.statusCode ?? 0) >= 300 ? LARGEST_REFUSAL : largest;
  const push = answer.push.bind(answer);
  let bytes = 0;
  let parts = 0;
  answer.push = (chunk: Buffer | null, ...more) => {
    bytes += chunk?.length ?? 0;
    if (bytes > most) refuse(new EndlessAnswer(most));
    else if (isTakenApart && (parts += partsIn(chunk)) > MOST_PARTS) refuse(new HollowAnswer());
    else return push(chunk, ...more);
    return false;
  };
}

const MARKS: ReadonlySet<number> = new Set(Buffer.from('<{[:'));

/** Beginnings of elements, objects and lists, and names of fields. */
function partsIn(chunk: Buffer | null): number {
  let count = 0;
  for (const byte of chunk ?? []) if (MARKS.has(byte)) count += 1;
  return count;
}

/** The error or what caused it. */
function isReset(error: unknown): boolean {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1)
    if (['ECONNRESET', 'EPIPE'].includes(errnoOf(at) ?? '')) return true;
  return false;
}
