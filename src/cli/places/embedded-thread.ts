/**
 * Opens or makes the embedded repository in a thread of its own. The code that opens repositories and the memory that
 * deriving a key takes are freed when the thread ends; the agent needs neither, as its engine processes do such work.
 */
import { Worker } from 'node:worker_threads';
import { endWorkers } from '../../base/end-workers.ts';
import {
  BugError,
  DestinationError,
  RepositoryError,
  RequestError,
  StateError,
  type DestinationKind,
  type ErrorFacts,
  type RepositoryCode,
} from '../../base/errors.ts';
import type { Surroundings } from '../command/context.ts';

/** The one message of the thread. */
export type FromEmbedded = { readonly created: boolean } | { readonly failure: EmbeddedFailure };

/** An error as plain data, since an Error that is sent between threads loses its class and its code. */
export interface EmbeddedFailure {
  readonly side: string;
  readonly code: string;
  /** The kind of a DestinationError; empty for other errors. */
  readonly kind: string;
  readonly message: string;
  readonly facts: Omit<ErrorFacts, 'cause'>;
}

/**
 * Opens the embedded repository, or makes it, and closes it again.
 * @returns whether it was made just now
 * @throws {RepositoryError} {StateError} {DestinationError}
 */
export async function prepareEmbedded({ env, signal }: Surroundings): Promise<boolean> {
  const file = import.meta.url.endsWith('.ts') ? './embedded-worker.ts' : './embedded-worker.js';
  const worker = new Worker(new URL(file, import.meta.url), { workerData: { ...env } });
  const stop = (): void => worker.postMessage('stop', []);
  signal.addEventListener('abort', stop, { once: true });
  try {
    const said = await lastWord(worker);
    if ('created' in said) return said.created;
    signal.throwIfAborted();
    throw errorOf(said.failure);
  } finally {
    signal.removeEventListener('abort', stop);
    await endWorkers([worker], stop);
  }
}

async function lastWord(worker: Worker): Promise<FromEmbedded> {
  return await new Promise((resolve, reject) => {
    worker.on('message', resolve);
    worker.on('error', (cause) => {
      reject(new BugError('The thread that opens the repository ended unexpectedly', { cause }));
    });
    worker.on('exit', (code) => {
      reject(new BugError(`The thread that opens the repository ended with ${code}`));
    });
  });
}

function errorOf({ side, code, kind, message, facts }: EmbeddedFailure): Error {
  switch (side) {
    case 'repository':
      return new RepositoryError(code as RepositoryCode, message, facts);
    case 'destination':
      return new DestinationError(kind as DestinationKind, message, facts);
    case 'request':
      return new RequestError(code, message, facts);
    case 'state':
      return new StateError(code, message, facts);
    default:
      return new BugError(message, facts);
  }
}
