import { availableParallelism } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { BugError, DestinationError } from '../base/errors.ts';
import type { Destination } from '../destination/destination.ts';
import { fetchRun, type ContentPlan, type SegmentRun } from './content-plan.ts';
import type { EntryRecordWriter } from './entry-records.ts';
import { targetFull } from './full-target.ts';
import type { FatalMessage, FromWorker, Job, JobResult, ToWorker, WorkerSetup } from './messages.ts';

/** More threads than this only wait for each other in the file system. */
const MAX_WORKERS = 4;
/** Sealed bytes that may be on their way from the destination or wait at the workers. */
const BYTES_IN_FLIGHT = 24 * 1024 * 1024;
/** Jobs that wait at each worker: enough that it never idles while the next one is fetched. */
const QUEUED = 2;
/** Files of one job without content. */
const GROUP = 256;

/** `Omit` that keeps the alternatives of a union apart. */
type NewJob = Job extends infer One
  ? One extends Job
    ? Omit<One, 'job' | 'pages' | 'clearAcls'>
    : never
  : never;

/** A thread ends within the job it is at; one that does not is stopped. */
const END_WITHIN_MS = 5_000;

interface WorkerSlot {
  readonly worker: Worker;
  readonly ended: Promise<void>;
  /** Record pages that it has. */
  pages: number;
  outstanding: number;
}

/** The worker threads of a restore. They start while the plan is being made. */
export class WorkerPool {
  readonly #slots: WorkerSlot[] = [];
  readonly #records: EntryRecordWriter;
  readonly #done: (result: JobResult) => void;
  readonly #jobs = new Map<number, { readonly slot: WorkerSlot; readonly bytes: number }>();
  #nextJob = 1;
  #fetching = 0;
  #bytesInFlight = 0;
  #clearAcls = false;
  #failure: unknown;
  #wake: (() => void) | undefined;

  readonly #stop = new SharedArrayBuffer(4);

  constructor(
    setup: Omit<WorkerSetup, 'stop'>,
    workers: number | undefined,
    records: EntryRecordWriter,
    done: (result: JobResult) => void,
  ) {
    this.#records = records;
    this.#done = done;
    const count = workers ?? Math.max(1, Math.min(availableParallelism(), MAX_WORKERS));
    for (let i = 0; i < count; i += 1) this.#slots.push(this.#start({ ...setup, stop: this.#stop }));
  }

  /** From now on created entries lose access lists that they inherit. */
  clearInheritedAcls(): void {
    this.#clearAcls = true;
  }

  /** Compares files that stand in the target with their records; resolves when all results are in. */
  async compare(files: readonly number[], signal: AbortSignal): Promise<void> {
    for (let at = 0; at < files.length; at += GROUP) {
      await this.#room(signal);
      this.#post({ kind: 'compare', files: Uint32Array.from(files.slice(at, at + GROUP)) }, 0, []);
    }
    await this.#idle(signal);
  }

