/** One attempt at a job: the hook before, the engine and its reports, then the hook after. */
import type { Clock } from '../base/clock.ts';
import { BugError } from '../base/errors.ts';
import { holdfast } from '../base/holdfast-command.ts';
import type { HookSettings } from '../config/settings.ts';
import type { SettingStore } from '../db/settings.ts';
import type { EngineJob, EngineOutcome, FromEngine } from '../engine/protocol.ts';
import { type Death, notRemembered, notStarted } from './attempt-errors.ts';
import type { EngineLauncher, RunningEngine } from './engine-launcher.ts';
import { type HookResult, runHook } from './hooks.ts';
import type { JobBook } from './job-book.ts';
import type { JobHost } from './job-host.ts';
import { inPhase, progressed, type ProgressNow, waiting, warned, warnedAfterwards } from './job-states.ts';
import { endLeftHook, forgetHook, noteHook } from './left-hooks.ts';
import type { Job, JobError, JobProblem, Wait } from './job.ts';
import { waitText } from './wait-text.ts';
import type { Held, JobPlaces } from './queue.ts';

/** Milliseconds. */
const ATTEMPT_TIMES = {
  /** Minimum between two writes of the progress: two a second, with room for timers that fire early. */
  progressMs: 450,
  /** Time for an engine to obey a cancel before it is killed. */
  cancelMs: 30_000,
  /** Time for the hook after a job when the agent stops. */
  lastHookMs: 3_000,
} as const;

export type AttemptEnd =
  | { readonly kind: 'completed'; readonly outcome: EngineOutcome }
  | { readonly kind: 'failed'; readonly error: JobError }
  | { readonly kind: 'canceled' }
  /** On the agent's request: the job goes on later. */
  | { readonly kind: 'stopped' }
  /** The machine went down, for example by a power failure. */
  | { readonly kind: 'cut' }
  | { readonly kind: 'died'; readonly how: Death };

/** What the engine reported; null when it did not complete. */
export function outcomeOf(end: AttemptEnd): EngineOutcome | null {
  return end.kind === 'completed' ? end.outcome : null;
}

export interface AttemptSetup {
  readonly host: Pick<JobHost, 'hookRuns' | 'opened' | 'tried' | 'heldUp' | 'warned'>;
  readonly book: JobBook;
  readonly launcher: EngineLauncher;
  readonly clock: Clock;
  /** In its current state, running. */
  readonly job: Job;
  readonly places: JobPlaces;
  readonly hooks: HookSettings | null;
  /** Notes of the commands that run. */
  readonly settings: Pick<SettingStore, 'get' | 'set'>;
  /**
   * Waits until no other job works at the destination. Disposing of the result lets the next job in. Rejects when the
   * signal aborts.
   */
  readonly enter: (signal: AbortSignal) => Promise<Disposable>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly prepare: (job: Job, signal: AbortSignal) => Promise<EngineJob>;
  /** Receives an error that kept something from being written while the job goes on; called only once. */
  readonly trouble: (error: unknown) => void;
}

export class Attempt {
  readonly #setup: AttemptSetup;
  readonly #id: string;
  readonly #startedMs: number;
  /** Aborts what comes before the engine. */
  readonly #before = new AbortController();
  /** Aborts the hook after the engine. */
  readonly #after = new AbortController();
  /** Aborts the timers. */
  readonly #over = new AbortController();
  #engine: RunningEngine | undefined;
  #wish: 'cancel' | 'stop' | undefined;
  #last: AttemptEnd | undefined;
  #failure: unknown;
  #latest: Omit<ProgressNow, 'ranMs'> | undefined;
  /** Problems reported since the progress was last written. */
  #warnings = 0;
  #writtenMs = Number.NEGATIVE_INFINITY;
  #waitsToWrite = false;
  /** The hook before failed, and the settings treat that as a warning. */
  #hookFailed = false;
  #hasTrouble = false;
  #uploadLimit: number | null | undefined;
  #sent = 0;
  /** False while a command of the person's runs: hooks concern the source, so other jobs may use the destination meanwhile. */
  #usesDestination: boolean;
  #turn: Disposable | undefined;
  #isHeldUp = false;

