import { Worker } from 'node:worker_threads';
import { endWorkers } from '../../base/end-workers.ts';
import { BugError, RepositoryError, type RepositoryCode } from '../../base/errors.ts';
import type { Compression } from '../../codec/compress.ts';
import type { Namespace } from '../../codec/keys.ts';
import type { ChunkTable } from '../../repository/packs/chunk-table.ts';
import type { Repository } from '../../repository/repository.ts';
import { threadCount } from '../../system/machine-memory.ts';
import {
  type BatchResult,
  type FailureMessage,
  type FromWorker,
  type PackMessage,
  type ToWorker,
  type WorkerSetup,
} from './messages.ts';
import { PackBuffers } from './pack-buffers.ts';
import type { PackStore } from '../store/pack-store.ts';
import { encodeBatch, settleBatch, type Batch } from './read-job.ts';

/** Batches queued at each worker: enough that it never idles while the walker is in a large directory. */
const QUEUED = 3;
/** A worker with this much to read gets nothing more, so that none is left with several large spans at the end. */
const QUEUED_BYTES = 48 * 1024 * 1024;
/** More threads than this would only wait for each other's memory. */
const MAX_WORKERS = 8;

/**
 * Packs on their way to a far destination while each worker fills another. With only one, the connection would idle
 * each time that one is done.
 */
const UNDER_WAY_FAR = 3;
/** A far connection idles until the first pack is full, so there the first pack is smaller than a full one by this factor. */
const FIRST_SHARE_FAR = 8;

/** Readers only make small, short-lived objects: a small young generation keeps them in the processor's cache. */
const WORKER_LIMITS = { maxYoungGenerationSizeMb: 6 } as const;

interface WorkerSlot {
  readonly worker: Worker;
  outstanding: number;
  outstandingBytes: number;
  finished: boolean;
}

/** The worker threads that read files. Takes their finished packs to the destination. */
export class ReadPool {
  readonly #store: PackStore;
  readonly #slots: WorkerSlot[] = [];
  readonly #buffers: PackBuffers;
  readonly #batches = new Map<number, Batch>();
  #nextBatch = 1;
  #failure: unknown;
  #wake: (() => void) | undefined;
  /** Bytes of chunks that were new. */
  newBytes = 0;

  constructor(
    repository: Repository,
    table: ChunkTable,
    store: PackStore,
    options: {
      readonly namespace: Namespace;
      readonly compression: Compression;
      readonly workers?: number | undefined;
    },
  ) {
    this.#store = store;
    const count = options.workers ?? threadCount(MAX_WORKERS);
    const { chunker, packTarget, segmentTarget } = repository.config;
    const { remote } = repository.destination.properties;
    // Each worker fills one pack; the others are on their way to the destination.
    this.#buffers = PackBuffers.create(count + (remote ? UNDER_WAY_FAR : 1), packTarget);
    for (let i = 0; i < count; i += 1) {
      const setup: WorkerSetup = {
        keys: repository.keys.material,
        plain: options.namespace.plain,
        salt: options.namespace.salt,
        chunker,
        packTarget,
        firstTarget: remote ? Math.ceil(packTarget / FIRST_SHARE_FAR) : packTarget,
        segmentTarget,
        compression: options.compression,
        table: table.memory,
        packBuffers: this.#buffers.memory,
      };
      this.#slots.push(this.#start(setup));
    }
  }

  /** Hands a batch to the worker with the least to do. */
  submit(batch: Batch): void {
    const slot = this.#slots.reduce((least, one) =>
      one.outstandingBytes < least.outstandingBytes ? one : least,
    );
    const number = this.#nextBatch;
    this.#nextBatch += 1;
    this.#batches.set(number, batch);
    slot.outstanding += 1;
    slot.outstandingBytes += batch.bytes;
    const { message, transfer } = encodeBatch(number, batch.jobs);
    slot.worker.postMessage(message, transfer);
  }

  /** Waits until a worker can take another batch. */
  async room(signal: AbortSignal): Promise<void> {
    await this.#until(
      () => this.#slots.some((slot) => slot.outstanding < QUEUED && slot.outstandingBytes < QUEUED_BYTES),
      signal,
    );
  }

  /** Waits for every result so far. */
  async drain(signal: AbortSignal): Promise<void> {
    await this.#until(() => this.#batches.size === 0, signal);
  }

  /** Waits for every result, lets the workers close their packs, and waits until those are stored. */
  async finish(signal: AbortSignal): Promise<void> {
    await this.drain(signal);
    for (const slot of this.#slots) post(slot, { kind: 'finish' });
    await this.#until(() => this.#slots.every((slot) => slot.finished), signal);
    await this.#store.settle();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#buffers.close();
    const end: ToWorker = { kind: 'end' };
    await endWorkers(
      this.#slots.map(({ worker }) => worker),
      (worker) => worker.postMessage(end, []),
    );
  }

  async #until(ready: () => boolean, signal: AbortSignal): Promise<void> {
    const wake = (): void => this.#wake?.();
    signal.addEventListener('abort', wake);
    try {
      for (;;) {
        signal.throwIfAborted();
        this.#store.throwIfFailed();
        if (this.#failure !== undefined) throw this.#failure;
        if (ready()) return;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      signal.removeEventListener('abort', wake);
    }
  }

  #start(setup: WorkerSetup): WorkerSlot {
    const file = import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js';
    const worker = new Worker(new URL(file, import.meta.url), {
      workerData: setup,
      resourceLimits: WORKER_LIMITS,
    });
    const slot: WorkerSlot = { worker, outstanding: 0, outstandingBytes: 0, finished: false };
    worker.on('message', (message: FromWorker) => {
      try {
        this.#receive(slot, message);
      } catch (error) {
        // An error while a result becomes an entry has to end the run, not the process.
        this.#failure ??= error;
      }
      this.#wake?.();
    });
    worker.on('error', (cause) => {
      this.#failure ??= new BugError('A reader thread ended unexpectedly', { cause });
      this.#wake?.();
    });
    return slot;
  }

  #receive(slot: WorkerSlot, message: FromWorker): void {
    switch (message.kind) {
      case 'pack':
        this.#storePack(message);
        return;
      case 'result':
        this.#settle(slot, message);
        return;
      case 'finished':
        slot.finished = true;
        return;
      case 'failure':
        this.#failure ??= rebuilt(message);
        return;
    }
  }

  #storePack({ name, buffer, length, indexEntry }: PackMessage): void {
    const bytes = typeof buffer === 'number' ? this.#buffers.bytes(buffer, length) : Buffer.from(buffer);
    this.#store.store({ name, bytes, indexEntry }, () => {
      if (typeof buffer === 'number') this.#buffers.giveBack(buffer);
      this.#wake?.();
    });
  }

  #settle(slot: WorkerSlot, result: BatchResult): void {
    const batch = this.#batches.get(result.batch);
    if (batch === undefined) throw new BugError('A reader thread answered for a batch it was not given');
    this.#batches.delete(result.batch);
    slot.outstanding -= 1;
    slot.outstandingBytes -= batch.bytes;
    this.newBytes += result.newBytes;
    settleBatch(batch, result);
  }
}

function post(slot: WorkerSlot, message: ToWorker, transfer: ArrayBuffer[] = []): void {
  slot.worker.postMessage(message, transfer);
}

function rebuilt(message: FailureMessage): Error {
  if (message.code === undefined) return new BugError(message.message, { details: { stack: message.stack } });
  return new RepositoryError(message.code as RepositoryCode, message.message, { hint: message.hint });
}
