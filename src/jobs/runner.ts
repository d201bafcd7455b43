/** Runs queued jobs in engine processes, and brings each job to an end whatever happens to the process. */
import { isDeepStrictEqual } from 'node:util';
import { randomUUID } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { BugError, RequestError } from '../base/errors.ts';
import { TurnsAt } from '../base/turns.ts';
import type { JobRecord } from '../db/jobs.ts';
import type { SettingStore } from '../db/settings.ts';
import type { EngineJob } from '../engine/protocol.ts';
import { afterEnd, endLog, endOfLeft, machineRestarted } from './after-end.ts';
import { Attempt, type AttemptEnd, outcomeOf } from './attempt.ts';
import { cancelRequested, isTerminal, started, waiting } from './job-states.ts';
import type { Noted } from './agent.ts';
import type { EngineLauncher } from './engine-launcher.ts';
import type { JobBook } from './job-book.ts';
import type { JobHost } from './job-host.ts';
import type { BackupSpec, Job, JobSpec, JobTrigger, Wait } from './job.ts';
import {
  type Held,
  isPersons,
  isTaken,
  type JobPlaces,
  LOOK_AGAIN_MS,
  startable,
  submitJob,
  untilNextLook,
} from './queue.ts';
import { showPause, showWaits } from './shown-waits.ts';
import { isOver, type Pause, readPause, writePause } from './pause.ts';
import {
  copiesOf,
  interruptedReader,
  nearFirst,
  partOf,
  type PassPart,
  placesOfPart,
  refusalOf,
  submitPass,
} from './pass.ts';
import { UploadShares } from './upload-shares.ts';

/** Milliseconds between attempts to write the end of a job. */
const WRITE_AGAIN_MS = 2_000;

export interface RunnerParts {
  readonly book: JobBook;
  readonly settings: SettingStore;
  readonly launcher: EngineLauncher;
  /** When this many jobs are running, jobs that nobody waits for do not start; undefined for no limit. */
  readonly mostAtOnce?: number | undefined;
  readonly clock: Clock;
  /** Identifies the current boot of the machine. */
  readonly boot: () => string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Current limit in bytes per second; null for none. */
  readonly uploadLimit: () => number | null;
  /** Logs an error that is not the fault of a job, such as a failure of the state database. */
  readonly trouble: (error: unknown) => void;
}

export class Runner {
  readonly #parts: RunnerParts;
  #attached: JobHost | undefined;
  readonly #attempts = new Map<string, Attempt>();
  readonly #runs = new Map<string, Promise<void>>();
  /** The turns of jobs at destinations. */
  readonly #turns = new TurnsAt();
  readonly #shares = new UploadShares();
  #pause: Pause | undefined;
  #state: 'new' | 'open' | 'closed' = 'new';
  #looking: Promise<void> | undefined;
  #lookAgain = false;
  #timer = new AbortController();
  readonly #closing = new AbortController();

  constructor(parts: RunnerParts) {
    this.#parts = parts;
    this.#pause = readPause(parts.settings);
  }

  /** Sets the host. To be called once, before any job begins or ends. */
  attach(host: JobHost): void {
    this.#attached = host;
  }

  /** Continues jobs that an earlier process left, and begins to run jobs. Before this, jobs are only queued. */
  start(): void {
    const { book, settings, boot } = this.#parts;
    const isRestarted = machineRestarted(settings, boot());
    for (const { job, bookkeeping } of book.running())
      this.#end(job.id, endOfLeft(bookkeeping, isRestarted), 0);
    this.#state = 'open';
    this.look();
  }

