import { Worker } from 'node:worker_threads';
import { endWorkers } from '../../base/end-workers.ts';
import { BugError } from '../../base/errors.ts';
import type { KeyMaterial } from '../../codec/keys.ts';
import { threadCount } from '../../system/machine-memory.ts';
import type { PackExamination } from './check-pack.ts';

/** The data with which a worker is started. */
export interface CheckWorkerSetup {
  readonly keys: KeyMaterial;
  readonly salts: readonly Uint8Array[];
}

export interface PackToExamine {
  readonly name: string;
  readonly bytes: ArrayBuffer;
}

/** `end` ends the thread. */
export type ToCheckWorker = PackToExamine | 'end';

/** Further threads would only wait for the destination. */
const MAX_WORKERS = 8;

interface Slot {
  readonly worker: Worker;
  outstanding: number;
}

interface Job {
  readonly slot: Slot;
  readonly resolve: (examination: PackExamination) => void;
  readonly reject: (error: unknown) => void;
}

export function defaultCheckWorkers(packs: number): number {
  return Math.max(1, threadCount(Math.min(MAX_WORKERS, packs)));
}

/** Worker threads that examine packs. */
export class CheckPool {
  readonly #slots: Slot[] = [];
  readonly #jobs = new Map<string, Job>();
  #failure: unknown;

  constructor(setup: CheckWorkerSetup, workers: number) {
    for (let i = 0; i < workers; i += 1) this.#slots.push(this.#start(setup));
  }

  get workers(): number {
    return this.#slots.length;
  }

  /** Transfers a pack, including its memory, to the worker with the least work. */
  async examine(name: string, bytes: Buffer): Promise<PackExamination> {
    if (this.#failure !== undefined) throw this.#failure;
    const slot = this.#slots.reduce((least, one) => (one.outstanding < least.outstanding ? one : least));
    const memory = ownMemory(bytes);
    return await new Promise<PackExamination>((resolve, reject) => {
      slot.outstanding += 1;
      this.#jobs.set(name, { slot, resolve, reject });
      const message: PackToExamine = { name, bytes: memory };
      slot.worker.postMessage(message, [memory]);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const end: ToCheckWorker = 'end';
    await endWorkers(
      this.#slots.map(({ worker }) => worker),
      (worker) => worker.postMessage(end, []),
    );
  }

  #start(setup: CheckWorkerSetup): Slot {
    const file = import.meta.url.endsWith('.ts') ? './check-worker.ts' : './check-worker.js';
    const worker = new Worker(new URL(file, import.meta.url), { workerData: setup });
    const slot: Slot = { worker, outstanding: 0 };
    worker.on('message', (examination: PackExamination) => {
      const job = this.#jobs.get(examination.name);
      this.#jobs.delete(examination.name);
      slot.outstanding -= 1;
      job?.resolve(examination);
    });
    worker.on('error', (error) => this.#fail(error));
    worker.on('messageerror', (error) => this.#fail(error));
    worker.on('exit', (code) => {
      if (slot.outstanding > 0) this.#fail(new BugError(`A check worker ended with code ${code}`));
    });
    return slot;
  }

  #fail(cause: unknown): void {
    this.#failure ??= new BugError('A check worker failed', { cause });
    for (const { reject } of this.#jobs.values()) reject(this.#failure);
    this.#jobs.clear();
  }
}

/** A buffer's memory if the buffer fills it; otherwise a copy. */
function ownMemory(bytes: Buffer): ArrayBuffer {
  const { buffer } = bytes;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === bytes.length) return buffer;
  const copy = new ArrayBuffer(bytes.length);
  bytes.copy(Buffer.from(copy));
  return copy;
}
