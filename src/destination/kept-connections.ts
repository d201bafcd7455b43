/**
 * Repeats requests whose kept connection the other side closed at the very moment they were sent: a server short of
 * threads, or a balancer or router that forgot the connection. That says nothing about the store, so it costs no wait
 * and does not count as a try. Node reports each request that is made, by any library, and the async context tells
 * which call made it.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { DestinationError, errnoOf } from '../base/errors.ts';
import { boundNotices } from '../base/web/endless-notices.ts';
import { ProxyUnusable } from '../base/web/proxy.ts';
import { type WebAgentOptions, webAgents, type WebAgents } from '../base/web/web-agents.ts';
import {
  EndlessAnswer,
  HollowAnswer,
  LARGEST_PAGE,
  LARGEST_REFUSAL,
  MOST_PARTS,
  PackedAnswer,
} from './bounds.ts';

interface Call {
  /** The most bytes of a successful answer. */
  readonly largest: number;
  /** A library makes something of it as a whole: it is no content of an object. */
  readonly isTakenApart: boolean;
  /** Breaks the call off. */
  readonly giveUp: (error: Error) => void;
  /** The last request was sent on a connection that had served an earlier one, and has no answer yet. */
  isOnKept: boolean;
  /** The network's own error, of which libraries keep only a part. */
  failure?: Error;
  /** The last answer that came. */
  answer?: IncomingMessage;
}

const calls = new AsyncLocalStorage<Call>();
const used = new WeakSet<Socket>();
let isListening = false;

/** Whether an earlier request was sent on this socket. Marks it as used. */
export function wasUsed(socket: Socket): boolean {
  const isKept = used.has(socket);
  used.add(socket);
  return isKept;
}

/** Failures of calls whose request was sent more than once: the first request may have been done. */
const ofSecond = new WeakSet<Error>();

/** Whether an earlier request of the call that failed with `error` may have been done. Causes are searched as well. */
export function mayHaveBeenDone(error: unknown): boolean {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1)
    if (ofSecond.has(at)) return true;
  return false;
}

/**
 * Runs `work`, which makes a request, and repeats it as long as it fails because a kept connection was lost. Each kept
 * connection is lost only once, so the last try is on a new one. Bytes of the answer are counted as they arrive, before
 * any library stores them: more than `largest` end the call.
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
      // Some libraries refuse an answer by its header and leave the body unread. Its connection would never be free again.
      if (call.answer?.complete === false) call.answer.destroy();
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
    boundNotices(request, call.giveUp);
    request.prependOnceListener('response', (answer) => {
      call.isOnKept = false;
      call.answer = answer;
      holdAnswer(answer, call);
    });
    // No library may unpack an answer, as nobody could tell how large it would become.
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

/**
 * Connections to a store by HTTP: kept alive, through the proxy of the environment, with the certificates that the
 * system trusts.
 * @param url the plain URL of the destination, for messages
 * @throws {DestinationError} unsupported when the proxy for this store cannot be used
 */
export function storeAgents(options: WebAgentOptions, url: string): WebAgents {
  try {
    return webAgents({ keepAlive: true, ...options });
  } catch (error) {
    if (!(error instanceof ProxyUnusable)) throw error;
    throw new DestinationError('unsupported', `Cannot reach ${url}: ${error.message}`, {
      op: 'open',
      hint: error.hint,
      cause: error,
    });
  }
}
