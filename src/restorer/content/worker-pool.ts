import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { BugError } from '../../base/errors.ts';
import type { Destination } from '../../destination/destination.ts';
import { isUnreadObject } from '../../repository/objects/lost-object.ts';
import { threadCount } from '../../system/machine-memory.ts';
import { type ContentPlan, eachSegment, fetchRun, type SegmentRun } from './content-plan.ts';
import { type FailureFacts, targetFull } from '../target/entry-failure.ts';
import type { EntryRecordWriter } from '../target/entry-records.ts';
import { JobRunner } from './job-runner.ts';
import { LostPacks } from './lost-packs.ts';
import type { FromWorker, Job, JobResult, ToWorker, WorkerSetup } from './messages.ts';
import { WrittenFiles } from './written-files.ts';

/** More threads than this would only wait for each other in the file system. */
const MAX_WORKERS = 4;
/**
 * Stored bytes that may be on their way from the destination or wait at the workers. A far and fast connection carries
 * a good part of them at any moment (docs/performance.md).
 */
const BYTES_IN_FLIGHT = { local: 24 * 1024 * 1024, remote: 64 * 1024 * 1024 } as const;
/** Jobs queued at each worker: enough that it never idles while the next one is fetched. */
const QUEUED = 2;
/** Files per job that needs no stored content. */
const GROUP = 256;

/** `Omit` that keeps the alternatives of a union apart. */
type NewJob = Job extends infer One
  ? One extends Job
    ? Omit<One, 'job' | 'pages' | 'clearAcls'>
    : never
  : never;

/** Up to this much is done on the main thread: a thread takes 0.1 s to start. */
const FEW = { files: 64, bytes: 8 * 1024 * 1024 } as const;
/** A thread ends after its current job; one that takes longer than this is terminated. */
const END_WITHIN_MS = 5_000;

interface WorkerSlot {
  readonly worker: Worker;
  readonly ended: Promise<void>;
  /** Number of record pages it has been sent. */
  pages: number;
  outstanding: number;
}

/**
 * Carries out the jobs of a restore. They run on worker threads, which start while the plan is still being made, or,
 * when there is too little to do to justify starting threads, on the main thread.
 */
export class WorkerPool {
  readonly #setup: WorkerSetup;
  readonly #threads: number;
  readonly #slots: WorkerSlot[] = [];
  #here: JobRunner | undefined;
  readonly #expected = { files: 0, bytes: 0 };
  readonly #records: EntryRecordWriter;
  readonly #done: (result: JobResult) => void;
  readonly #jobs = new Map<number, { readonly slot: WorkerSlot; readonly bytes: number }>();
  readonly #stop = new SharedArrayBuffer(4);
  readonly #written = new WrittenFiles();
  readonly #lostPacks = new LostPacks();
  #nextJob = 1;
  #fetching = 0;
  #bytesInFlight = 0;
  #clearAcls = false;
  #failure: unknown;
  /** A thread has ended unexpectedly, or reported a bug. */
  #broken = false;
  /** Nothing more is to be written, because the restore failed. */
  #ending = false;
  #unsynced: FailureFacts | undefined;
  #wake: (() => void) | undefined;

  constructor(
    setup: Omit<WorkerSetup, 'stop'>,
    workers: number | undefined,
    records: EntryRecordWriter,
    done: (result: JobResult) => void,
  ) {
    this.#records = records;
    this.#done = done;
    this.#setup = { ...setup, stop: this.#stop };
    this.#threads = workers ?? threadCount(MAX_WORKERS);
  }