  /** Writes everything in the plan; resolves when all files are complete or given up. */
  async write(content: ContentPlan, destination: Destination, signal: AbortSignal): Promise<void> {
    const most = Math.max(this.#slots.length, destination.properties.maxParallel);
    for (const run of content.runs(destination)) {
      await this.#until(
        () =>
          this.#fetching < most &&
          (this.#bytesInFlight === 0 || this.#bytesInFlight + run.length <= BYTES_IN_FLIGHT),
        signal,
      );
      this.#bytesInFlight += run.length;
      this.#fetching += 1;
      void this.#fetchAndPost(run, destination, signal);
    }
    for (const files of content.plainGroups(GROUP)) {
      await this.#room(signal);
      this.#post({ kind: 'plain', files }, 0, []);
    }
    await this.#until(() => this.#fetching === 0, signal);
    await this.#idle(signal);
  }

  /** Lets the threads end by themselves, so that they close what they have open. */
  async [Symbol.asyncDispose](): Promise<void> {
    Atomics.store(new Int32Array(this.#stop), 0, 1);
    const close: ToWorker = { kind: 'close' };
    for (const { worker } of this.#slots) worker.postMessage(close, []);
    const ended = Promise.all(this.#slots.map(async (slot) => await slot.ended));
    const patience = new AbortController();
    await Promise.race([ended, setTimeout(END_WITHIN_MS, undefined, { signal: patience.signal })]);
    patience.abort();
    await Promise.all(this.#slots.map(async ({ worker }) => await worker.terminate()));
  }

  async #fetchAndPost(run: SegmentRun, destination: Destination, signal: AbortSignal): Promise<void> {
    const { pack, segments, offset, length } = run;
    try {
      const bytes = await fetchRun(destination, run, signal);
      const { buffer, byteOffset } = bytes;
      if (buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength) {
        this.#post(
          { kind: 'segments', pack, segments, sealed: { bytes: buffer, start: byteOffset, offset } },
          length,
          [buffer],
        );
      } else {
        const own = Uint8Array.from(bytes).buffer;
        this.#post({ kind: 'segments', pack, segments, sealed: { bytes: own, start: 0, offset } }, length, [
          own,
        ]);
      }
    } catch (error) {
      if (
        error instanceof DestinationError &&
        (error.kind === 'not-found' || error.kind === 'corrupt-reply')
      ) {
        this.#post({ kind: 'segments', pack, segments, sealed: { missing: error.message } }, length, []);
      } else {
        this.#failure ??= error;
      }
    } finally {
      this.#fetching -= 1;
      this.#wake?.();
    }
  }

  #post(job: NewJob, bytes: number, transfer: ArrayBuffer[]): void {
    const slot = this.#slots.reduce((least, one) => (one.outstanding < least.outstanding ? one : least));
    const number = this.#nextJob;
    this.#nextJob += 1;
    this.#jobs.set(number, { slot, bytes });
    slot.outstanding += 1;
    const pages = this.#records.memory.slice(slot.pages);
    slot.pages += pages.length;
    const message: Job = { ...job, job: number, pages, clearAcls: this.#clearAcls };
    slot.worker.postMessage(message, transfer);
  }

  /** Waits until a worker can take another job. */
  async #room(signal: AbortSignal): Promise<void> {
    await this.#until(() => this.#slots.some(({ outstanding }) => outstanding < QUEUED), signal);
  }

  async #idle(signal: AbortSignal): Promise<void> {
    await this.#until(() => this.#jobs.size === 0, signal);
  }

  async #until(ready: () => boolean, signal: AbortSignal): Promise<void> {
    const wake = (): void => this.#wake?.();
    signal.addEventListener('abort', wake);
    try {
      for (;;) {
        signal.throwIfAborted();
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
    const worker = new Worker(new URL(file, import.meta.url), { workerData: setup });
    const ended = new Promise<void>((resolve) => {
      worker.on('exit', () => resolve());
    });
    const slot: WorkerSlot = { worker, ended, pages: 0, outstanding: 0 };
    worker.on('message', (message: FromWorker) => {
      this.#receive(message);
      this.#wake?.();
    });
    worker.on('error', (cause) => {
      this.#failure ??= new BugError('A restore thread ended unexpectedly', { cause });
      this.#wake?.();
    });
    return slot;
  }

  #receive(message: FromWorker): void {
    if (message.kind === 'fatal') {
      this.#failure ??= rebuilt(message);
      return;
    }
    const job = this.#jobs.get(message.job);
    if (job === undefined) throw new BugError('A restore thread answered for a job it was not given');
    this.#jobs.delete(message.job);
    job.slot.outstanding -= 1;
    this.#bytesInFlight -= job.bytes;
    this.#done(message);
  }
}

function rebuilt({ full, message, stack }: FatalMessage): Error {
  if (full) return targetFull(message);
  return new BugError(message, { details: { stack } });
}
