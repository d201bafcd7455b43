/** The daemon's side of the thread that answers questions. */
import { Worker } from 'node:worker_threads';
import { endWorkers } from '../base/end-workers.ts';
import { BugError, StateError } from '../base/errors.ts';
import {
  errorOf,
  type Failure,
  type FromQuery,
  type QuerySetup,
  type Question,
  type ToQuery,
} from './messages.ts';

interface Asked {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
}

export class QueryThread {
  readonly #worker: Worker;
  readonly #onDamage: (failure: Failure) => void;
  readonly #asked = new Map<number, Asked>();
  #number = 0;
  #failure: Error | undefined;

  constructor(setup: QuerySetup, onDamage: (failure: Failure) => void) {
    const file = import.meta.url.endsWith('.ts') ? './query-worker.ts' : './query-worker.js';
    this.#worker = new Worker(new URL(file, import.meta.url), { workerData: setup });
    this.#onDamage = onDamage;
    this.#worker.on('message', (message: FromQuery) => this.#receive(message));
    this.#worker.on('error', (cause) => {
      this.#fail(new BugError('The thread of the catalog ended unexpectedly', { cause }));
    });
    this.#worker.on('exit', () => this.#fail(new StateError('CATALOG_CLOSED', 'The catalog is closed')));
    // The thread must not keep the process running.
    this.#worker.unref();
  }

  async ask(question: Question): Promise<unknown> {
    if (this.#failure !== undefined) throw this.#failure;
    this.#number += 1;
    const message: ToQuery = { number: this.#number, question };
    return await new Promise<unknown>((resolve, reject) => {
      this.#asked.set(message.number, { resolve, reject });
      this.#worker.ref();
      this.#worker.postMessage(message, []);
    });
  }

  async close(): Promise<void> {
    const end: ToQuery = 'end';
    await endWorkers([this.#worker], (worker) => worker.postMessage(end, []));
  }

  #receive(message: FromQuery): void {
    const asked = this.#asked.get(message.number);
    this.#asked.delete(message.number);
    if (this.#asked.size === 0) this.#worker.unref();
    if ('answer' in message) {
      asked?.resolve(message.answer);
      return;
    }
    if (message.failure.damaged) this.#onDamage(message.failure);
    asked?.reject(errorOf(message.failure));
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    for (const { reject } of this.#asked.values()) reject(this.#failure);
    this.#asked.clear();
  }
}