  /** @throws {RequestError} QUEUE_FULL, SHUTTING_DOWN */
  submit(spec: JobSpec, trigger: JobTrigger, also?: Noted): Job {
    this.#requireOpen();
    const { book } = this.#parts;
    const copies = (record: JobRecord): boolean => {
      const { pass } = record.bookkeeping;
      return copiesOf(book, record) || (pass !== null && this.#isRead(pass));
    };
    return this.#queued(submitJob(book, { spec, trigger, copies, also }));
  }

  /**
   * Queues the same backup to several destinations, in the order in which they are to read the source.
   * @throws {RequestError} QUEUE_FULL, SHUTTING_DOWN
   */
  submitPass(specs: readonly BackupSpec[], trigger: JobTrigger, also?: Noted): readonly Job[] {
    this.#requireOpen();
    const { book } = this.#parts;
    const isRead = (of: string): boolean => this.#isRead(of);
    const jobs = submitPass(book, { specs, trigger, pass: randomUUID(), isRead, also });
    return jobs.map((job) => this.#queued(job));
  }

  /** The answer to whoever asks for a job already says that it waits for the end of a pause. */
  #queued(job: Job): Job {
    const { book } = this.#parts;
    this.look();
    if (this.#pause === undefined) return job;
    this.#tell(() => showPause(book, this.#pause));
    return book.record(job.id).job;
  }

  #requireOpen(): void {
    if (this.#state !== 'closed') return;
    throw new RequestError('SHUTTING_DOWN', 'The agent is being stopped', {
      hint: 'Ask again once it has been started again.',
      retry: 'later',
    });
  }

  /**
   * Cancels a job: at once while it waits, otherwise as soon as its engine can stop.
   * @throws {RequestError} NOT_FOUND, JOB_NOT_CANCELABLE
   */
  cancel(id: string): Job {
    const { book } = this.#parts;
    const { job } = book.record(id);
    if (isTerminal(job.status)) {
      throw new RequestError('JOB_NOT_CANCELABLE', `Job ${id} has already ended (${job.status})`, {
        hint: 'There is nothing to cancel.',
        details: { status: job.status },
      });
    }
    const attempt = this.#attempts.get(id);
    if (job.status === 'queued' || attempt === undefined) return this.#end(id, { kind: 'canceled' }, 0);
    const asked = book.change(id, cancelRequested).job;
    attempt.cancel();
    return asked;
  }

  /** The current pause; undefined when there is none. */
  get pausedUntil(): Pause | undefined {
    return this.#pause;
  }

  /**
   * Starts no jobs until the given time (milliseconds since 1970; null: until `resume`). With `interrupt`, running jobs
   * are stopped and go on afterwards.
   */
  async pause(until: number | null, interrupt: boolean): Promise<void> {
    this.#setPause({ until });
    if (interrupt) await this.#stopAll();
    this.look();
  }

  resume(): void {
    if (this.#pause !== undefined) this.#setPause(undefined);
    this.look();
  }

  /** Stops running jobs, which go on at the next start of the agent, and starts no more. */
  async close(): Promise<void> {
    this.#state = 'closed';
    this.#timer.abort();
    this.#closing.abort();
    await this.#looking;
    await this.#stopAll();
  }

  /** Starts the jobs that may start. To be called after a change that the runner cannot notice, such as one of the settings. */
  look(): void {
    if (this.#state !== 'open') return;
    this.#lookAgain = true;
    this.#looking ??= this.#lookUntilQuiet();
  }

  async #lookUntilQuiet(): Promise<void> {
    let fine = false;
    // A thousand jobs that are queued one after the other are looked at once.
    await Promise.resolve();
    try {
      while (this.#lookAgain && this.#isOpen()) {
        this.#lookAgain = false;
        await this.#lookOnce();
      }
      fine = true;
    } catch (error) {
      this.#parts.trouble(error);
    } finally {
      this.#looking = undefined;
      this.#wakeLater(fine);
    }
  }

  async #lookOnce(): Promise<void> {
    const { book, clock } = this.#parts;
    if (this.#pause !== undefined && isOver(this.#pause, clock.now())) this.#setPause(undefined);
    this.#takeUpLost();
    this.#shareLimit();
    showPause(book, this.#pause);
    if (this.#pause !== undefined) return;
    const placesOf = (record: JobRecord): JobPlaces => this.#placesOf(record);
    const next = startable(book.queued(), this.#taken(), placesOf, clock.now());
    for (const waiter of nearFirst(next, (record) => placesOf(record).isFar === true)) {
      if (this.#pause !== undefined) return;
      const { job } = waiter;
      if (this.#isFull(job)) continue;
      const reason = await this.#reasonToWait(job, this.#partOf(waiter));
      if (this.#pause !== undefined || !this.#isOpen()) return;
      const now = book.record(job.id);
      if (now.job.status !== 'queued' || isTaken(placesOf(now), this.#taken()) || this.#yields(now)) continue;
      if (reason === null) this.#start(now);
      else if (!isDeepStrictEqual(reason, now.job.waits))
        book.show(job.id, (record) => waiting(record, reason));
    }
    this.#showWaits();
  }

  #shareLimit(): void {
    const { uploadLimit, clock } = this.#parts;
    this.#shares.give(uploadLimit(), [...this.#attempts.values()], clock.monotonic());
  }

  /** Each running job takes memory: where there is little, jobs that nobody waits for have to wait. */
  #isFull({ trigger }: Job): boolean {
    return !isPersons(trigger) && this.#attempts.size >= (this.#parts.mostAtOnce ?? Number.POSITIVE_INFINITY);
  }

  #placesOf(record: JobRecord): JobPlaces {
    return placesOfPart(record.job.spec, this.#partOf(record), (spec) => this.#host.placesOf(spec));
  }

  #partOf(record: JobRecord): PassPart {
    return partOf(record, this.#parts.book.ofPass(record.bookkeeping.pass));
  }

  #yields(record: JobRecord): boolean {
    const members = this.#parts.book.ofPass(record.bookkeeping.pass);
    const interrupted = interruptedReader(record, this.#partOf(record), members);
    return interrupted !== undefined && !isTaken(this.#placesOf(interrupted), this.#taken());
  }

  /** Whether a job of that pass is reading the source at the moment. */
  #isRead(pass: string): boolean {
    return this.#parts.book
      .ofPass(pass)
      .some(({ job: { id } }) => (this.#attempts.get(id)?.places.source ?? null) !== null);
  }

  #showWaits(): void {
    const taken = this.#taken();
    showWaits(this.#parts.book, {
      partOf: (record) => this.#partOf(record),
      isRead: (pass) => this.#isRead(pass),
      isBehind: (record) => isTaken(this.#placesOf(record), taken) || this.#isFull(record.job),
    });
  }

  /** Ends jobs that are stored as running but have no attempt, because their end could not be written. */
  #takeUpLost(): void {
    for (const { job } of this.#parts.book.running()) {
      if (this.#attempts.has(job.id)) continue;
      this.#end(job.id, { kind: 'died', how: 'end-not-written' }, 0);
    }
  }

  #taken(): Held[] {
    return [...this.#attempts.values()].map(({ places }) => places);
  }

  async #reasonToWait(job: Job, part: PassPart): Promise<Wait | null> {
    try {
      return await this.#host.waitingReason(job, part);
    } catch (error) {
      // If the conditions cannot be checked the job runs: a backup on battery is better than none.
      this.#parts.trouble(error);
      return null;
    }
  }

  #start(record: JobRecord): void {
    const { book, clock } = this.#parts;
    const host = this.#host;
    const part = this.#partOf(record);
    const places = this.#placesOf(record);
    const { job } = book.change(record.job.id, (found) => started(found, clock.now()));
    this.#tell(() => host.began(job));
    // Hooks concern the reading of a source, so copies run none.
    const hooks = part.kind === 'alone' || part.kind === 'reads' ? host.hooksOf(job) : null;
    const prepare = async (it: Job, signal: AbortSignal): Promise<EngineJob> => {
      if (part.kind === 'refused') throw refusalOf(part.error);
      return await host.prepare(it, part, signal);
    };
    const attempt = new Attempt({
      ...this.#parts,
      host,
      job,
      places,
      hooks,
      prepare,
      enter: async (signal) => await this.#turns.take(places.destination, signal),
    });
    this.#attempts.set(job.id, attempt);
    this.#shareLimit();
    this.#runs.set(job.id, this.#run(job, attempt));
  }

  async #run(job: Job, attempt: Attempt): Promise<void> {
    const { book, trouble } = this.#parts;
    try {
      this.#tell(() => {
        book.clearProblems(job.id);
        book.log(job.id, 'info', job.attempt === 1 ? 'Started.' : `Started, attempt ${job.attempt}.`);
      });
      const end = await attempt.run();
      const ended = await this.#endWhenPossible(job.id, end, attempt.ranMs);
      attempt.leave();
      this.look();
      await attempt.finish(ended);
    } catch (error) {
      trouble(error);
    } finally {
      attempt.leave();
      this.#attempts.delete(job.id);
      this.#runs.delete(job.id);
      this.look();
    }
  }

  /** Like `#end`, repeated while the disk of the state directory is full: otherwise the engine's work would be done again. */
  async #endWhenPossible(id: string, end: AttemptEnd, ranMs: number): Promise<Job> {
    for (let tries = 1; ; tries += 1) {
      try {
        return this.#end(id, end, ranMs);
      } catch (error) {
        if (error instanceof BugError || !this.#isOpen()) throw error;
        if (tries === 1) {
          this.#parts.trouble(error);
          this.#tell(() => this.#tellDelayed(id, end, ranMs));
        }
      }
      await this.#parts.clock.sleep(WRITE_AGAIN_MS, this.#closing.signal);
    }
  }

  /** Writes how an attempt ended, and what follows for the job. */
  #end(id: string, end: AttemptEnd, ranMs: number): Job {
    const { book, clock } = this.#parts;
    const nowMs = clock.now();
    const outcome = outcomeOf(end);
    const told: AttemptEnd =
      outcome === null ? end : { kind: 'completed', outcome: this.#host.judged(id, outcome) };
    const { job } = book.change(
      id,
      (record) => afterEnd(record, told, ranMs, nowMs),
      (after) => {
        if (isTerminal(after.status)) this.#host.keepEnd(after, outcomeOf(told));
      },
    );
    this.#tell(() => {
      for (const { level, text } of endLog(end, job)) book.log(id, level, text);
    });
    if (isTerminal(job.status)) this.#tellEnded(job, end);
    return job;
  }

  #tellDelayed(id: string, end: AttemptEnd, ranMs: number): void {
    const { book, clock } = this.#parts;
    const { job } = afterEnd(book.record(id), end, ranMs, clock.now());
    if (isTerminal(job.status)) this.#host.endDelayed(job);
  }

  #tellEnded(job: Job, end: AttemptEnd): void {
    const outcome = outcomeOf(end);
    if (outcome !== null) this.#tell(() => this.#host.completed(job, outcome));
    this.#tell(() => this.#host.ended(job));
  }

  #tell(about: () => void): void {
    try {
      about();
    } catch (error) {
      this.#parts.trouble(error);
    }
  }

