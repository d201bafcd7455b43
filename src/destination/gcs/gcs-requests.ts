/**
 * The library’s requests, to break them off and to see that their answers arrive: it takes neither a signal nor an agent,
 * its timeout is without effect, and what it answers it gives as a whole. Node tells of each request that is made, and for whom.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';
import type { Readable } from 'node:stream';

interface Call {
  readonly open: Set<ClientRequest>;
  /** Told of the bytes of answers. */
  readonly arrived: ((bytes: number) => void) | undefined;
  isOver: boolean;
}

/** For whom something is done, through all that is waited for. */
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
    // The library takes the answer in the same event, so that nothing of it is lost to it.
    if (arrived !== undefined)
      request.once('response', (answer) => answer.on('data', (chunk: Buffer) => arrived(chunk.byteLength)));
    // Whoever makes it takes its failures only once it is made.
    if (call.isOver) process.nextTick(() => request.destroy());
  });
}

export class OpenRequests {
  readonly #under = new Set<Call>();

  /**
   * Runs `work`; what it has asked for and not been told is asked for no longer when it fails or the signal is aborted.
   *
   * @param arrived told of the bytes of answers that the work does not read itself
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

  /** Whatever is still under way fails. */
  close(): void {
    for (const call of this.#under) end(call);
  }
}

/** Of a read that fails: the library would destroy its agent with it, which all others of the process share. */
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
