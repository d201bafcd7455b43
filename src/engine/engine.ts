/** Runs one job after the other in the forked process, by the messages that it receives. */
import { placedCauseText } from '../base/errno-words.ts';
import { BugError, HoldfastError, isAbort } from '../base/errors.ts';
import { callRepository } from '../base/holdfast-command.ts';
import type { JobSpec } from '../jobs/job.ts';
import type { Repository } from '../repository/repository.ts';
import { runBackup } from './backup-job.ts';
import { runCheck } from './check-job.ts';
import { NothingToCopy, runCopy } from './copy-job.ts';
import { runDrill } from './drill-job.ts';
import { jobErrorOf } from './job-error.ts';
import type { JobParts } from './job-parts.ts';
import {
  RepositoryKeeper,
  type EngineSurroundings,
  type JobRepository,
  type OpenRequest,
} from './open-repository.ts';
import {
  NOTHING_TO_COPY,
  type EngineJob,
  type EngineOutcome,
  type FromEngine,
  type ToEngine,
} from './protocol.ts';
import { runPrune } from './prune-job.ts';
import { Report } from './report.ts';
import { runRestore } from './restore-job.ts';
import { beginSpool, type PackSpool } from './spool.ts';
import { isDeepStrictEqual } from 'node:util';
import { tellWaits, toldWait, type OthersWait } from '../base/waits.ts';

export interface EngineLinks extends EngineSurroundings {
  readonly send: (message: FromEngine) => void;
}

/** Milliseconds without a job after which a repository on a disk is closed. The next job has to stretch the passphrase again. */
const LET_GO_MS = 2_000;
/** Milliseconds between two messages about the bytes sent. */
const SENT_EVERY_MS = 1_000;

interface Running {
  readonly controller: AbortController;
  readonly ended: Promise<void>;
}

export class Engine {
  readonly #links: EngineLinks;
  readonly #keeper: RepositoryKeeper;
  /** Keeps the repositories that are copied from. */
  readonly #others: RepositoryKeeper;
  #running: Running | undefined;
  /** Called when the daemon has recorded the repository that the running job opened. */
  #remembered: () => void = () => undefined;
  #ending: Promise<void> | undefined;
  /** Aborted when the next job begins. */
  #rest = new AbortController();
  #lettingGo: Promise<void> = Promise.resolve();

  constructor(links: EngineLinks) {
    this.#links = links;
    this.#keeper = new RepositoryKeeper(links);
    this.#others = new RepositoryKeeper(links);
  }

  /** @throws {BugError} when a job is handed over while another one is running */
  receive(message: Exclude<ToEngine, { readonly kind: 'end' }>): void {
    switch (message.kind) {
      case 'run':
        this.#start(message.job);
        return;
      case 'cancel':
        this.#running?.controller.abort();
        return;
      case 'limit':
        this.#keeper.limit(message.uploadLimit);
        return;
      case 'remembered':
        this.#remembered();
        return;
    }
  }

  /** Stops the running job, waits until it has cleaned up, and closes the repository. */
  async end(): Promise<void> {
    this.#ending ??= (async () => {
      this.#rest.abort();
      this.#running?.controller.abort();
      await this.#running?.ended;
      await this.#lettingGo;
      await this.#keeper.close();
      await this.#others.close();
    })();
    await this.#ending;
  }

  #start(job: EngineJob): void {
    if (this.#ending !== undefined) return;
    if (this.#running !== undefined) throw new BugError('A job was handed over while another one runs');
    this.#rest.abort();
    this.#keeper.begin();
    callRepository(job.destination.name);
    const controller = new AbortController();
    const ended = this.#lettingGo
      .then(async () => await this.#run(job, controller.signal))
      .finally(() => {
        callRepository(undefined);
        this.#running = undefined;
        void this.#restAfterwards();
      });
    this.#running = { controller, ended };
  }

  /** Closes a repository on a disk soon after a job, as the person may want to unmount or unplug the disk. */
  async #restAfterwards(): Promise<void> {
    const rest = new AbortController();
    this.#rest = rest;
    try {
      await this.#links.clock.sleep(LET_GO_MS, rest.signal);
    } catch (error) {
      if (!rest.signal.aborted) throw error;
      return;
    }
    if (this.#running !== undefined || this.#ending !== undefined) return;
    this.#lettingGo = this.#quietly(
      async () => {
        await this.#keeper.closeDisk();
        await this.#others.closeDisk();
      },
      (text) => this.#links.send({ kind: 'note', text }),
    );
  }

  /** Never rejects: the last message about the job reports any outcome. */
  async #run(job: EngineJob, signal: AbortSignal): Promise<void> {
    const { send, clock } = this.#links;
    const report = new Report(send, clock);
    const goesOn = tellWhenHeldUp(send, () => clock.monotonic());
    const telling = setInterval(this.#sentSince(this.#keeper.sent), SENT_EVERY_MS).unref();
    let last: FromEngine;
    try {
      const openOther: JobParts['openOther'] = async (destination, until) =>
        await this.#others.open({ destination, stateDirectory: job.stateDirectory, absent: 'refuse' }, until);
      const like = async (): Promise<Repository | undefined> =>
        await openAlike(job, openOther, report, signal);
      const place = await this.#keeper.open({ ...openRequest(job), like }, signal);
      if (place.created) report.note(`A new repository was created in ${place.shown}.`);
      await this.#haveRemembered(place, job, signal);
      place.useSpool(await spoolOf(job, report));
      last = {
        kind: 'completed',
        outcome: await runJob({ job, place, report, openOther }, job.spec, signal),
      };
    } catch (error) {
      last = await this.#failure(error, job, report, signal);
    }
    clearInterval(telling);
    report.stop();
    goesOn();
    send(last);
  }

  #sentSince(before: number): () => void {
    let told = 0;
    return () => {
      const bytes = this.#keeper.sent - before;
      if (bytes !== told) this.#links.send({ kind: 'sent', bytes });
      told = bytes;
    };
  }

  /**
   * Waits until the daemon has recorded the repository, before anything is stored. Otherwise a destination that goes
   * away later would count as one without a repository, and a second one would be made there.
   */
  async #haveRemembered(
    { repository, pretended }: JobRepository,
    { destination }: EngineJob,
    signal: AbortSignal,
  ): Promise<void> {
    if (pretended || destination.repositoryId === repository.id) return;
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const giveUp = (): void => reject(signal.reason);
    signal.throwIfAborted();
    signal.addEventListener('abort', giveUp, { once: true });
    this.#remembered = () => resolve(undefined);
    this.#links.send({ kind: 'opened', repositoryId: repository.id });
    try {
      await promise;
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  async #failure(
    error: unknown,
    { spec }: EngineJob,
    report: Report,
    signal: AbortSignal,
  ): Promise<FromEngine> {
    // A canceled job's result is not wanted any more, so errors on the way out do not matter.
    if (signal.aborted) return { kind: 'canceled' };
    if (error instanceof NothingToCopy) {
      const message = 'No other destination has the same run, so Holdfast reads the source.';
      return { kind: 'failed', error: { code: NOTHING_TO_COPY, message, details: {} } };
    }
    const failure = jobErrorOf(
      isAbort(error) ? new BugError('The job was broken off by nobody', { cause: error }) : error,
      spec.type,
    );
    if (failure.code === 'INTERNAL_ERROR' && error instanceof Error)
      report.note(error.stack ?? error.message);
    const isElsewhere = error instanceof HoldfastError && ['source', 'request', 'state'].includes(error.side);
    // The destination is in an unknown state, so the next job opens it anew.
    if (!isElsewhere) {
      await this.#quietly(
        async () => {
          await this.#keeper.close();
          await this.#others.close();
        },
        (text) => report.note(text),
      );
    }
    return { kind: 'failed', error: failure };
  }

  async #quietly(close: () => Promise<void>, note: (text: string) => void): Promise<void> {
    try {
      await close();
    } catch (error) {
      note(`The repository could not be closed: ${placedCauseText(error)}`);
    }
  }
}