  #setPause(pause: Pause | undefined): void {
    const { book, settings } = this.#parts;
    writePause(settings, pause);
    this.#pause = pause;
    const data = pause === undefined ? { paused: false } : { paused: true, until: pause.until };
    book.feed.append({ kind: 'status', jobId: null, data });
  }

  async #stopAll(): Promise<void> {
    for (const attempt of this.#attempts.values()) attempt.stop();
    await Promise.all(this.#runs.values());
  }

  get #host(): JobHost {
    if (this.#attached === undefined) throw new BugError('The runner was started without a host');
    return this.#attached;
  }

  #isOpen(): boolean {
    return this.#state === 'open';
  }

  /** Schedules the next look, if there is anything to look at. */
  #wakeLater(fine: boolean): void {
    this.#timer.abort();
    if (!this.#isOpen()) return;
    this.#timer = new AbortController();
    const ms = fine ? this.#untilNextLook() : LOOK_AGAIN_MS;
    if (ms !== undefined) void this.#wakeAfter(ms, this.#timer.signal);
  }

  #untilNextLook(): number | undefined {
    const { book, clock, uploadLimit } = this.#parts;
    const [works, pausedUntil] = [this.#attempts.size > 0, this.#pause?.until ?? null];
    try {
      const shares = this.#attempts.size > 1 && uploadLimit() !== null;
      return untilNextLook({ queued: book.queued(), works, pausedUntil, shares, nowMs: clock.now() });
    } catch (error) {
      this.#parts.trouble(error);
      return LOOK_AGAIN_MS;
    }
  }

  async #wakeAfter(ms: number, signal: AbortSignal): Promise<void> {
    try {
      await this.#parts.clock.sleep(ms, signal);
    } catch {
      // Another look came first, or the runner was closed.
      return;
    }
    this.look();
  }
}