  /** Announces another file that will have to be written or compared. */
  expect(bytes: number): void {
    if (this.#slots.length > 0) return;
    this.#expected.files += 1;
    this.#expected.bytes += bytes;
    if (this.#expected.files <= FEW.files && this.#expected.bytes <= FEW.bytes) return;
    for (let i = 0; i < this.#threads; i += 1) this.#slots.push(this.#start());
  }

  /** Makes created entries lose access lists that they inherit. */
  clearInheritedAcls(): void {
    this.#clearAcls = true;
  }

  /** Compares existing files with their records; resolves when all results are in. */
  async compare(files: readonly number[], signal: AbortSignal): Promise<void> {
    for (let at = 0; at < files.length; at += GROUP) {
      await this.#room(signal);
      this.#post({ kind: 'compare', files: Uint32Array.from(files.slice(at, at + GROUP)) }, 0, []);
    }
    await this.#idle(signal);
  }

  /** Writes everything in the plan; resolves when all files are complete or have failed. */
  async write(content: ContentPlan, destination: Destination, signal: AbortSignal): Promise<void> {
    try {
      await this.#writeAll(content, destination, signal);
      this.#completeWritten();
      await this.#idle(signal);
    } catch (error) {
      await this.#completeAfterAll();
      throw error;
    }
  }

  /** Files that have their content but are not known to be complete, for cleaning up after a restore that ends early. */
  get incomplete(): Iterable<number> {
    return this.#written;
  }

  /**
   * Resolves when everything on these file systems is on disk.
   * @param fileSystems descriptors of directories
   * @returns the failure, if not everything is on disk
   */
  async sync(fileSystems: readonly number[], signal: AbortSignal): Promise<FailureFacts | undefined> {
    if (fileSystems.length > 0) this.#post({ kind: 'sync', fileSystems }, 0, []);
    await this.#idle(signal);
    return this.#unsynced;
  }

  async #writeAll(content: ContentPlan, destination: Destination, signal: AbortSignal): Promise<void> {
    const { maxParallel, remote } = destination.properties;
    const most = Math.max(this.#threads, maxParallel);
    const mostBytes = remote ? BYTES_IN_FLIGHT.remote : BYTES_IN_FLIGHT.local;
    for (const run of content.runs(destination)) {
      await this.#until(
        () =>
          this.#fetching < most &&
          (this.#bytesInFlight === 0 || this.#bytesInFlight + run.length <= mostBytes),
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

  /** Lets the threads end on their own first, so that they close what they have open. */
  async [Symbol.asyncDispose](): Promise<void> {
    Atomics.store(new Int32Array(this.#stop), 0, 1);
    const close: ToWorker = { kind: 'close' };
    for (const { worker } of this.#slots) worker.postMessage(close, []);
    const ended = Promise.all(this.#slots.map(async (slot) => await slot.ended));
    const patience = new AbortController();
    await Promise.race([ended, setTimeout(END_WITHIN_MS, undefined, { signal: patience.signal })]);
    patience.abort();
    await Promise.all(this.#slots.map(async ({ worker }) => await worker.terminate()));
    this.#here?.close();
  }

  #completeWritten(): void {
    const files = this.#written.take(this.#nextJob);
    if (files.length > 0) this.#post({ kind: 'complete', files }, 0, []);
  }

  /** Completes the files that were written before the restore failed: they are worth no less for that. */
  async #completeAfterAll(): Promise<void> {
    this.#ending = true;
    const patience = AbortSignal.timeout(END_WITHIN_MS);
    await this.#settled(() => this.#jobs.size === 0 || patience.aborted, patience);
    if (this.#broken) return;
    this.#completeWritten();
    await this.#settled(() => !this.#written.isUnderWay);
  }

  async #settled(ready: () => boolean, signal?: AbortSignal): Promise<void> {
    const wake = (): void => this.#wake?.();
    signal?.addEventListener('abort', wake);
    while (!ready() && !this.#broken) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    signal?.removeEventListener('abort', wake);
  }

  async #fetchAndPost(run: SegmentRun, destination: Destination, signal: AbortSignal): Promise<void> {
    try {
      await this.#fetchOrGiveUp(run, destination, signal);
    } catch (error) {
      this.#failure ??= error;
    } finally {
      this.#fetching -= 1;
      this.#wake?.();
    }
  }

  /**
   * Fetches a run. If it cannot be read as a whole, its segments are fetched one by one, and only the files of those
   * that cannot be read are lost.
   */
  async #fetchOrGiveUp(run: SegmentRun, destination: Destination, signal: AbortSignal): Promise<void> {
    const { pack, segments, length } = run;
    let bytes: Buffer;
    try {
      bytes = await fetchRun(destination, run, signal);
      this.#lostPacks.read();
    } catch (error) {
      if (!this.#lostPacks.isOnly(pack.name, error)) throw error;
      if (this.#ending) return;
      if (segments.length === 1 || !isUnreadObject(error)) {
        this.#post({ kind: 'segments', pack, segments, sealed: { missing: error.message } }, length, []);
        return;
      }
      const parts = [...eachSegment(run, destination)];
      this.#bytesInFlight += parts.reduce((sum, part) => sum + part.length, 0) - length;
      for (const part of parts) await this.#fetchOrGiveUp(part, destination, signal);
      return;
    }
    if (!this.#ending) this.#postFetched(run, bytes);
  }

  #postFetched({ pack, segments, offset, length }: SegmentRun, bytes: Buffer): void {
    const { buffer, byteOffset } = bytes;
    const isAlone = buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength;
    const own = isAlone ? buffer : Uint8Array.from(bytes).buffer;
    const sealed = { bytes: own, start: isAlone ? byteOffset : 0, offset };
    this.#post({ kind: 'segments', pack, segments, sealed }, length, [own]);
  }

  #post(job: NewJob, bytes: number, transfer: ArrayBuffer[]): void {
    const number = this.#nextJob;
    this.#nextJob += 1;
    const idlest = (least: WorkerSlot | undefined, one: WorkerSlot): WorkerSlot =>
      least === undefined || one.outstanding < least.outstanding ? one : least;
    const slot = this.#slots.reduce<WorkerSlot | undefined>(idlest, undefined);
    if (slot === undefined) {
      this.#runHere(job, number, bytes);
      return;
    }
    this.#jobs.set(number, { slot, bytes });
    slot.outstanding += 1;
    const pages = this.#records.memory.slice(slot.pages);
    slot.pages += pages.length;
    const message: Job = { ...job, job: number, pages, clearAcls: this.#clearAcls };
    slot.worker.postMessage(message, transfer);
  }

  #runHere(job: NewJob, number: number, bytes: number): void {
    this.#here ??= new JobRunner(this.#setup);
    const pages = this.#records.memory.slice(this.#here.pages);
    const result = this.#here.run({ ...job, job: number, pages, clearAcls: this.#clearAcls });
    this.#bytesInFlight -= bytes;
    this.#settle(result);
  }

  #settle(result: JobResult): void {
    this.#unsynced ??= result.unsynced;
    if (result.full !== undefined) this.#failure ??= targetFull(result.full);
    this.#written.settle(result);
    this.#done(result);
    if (this.#written.isEnough && !this.#ending) this.#completeWritten();
  }

  /** Waits until a worker can take another job. */
  async #room(signal: AbortSignal): Promise<void> {
    await this.#until(
      () => this.#slots.length === 0 || this.#slots.some(({ outstanding }) => outstanding < QUEUED),
      signal,
    );
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

  #start(): WorkerSlot {
    const file = import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js';
    const worker = new Worker(new URL(file, import.meta.url), { workerData: this.#setup });
    const ended = new Promise<void>((resolve) => {
      worker.on('exit', () => resolve());
    });
    const slot: WorkerSlot = { worker, ended, pages: 0, outstanding: 0 };
    worker.on('message', (message: FromWorker) => {
      this.#receive(message);
      this.#wake?.();
    });
    worker.on('error', (cause) => {
      this.#broken = true;
      this.#failure ??= new BugError('A restore thread ended unexpectedly', { cause });
      this.#wake?.();
    });
    return slot;
  }

  #receive(message: FromWorker): void {
    if (message.kind === 'fatal') {
      this.#broken = true;
      this.#failure ??= new BugError(message.message, { details: { stack: message.stack } });
      return;
    }
    const job = this.#jobs.get(message.job);
    if (job === undefined) throw new BugError('A restore thread answered for a job it was not given');
    this.#jobs.delete(message.job);
    job.slot.outstanding -= 1;
    this.#bytesInFlight -= job.bytes;
    this.#settle(message);
  }
}
