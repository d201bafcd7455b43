/**
 * Tracks the Google library's requests, to cancel them and to see their answers arrive. The library accepts neither a
 * signal nor an agent, its timeout has no effect, and it hands over answers only as a whole. Node reports each request
 * that is made, and the async context tells which call made it.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';
import type { Readable } from 'node:stream';
import type { Storage } from '@google-cloud/storage';
import { ForeignAnswer, NoCredentials } from './gcs-failure.ts';

interface Call {
  readonly open: Set<ClientRequest>;
  /** Called with the number of bytes whenever a part of an answer arrives. */
  readonly arrived: ((bytes: number) => void) | undefined;
  isOver: boolean;
}

/** The call on whose behalf the current code runs, across everything it awaits. */
const calls = new AsyncLocalStorage<Call>();
let isListening = false;

function listen(): void {
  if (isListening) return;
  isListening = true;
  subscribe('http.client.request.created', (message) => {
    const call = calls.getStore();
    if (call === undefined) return;
    const { request } = message as { readonly request: ClientRequest };
    call.open.add(request);
    request.once('close', () => call.open.delete(request));
    const { arrived } = call;
    // The library starts to read the answer during the same event, so this listener takes nothing away from it.
    if (arrived !== undefined)
      request.once('response', (answer) => answer.on('data', (chunk: Buffer) => arrived(chunk.byteLength)));
    // The request's maker can handle its failure only after this event, once it has the request.
    if (call.isOver) process.nextTick(() => request.destroy());
  });
}

export class OpenRequests {
  readonly #under = new Set<Call>();

  /**
   * Runs `work`. When it fails or the signal is aborted, all of its requests that are still open are destroyed.
   *
   * @param arrived called with the number of bytes as answers arrive that `work` does not read itself
   */
  async during<T>(
    signal: AbortSignal,
    work: () => Promise<T>,
    arrived?: (bytes: number) => void,
  ): Promise<T> {
    listen();
    const call: Call = { open: new Set(), arrived, isOver: false };
    const onAbort = (): void => end(call);
    this.#under.add(call);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      return await calls.run(call, work);
    } catch (error) {
      end(call);
      throw error;
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#under.delete(call);
    }
  }

  /** Destroys all open requests, so that their calls fail. */
  close(): void {
    for (const call of this.#under) end(call);
  }
}

/**
 * Detaches the agent from a read. When a read fails, the library would otherwise destroy the agent, which all other
 * requests of the process share.
 */
export function spareOthers(read: Readable): Readable {
  return read.once('response', (response: Readable & { readonly request: { agent: unknown } }) => {
    response.request.agent = undefined;
    // The library's own chain puts eleven on it, of which Node.js would warn on the terminal. They go with the read.
    response.setMaxListeners(0);
  });
}

function end(call: Call): void {
  call.isOver = true;
  for (const request of call.open) request.destroy();
}

type Ask = Storage['request'];
type Answer = Parameters<Ask>[1];

/**
 * Makes the Google library reject answers that are not the store's own. It accepts any successful answer: a proxy's
 * page would be taken for a list without objects, and an empty one would even end the process inside the library.
 * Checks all calls except reads of content; for those the length is asked for beforehand and compared.
 */
export function believeOnlyStore(storage: Storage): Storage {
  const ask = storage.request.bind(storage);
  storage.request = (options: Parameters<Ask>[0], callback: Answer): void => {
    ask(options, (error, body: unknown, response) => {
      const isGood =
        options.method === 'DELETE' ? response?.statusCode === 204 : /^storage#objects?$/.test(kindOf(body));
      callback(error ?? (isGood ? null : new ForeignAnswer()), body, response);
    });
  };
  return storage;
}

/** Has the library say by its class of error that it found no credentials: where it looks for them, nobody is asked yet. */
export function tellMissingCredentials(storage: {
  readonly authClient: Pick<Storage['authClient'], 'getClient'>;
}): void {
  const { authClient } = storage;
  const find = authClient.getClient.bind(authClient);
  authClient.getClient = async () => {
    try {
      return await find();
    } catch (cause) {
      throw new NoCredentials(cause);
    }
  };
}

/** The store names the kind of each resource in its answers. */
function kindOf(body: unknown): string {
  return typeof body === 'object' && body !== null && 'kind' in body ? String(body.kind) : '';
}