function openRequest(job: EngineJob): OpenRequest {
  const { destination, stateDirectory, spec } = job;
  const absent = spec.type !== 'backup' ? 'refuse' : spec.options.dry_run ? 'pretend' : 'create';
  return { destination, stateDirectory, absent };
}

/** The first repository that the new one may be made like and that can be opened. */
async function openAlike(
  { pass }: EngineJob,
  openOther: JobParts['openOther'],
  report: Report,
  signal: AbortSignal,
): Promise<Repository | undefined> {
  for (const destination of pass?.alike ?? []) {
    try {
      return (await openOther(destination, signal)).repository;
    } catch (error) {
      if (signal.aborted || !(error instanceof HoldfastError) || error.side === 'bug') throw error;
      report.note(
        `The new repository could not be set up like that of ${destination.name}: ${error.message}.`,
      );
    }
  }
  return undefined;
}

async function spoolOf({ pass }: EngineJob, report: Report): Promise<PackSpool | undefined> {
  if (pass?.spool?.use !== 'keep') return undefined;
  return await beginSpool(pass.spool.directory, (text) => report.note(text));
}

async function runJob(parts: JobParts, spec: JobSpec, signal: AbortSignal): Promise<EngineOutcome> {
  switch (spec.type) {
    case 'backup': {
      const copyFrom = parts.job.pass?.copyFrom ?? null;
      return copyFrom === null
        ? await runBackup(parts, spec, signal)
        : await runCopy(parts, spec, copyFrom, signal);
    }
    case 'restore':
      return await runRestore(parts, spec, signal);
    case 'check':
      return await runCheck(parts, spec, signal);
    case 'prune':
      return await runPrune(parts, spec, signal);
    case 'drill':
      return await runDrill(parts, spec, signal);
  }
}

/** Milliseconds. */
const LOOK_MS = 1_000;
/** Minimum between two messages that differ only in the remaining time. */
const REFRESH_MS = 5_000;

/** Reports waits until the returned function is called. */
function tellWhenHeldUp(send: (message: FromEngine) => void, now: () => number): () => void {
  const teller = tellWaits();
  let told: OthersWait | undefined;
  let toldAt = Number.NEGATIVE_INFINITY;
  const look = (): void => {
    const wait = toldWait();
    if (isDeepStrictEqual(wait, told)) return;
    if (isSame(wait, told) && now() - toldAt < REFRESH_MS) return;
    [told, toldAt] = [wait, now()];
    send({ kind: 'held_up', waitsFor: wait ?? null });
  };
  const timer = setInterval(look, LOOK_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    teller.end();
  };
}

/** The failure's name without what the store says, which may differ each time. */
function nameOf({ params: { because } }: Extract<OthersWait, { code: 'asked_again' }>): string | undefined {
  return because?.split(': "', 1)[0];
}

/** Whether the two differ only in times, or in what the store says. */
function isSame(wait: OthersWait | undefined, told: OthersWait | undefined): boolean {
  if (wait?.code === 'asked_again' && told?.code === 'asked_again')
    return wait.params.whom === told.params.whom && nameOf(wait) === nameOf(told);
  return wait !== undefined && wait.code === told?.code && wait.params.whom === told.params.whom;
}
