/**
 * Connections that are kept between requests, and closed by the other side at the very moment in which they are used
 * again: a server that is short of threads, a balancer or a router that forgets them. That says nothing about the store,
 * so it costs no wait and counts as no try. Node tells of each request that is made, and for whom, whatever library makes it.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';
import type { Socket } from 'node:net';
import { errnoOf } from '../base/errors.ts';

interface Call {
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
 * them is lost once, so the last one is new.
 */
export async function onLiveConnection<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  listen();
  for (let isSecond = false; ; isSecond = true) {
    const call: Call = { isOnKept: false };
    try {
      return await calls.run(call, work);
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
    request.prependOnceListener('response', () => (call.isOnKept = false));
  });
}

/** The error or what caused it. */
function isReset(error: unknown): boolean {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1)
    if (['ECONNRESET', 'EPIPE'].includes(errnoOf(at) ?? '')) return true;
  return false;
}
