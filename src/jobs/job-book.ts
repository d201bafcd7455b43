/** The only way to change a job: row, event and journal line are written together, so that they never contradict each other. */
import { monotonicFactory } from 'ulid';
import type { Clock } from '../base/clock.ts';
import { BugError, RequestError } from '../base/errors.ts';
import { redactDeep, redactText } from '../base/redact.ts';
import type { JobRecord } from '../db/jobs.ts';
import { stateFailureOf, stateFailureText } from '../db/state-failure.ts';
import type { AgentEvent, LogLine, Noted } from './agent.ts';
import { createEventFeed, type EventFeed } from './event-feed.ts';
import { assertStep, canceled, inPass, isTerminal, newJob } from './job-states.ts';
import { ID_PREFIX, type Job, type JobProblem, type JobSpec, type JobTrigger } from './job.ts';
import type { AgentState } from './open-state.ts';

export interface JobBook {
  readonly feed: EventFeed;
  /**
   * Makes a queued job. `also` is called with it in the transaction that stores it.
   * @throws {RequestError} INSUFFICIENT_STORAGE, SERVICE_UNAVAILABLE
   */
  add(spec: JobSpec, trigger: JobTrigger, also?: Noted): JobRecord;
  /**
   * Adds all jobs or none, to the pass when one is given. `also` is called with the first job, in the transaction that
   * stores them.
   */
  addAll(
    specs: readonly JobSpec[],
    trigger: JobTrigger,
    more: { readonly pass?: string | undefined; readonly also?: Noted | undefined },
  ): readonly JobRecord[];
  /**
   * Applies a step to the stored job and returns the result. `also` is called with the result in the transaction that stores it.
   * @throws {BugError} when the step is not allowed
   */
  change(id: string, step: (record: JobRecord) => JobRecord, also?: Noted): JobRecord;
  /** Like `change`, for what only shows a job's progress: it is not written to the journal, and a power cut may undo it. */
  show(id: string, step: (record: JobRecord) => JobRecord): JobRecord;
  addProblem(id: string, problem: JobProblem): void;
  /** Removes the problems of an earlier attempt. */
  clearProblems(id: string): void;
  log(id: string, level: LogLine['level'], text: string): void;
  /** Appends several lines at once, which costs little more than one. */
  logAll(id: string, level: LogLine['level'], texts: readonly string[]): void;
  /** @throws {RequestError} NOT_FOUND */
  record(id: string): JobRecord;
  /** The jobs of one pass, in the order in which they were added; empty when `pass` is null. */
  ofPass(pass: string | null): readonly JobRecord[];
  /** In the order in which they were added. */
  queued(): readonly JobRecord[];
  /** Those of `queued` whose specification is of that kind and names the same places. */
  queuedLike(spec: JobSpec): readonly JobRecord[];
  running(): readonly JobRecord[];
  /** Waits until the job has ended, or `ms` have passed. @throws {RequestError} NOT_FOUND; also the reason of the signal */
  waitFor(id: string, ms: number, signal: AbortSignal): Promise<Job>;
}