  constructor(setup: AttemptSetup) {
    this.#setup = setup;
    this.#id = setup.job.id;
    this.#usesDestination = (setup.hooks?.before ?? null) === null;
    this.#startedMs = setup.clock.monotonic();
  }

  get places(): Held {
    const { source, destination } = this.#setup.places;
    return { source, destination: this.#usesDestination ? destination : null };
  }

  /** To be called when the end of the job is written: other jobs may now use the destination. */
  leave(): void {
    this.#usesDestination = false;
    this.#turn?.[Symbol.dispose]();
    this.#turn = undefined;
  }

  /** Milliseconds since the attempt began. */
  get ranMs(): number {
    return Math.round(this.#setup.clock.monotonic() - this.#startedMs);
  }

  cancel(): void {
    this.#wish = 'cancel';
    this.#before.abort();
    this.#engine?.cancel();
    this.#later(ATTEMPT_TIMES.cancelMs, () => void this.#engine?.stop());
  }

  /** For a planned stop. An earlier `cancel` takes precedence. */
  stop(): void {
    this.#wish ??= 'stop';
    this.#before.abort();
    void this.#engine?.stop();
    this.#later(ATTEMPT_TIMES.lastHookMs, () => this.#after.abort());
  }

  /** Bytes that the engine has sent. */
  get sent(): number {
    return this.#sent;
  }

  /** Sets the upload limit; may be called before there is an engine. */
  limit(uploadLimit: number | null): void {
    if (this.#uploadLimit === uploadLimit) return;
    this.#uploadLimit = uploadLimit;
    this.#engine?.limit(uploadLimit);
  }

  /** Runs the attempt until the engine has ended. @throws what the state database throws */
  async run(): Promise<AttemptEnd> {
    const { job, hooks, prepare } = this.#setup;
    await this.#endLeftHook();
    const refused = await this.#hookBefore(job, hooks);
    if (refused !== undefined) return refused;
    // From here on no other job begins at the destination.
    this.#usesDestination = true;
    let engineJob: EngineJob;
    try {
      this.#turn = await this.#setup.enter(this.#before.signal);
      engineJob = await prepare(job, this.#before.signal);
    } catch (error) {
      return this.#wished() ?? { kind: 'failed', error: notStarted(error) };
    }
    return this.#wished() ?? (await this.#runEngine(engineJob));
  }

  /** Runs the hook after the job, which learns how the job ended. */
  async finish(job: Job): Promise<void> {
    const hooks = this.#setup.hooks;
    try {
      if (hooks === null || hooks.after === null) return;
      const result = await this.#hook('after', hooks, job, this.#after.signal);
      if (!result.ok) this.#warnAfterwards(job, `The command after the job ${result.reason}: ${hooks.after}`);
    } finally {
      this.#over.abort();
    }
  }

  /** Such a command starts again what the one before has stopped, or removes what it made. A job that failed says so anyway. */
  #warnAfterwards(job: Job, message: string): void {
    this.#log('warn', message);
    if (job.status !== 'completed') return;
    const { book, host } = this.#setup;
    this.#show(() => {
      book.addProblem(this.#id, hookProblem(job, message));
      host.warned(book.change(this.#id, warnedAfterwards).job);
    });
  }

  async #hookBefore(job: Job, hooks: HookSettings | null): Promise<AttemptEnd | undefined> {
    if (hooks === null || hooks.before === null) return undefined;
    const result = await this.#hook('before', hooks, job, this.#before.signal);
    if (result.ok) return undefined;
    const wished = this.#wished();
    if (wished !== undefined) return wished;
    const text = `The command before the job ${result.reason}: ${hooks.before}`;
    if (hooks.onFailure === 'warn') {
      this.#warnOfHook(job, text);
      return undefined;
    }
    const message = `${text}. What it printed: ${holdfast`jobs ${job.id} --log`}`;
    return { kind: 'failed', error: { code: 'HOOK_FAILED', message, details: { command: hooks.before } } };
  }

  /** What the command should have prepared may be missing from the backup, so its failure counts as a warning. */
  #warnOfHook(job: Job, message: string): void {
    this.#show(() => this.#setup.book.addProblem(this.#id, hookProblem(job, message)));
    this.#hookFailed = true;
    this.#warnings += 1;
    this.#log('warn', message);
  }

  #completed(end: Extract<AttemptEnd, { readonly kind: 'completed' }>): AttemptEnd {
    if (!this.#hookFailed) return end;
    const { outcome } = end;
    return { kind: 'completed', outcome: { ...outcome, result: 'warning', warnings: outcome.warnings + 1 } };
  }

  /** Also where the settings have no commands now: what is left of an earlier one may be writing to the source. */
  async #endLeftHook(): Promise<void> {
    const { places, settings, clock } = this.#setup;
    if (places.source === null) return;
    const tell = (text: string): void => this.#log('warn', text);
    try {
      await endLeftHook(settings, places.source, clock, tell, this.#before.signal);
    } catch (error) {
      this.#show(() => {
        throw error;
      });
    }
  }