/** @param redact removes secrets from all that is said about a job before it is stored anywhere */
export function createJobBook(
  { database, journal, takeBack }: AgentState,
  clock: Clock,
  redact: (text: string) => string = redactText,
): JobBook {
  const feed = createEventFeed(database.events, clock, redact);
  const { jobs, jobLog } = database;
  // Ids also rise within one millisecond, and do not repeat when the clock is set back.
  const nextUlid = monotonicFactory();

  const record = (id: string): JobRecord => {
    const found = jobs.record(id);
    if (found === undefined)
      throw new RequestError('NOT_FOUND', `There is no job ${id}`, {
        hint: 'Old jobs are removed. List the jobs, and take an id from there.',
      });
    return found;
  };
  const jobOf = (id: string): Job => jobs.get(id) ?? record(id).job;
  const addAll: JobBook['addAll'] = (specs, trigger, { pass, also }) => {
    const nowMs = clock.now();
    const added = specs.map((spec) => {
      const made = newJob(`${ID_PREFIX[spec.type]}${nextUlid(nowMs)}`, spec, trigger, nowMs);
      return pass === undefined ? made : inPass(made, pass);
    });
    const [first] = added;
    try {
      database.transaction(() => {
        for (const one of added) {
          jobs.insert(one);
          feed.store(eventOf('job.created', one.job, false));
        }
        if (first !== undefined) also?.(first.job);
        for (const one of added) journal.append({ kind: 'job', record: one });
      });
    } catch (error) {
      // The caller learns that the job was refused, so it must not be found in the journal later.
      for (const one of added) takeBack({ kind: 'job', record: canceled(one, nowMs) });
      throw notNoted(error);
    }
    feed.wake();
    return added;
  };

  const logAll: JobBook['logAll'] = (id, level, texts) => {
    const at = clock.now();
    jobLog.append(
      id,
      texts.map((text) => ({ at, level, text: redact(text) })),
    );
  };

  return {
    feed,
    add: (spec, trigger, also) => {
      const [added] = addAll([spec], trigger, { also });
      if (added === undefined) throw new BugError('A job that was added is not there');
      return added;
    },
    addAll,
    change(id, step, also) {
      const after = database.transaction(() => {
        const before = record(id);
        const next = withoutSecrets(step(before), redact);
        assertStep(before.job, next.job);
        jobs.update(next);
        const hasFinished = isTerminal(next.job.status) && !isTerminal(before.job.status);
        feed.store(eventOf(hasFinished ? 'job.finished' : 'job.updated', next.job, false));
        // Before the journal line of the job, which must not be in the journal without what `also` stores.
        also?.(next.job);
        journal.append({ kind: 'job', record: next });
        return next;
      });
      feed.wake();
      return after;
    },
    show(id, step) {
      const after = database.relaxed(() => {
        const before = record(id);
        const next = withoutSecrets(step(before), redact);
        assertStep(before.job, next.job);
        jobs.updateProgress(next);
        feed.store(eventOf('job.updated', next.job, true));
        return next;
      });
      feed.wake();
      return after;
    },
    addProblem(id, problem) {
      jobs.addProblem(id, { ...problem, message: redact(problem.message) });
    },
    clearProblems(id) {
      jobs.clearProblems(id);
    },
    log: (id, level, text) => logAll(id, level, [text]),
    logAll,
    record,
    ofPass: (pass) => (pass === null ? [] : jobs.ofPass(pass)),
    queued: () => jobs.records('queued'),
    queuedLike: (spec) => jobs.queuedLike(spec),
    running: () => jobs.records('running'),
    async waitFor(id, ms, signal) {
      const endMs = clock.monotonic() + ms;
      for (;;) {
        signal.throwIfAborted();
        const left = endMs - clock.monotonic();
        const { job } = record(id);
        if (isTerminal(job.status) || left <= 0) return jobOf(id);
        await nextEvent(feed, clock, left, signal);
      }
    },
  };
}

/** Redacts the error only. Paths and specifications have to stay exact, and are checked for secrets when a request comes in. */
function withoutSecrets(record: JobRecord, redact: (text: string) => string): JobRecord {
  const { error } = record.job;
  if (error === null) return record;
  const shown = {
    code: error.code,
    message: redact(error.message),
    details: redactDeep(error.details, redact),
  };
  return { ...record, job: { ...record.job, error: shown } };
}

/** The error for the caller who requested the job. */
function notNoted(cause: unknown): unknown {
  const failure = stateFailureOf(cause);
  if (failure === undefined) return cause;
  const { what, hint } = stateFailureText(failure, 'the state directory');
  const code = failure === 'full' ? 'INSUFFICIENT_STORAGE' : 'SERVICE_UNAVAILABLE';
  return new RequestError(code, `The job cannot be recorded: ${what}`, {
    hint: `${hint} Then try again.`,
    retry: 'later',
    cause,
  });
}

/** Resolves at the next event, or after `ms`. */
async function nextEvent(feed: EventFeed, clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  const abort = (): void => over.abort();
  signal.addEventListener('abort', abort, { once: true });
  const unwatch = feed.watch(abort);
  try {
    await clock.sleep(ms, over.signal);
  } catch (error) {
    if (!over.signal.aborted) throw error;
  } finally {
    unwatch();
    signal.removeEventListener('abort', abort);
  }
}

function eventOf(
  kind: AgentEvent['kind'],
  job: Job,
  passing: boolean,
): Omit<AgentEvent, 'id' | 'at'> & { readonly passing: boolean } {
  const { spec: _spec, problems: _problems, id, ...data } = job;
  return { kind, jobId: id, data: { ...data }, passing };
}