  async #hook(
    when: 'before' | 'after',
    { before, after, timeoutSeconds }: HookSettings,
    job: Job,
    signal: AbortSignal,
  ): Promise<HookResult> {
    const command = (when === 'before' ? before : after) ?? '';
    const timeoutMs = timeoutSeconds * 1000;
    const { clock, environment, places, settings } = this.#setup;
    const source = places.source ?? '';
    const onStart = (pid: number): void => {
      const untilMs = clock.now() + timeoutMs;
      this.#show(() => noteHook(settings, { source, job: job.id, when, pid, untilMs }, clock.now()));
    };
    const onLines = (texts: readonly string[]): void => this.#guard(() => this.#logAll('info', texts));
    const hasEnded = this.#setup.host.hookRuns(job);
    try {
      return await runHook({ command, timeoutMs, environment, job, onStart, onLines }, clock, signal);
    } finally {
      this.#show(() => forgetHook(settings, source));
      hasEnded();
    }
  }

  async #runEngine(prepared: EngineJob): Promise<AttemptEnd> {
    // The prepared limit is the one for all jobs together. A share that was already assigned to this job takes precedence.
    this.#uploadLimit ??= prepared.destination.uploadLimit;
    const destination = { ...prepared.destination, uploadLimit: this.#uploadLimit };
    const job = { ...prepared, destination };
    const engine = this.#setup.launcher.start(job, (message) => this.#guard(() => this.#receive(message)));
    this.#engine = engine;
    const { code, signal, notReadyAfterMs } = await engine.ended;
    this.#engine = undefined;
    if (this.#isHeldUp) this.#wait(null);
    if (this.#failure !== undefined) throw this.#failure;
    this.#write();
    const last = this.#last;
    // A committed snapshot makes the job completed, even when it was asked to cancel or stop meanwhile.
    if (last?.kind === 'completed') return this.#completed(last);
    const wished = this.#wished();
    if (wished !== undefined) return wished;
    if (last?.kind === 'failed') return last;
    return { kind: 'died', how: { code, signal, notReadyAfterMs } };
  }

  #wished(): AttemptEnd | undefined {
    if (this.#wish === undefined) return undefined;
    return { kind: this.#wish === 'cancel' ? 'canceled' : 'stopped' };
  }

  #receive(message: FromEngine): void {
    const { book } = this.#setup;
    switch (message.kind) {
      case 'ready':
        return;
      case 'opened':
        this.#remember(message.repositoryId);
        return;
      case 'phase':
        this.#show(() => book.show(this.#id, (record) => inPhase(record, message.phase)));
        return;
      case 'progress':
        this.#latest = message;
        this.#writeInTime();
        return;
      case 'sent':
        this.#sent = message.bytes;
        return;
      case 'problem':
        this.#show(() => book.addProblem(this.#id, message.problem));
        this.#warnings += 1;
        this.#log('warn', `${message.problem.path}: ${message.problem.message}`);
        return;
      case 'note':
        this.#log('info', message.text);
        return;
      case 'tried':
        this.#show(() => this.#setup.host.tried(this.#id, message.trial));
        return;
      case 'held_up':
        this.#wait(message.waitsFor);
        return;
      case 'completed':
      case 'failed':
        this.#last = message;
        return;
      case 'canceled':
        return;
    }
  }

  /** The job shows all the time what it waits for. The logs of the job and the agent mention only the beginning of a wait. */
  #wait(waitsFor: Wait | null): void {
    this.#show(() => this.#setup.book.show(this.#id, (record) => waiting(record, waitsFor)));
    if (waitsFor !== null && !this.#isHeldUp) {
      const text = waitText(waitsFor);
      this.#log('info', text);
      this.#setup.host.heldUp(this.#id, text);
    }
    this.#isHeldUp = waitsFor !== null;
  }

  /** A backup ends when the repository id cannot be recorded. Other jobs go on, as they never make a repository. */
  #remember(repositoryId: string): void {
    const { job, host, trouble } = this.#setup;
    try {
      host.opened(job, repositoryId);
    } catch (error) {
      if (error instanceof BugError) throw error;
      trouble(error);
      if (job.type === 'backup') {
        this.#last = { kind: 'failed', error: notRemembered(error) };
        void this.#engine?.stop();
        return;
      }
    }
    this.#engine?.remembered();
  }

  #writeInTime(): void {
    const restMs = ATTEMPT_TIMES.progressMs - (this.#setup.clock.monotonic() - this.#writtenMs);
    if (restMs <= 0) {
      this.#write();
    } else if (!this.#waitsToWrite) {
      this.#waitsToWrite = true;
      this.#later(restMs, () => {
        this.#waitsToWrite = false;
        this.#write();
      });
    }
  }

  #write(): void {
    const [latest, warnings] = [this.#latest, this.#warnings];
    if ((latest === undefined && warnings === 0) || this.#over.signal.aborted) return;
    this.#latest = undefined;
    this.#warnings = 0;
    this.#writtenMs = this.#setup.clock.monotonic();
    this.#show(() =>
      this.#setup.book.show(this.#id, (record) => {
        const counted = warned(record, warnings);
        return latest === undefined ? counted : progressed(counted, { ...latest, ranMs: this.ranMs });
      }),
    );
  }

  /** Writes what only shows how the job is doing. A failure, such as a full disk, must not stop the job. */
  #show(write: () => void): void {
    try {
      write();
    } catch (error) {
      if (error instanceof BugError) throw error;
      if (!this.#hasTrouble) this.#setup.trouble(error);
      this.#hasTrouble = true;
    }
  }

  /** An error while a message is handled ends this attempt, not the process. */
  #guard(work: () => void): void {
    if (this.#failure !== undefined) return;
    try {
      work();
    } catch (error) {
      this.#failure = error;
      void this.#engine?.stop();
    }
  }

  #later(ms: number, work: () => void): void {
    const wait = async (): Promise<void> => {
      try {
        await this.#setup.clock.sleep(ms, this.#over.signal);
      } catch {
        // The attempt is over.
        return;
      }
      this.#guard(work);
    };
    void wait();
  }

  #log(level: 'info' | 'warn', text: string): void {
    this.#logAll(level, [text]);
  }

  #logAll(level: 'info' | 'warn', texts: readonly string[]): void {
    this.#show(() => this.#setup.book.logAll(this.#id, level, texts));
  }
}

function hookProblem({ spec }: Job, message: string): JobProblem {
  return { path: spec.type === 'backup' ? spec.source : spec.destination, code: 'HOOK_FAILED', message };
}
