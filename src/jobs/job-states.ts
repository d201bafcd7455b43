/** The life of a job as pure steps. Each returns the changed record. */
import { isDeepStrictEqual } from 'node:util';
import { BugError } from '../base/errors.ts';
import { holdfast } from '../base/holdfast-command.ts';
import { NO_BOOKKEEPING, type JobBookkeeping, type JobRecord } from '../db/jobs.ts';
import type { EngineOutcome } from '../engine/protocol.ts';
import { deathDetails, deathHint, deathText, type Death } from './attempt-errors.ts';
import {
  NO_PROGRESS,
  type Job,
  type JobError,
  type JobPhase,
  type JobProgress,
  type JobSpec,
  type JobStatus,
  type JobTrigger,
  type Wait,
} from './job.ts';
import { waitText } from './wait-text.ts';

/** Engine processes that may die in a row without having stored anything new before the job fails. */
export const MOST_DEATHS = 3;

const NEXT: Readonly<Record<JobStatus, readonly JobStatus[]>> = {
  queued: ['running', 'canceled'],
  running: ['queued', 'completed', 'failed', 'canceled'],
  completed: [],
  failed: [],
  canceled: [],
};

export function isTerminal(status: JobStatus): boolean {
  return NEXT[status].length === 0;
}

/**
 * Checks a change of a stored job: a finished job never changes except by `warnedAfterwards`, and a status may only be followed
 * by those that `NEXT` allows.
 * @throws {BugError}
 */
export function assertStep(before: Job, after: Job): void {
  const isSame = before.status === after.status;
  const fine = isSame ? !isTerminal(before.status) || isWarning(before, after) : isNext(before, after);
  if (fine) return;
  throw new BugError(`Job ${before.id} cannot go from ${before.status} to ${after.status}`);
}

function isWarning(before: Job, after: Job): boolean {
  return isDeepStrictEqual(after, withWarning(before));
}

function withWarning(job: Job): Job {
  return { ...job, result: 'warning', warnings_count: job.warnings_count + 1 };
}

function isNext(before: Job, after: Job): boolean {
  return NEXT[before.status].includes(after.status);
}

export function newJob(id: string, spec: JobSpec, trigger: JobTrigger, nowMs: number): JobRecord {
  const job: Job = {
    id,
    type: spec.type,
    status: 'queued',
    phase: null,
    result: null,
    spec,
    trigger,
    attempt: 1,
    ...NOT_WAITING,
    snapshot_id: spec.type === 'restore' ? spec.snapshot_id : null,
    files_done: 0,
    files_skipped: 0,
    size_bytes: 0,
    duration_ms: 0,
    progress: NO_PROGRESS,
    warnings_count: 0,
    problems: [],
    error: null,
    created_at: nowMs,
    started_at: null,
    finished_at: null,
  };
  return { job, bookkeeping: NO_BOOKKEEPING };
}

/** Puts the job into the pass. */
export function inPass({ job, bookkeeping }: JobRecord, pass: string): JobRecord {
  return { job, bookkeeping: { ...bookkeeping, pass, readsItself: false } };
}

export function started({ job, bookkeeping }: JobRecord, nowMs: number): JobRecord {
  return {
    job: {
      ...job,
      status: 'running',
      ...NOT_WAITING,
      error: null,
      warnings_count: 0,
      started_at: job.started_at ?? nowMs,
    },
    bookkeeping: { ...bookkeeping, stored: 0, retryAt: null, ranMs: job.duration_ms },
  };
}

const NOT_WAITING = { waiting_for: null, waits: null } as const;

function waitingFor(wait: Wait | null): Pick<Job, 'waiting_for' | 'waits'> {
  return wait === null ? NOT_WAITING : { waiting_for: waitText(wait), waits: wait };
}

export function waiting({ job, bookkeeping }: JobRecord, wait: Wait | null): JobRecord {
  return { job: { ...job, ...waitingFor(wait) }, bookkeeping };
}

export function inPhase({ job, bookkeeping }: JobRecord, phase: JobPhase): JobRecord {
  return { job: { ...job, phase }, bookkeeping };
}

export interface ProgressNow {
  readonly progress: JobProgress;
  readonly files: number;
  readonly bytes: number;
  readonly stored: number;
  /** Milliseconds that this attempt has run. */
  readonly ranMs: number;
}

export function progressed({ job, bookkeeping }: JobRecord, now: ProgressNow): JobRecord {
  return {
    job: {
      ...job,
      progress: now.progress,
      files_done: now.files,
      size_bytes: now.bytes,
      duration_ms: bookkeeping.ranMs + now.ranMs,
    },
    bookkeeping: { ...bookkeeping, stored: now.stored },
  };
}

export function warned({ job, bookkeeping }: JobRecord, more: number): JobRecord {
  return { job: { ...job, warnings_count: job.warnings_count + more }, bookkeeping };
}

/** Milliseconds that this attempt has run. */
export function ran({ job, bookkeeping }: JobRecord, ranMs: number): JobRecord {
  return { job: { ...job, duration_ms: bookkeeping.ranMs + ranMs }, bookkeeping };
}

export function completed({ job, bookkeeping }: JobRecord, outcome: EngineOutcome, nowMs: number): JobRecord {
  return {
    job: {
      ...job,
      status: 'completed',
      phase: null,
      ...NOT_WAITING,
      result: outcome.result,
      snapshot_id: outcome.snapshotId ?? job.snapshot_id,
      files_done: outcome.files,
      files_skipped: outcome.filesSkipped,
      size_bytes: outcome.bytes,
      progress: outcome.progress,
      warnings_count: outcome.warnings,
      finished_at: nowMs,
      ...(outcome.sourceReadAt === null ? {} : { source_read_at: outcome.sourceReadAt }),
    },
    bookkeeping,
  };
}

/** The command after a completed job failed: its end has been stored and handed to that command. */
export function warnedAfterwards({ job, bookkeeping }: JobRecord): JobRecord {
  return { job: job.status === 'completed' ? withWarning(job) : job, bookkeeping };
}

export function failed({ job, bookkeeping }: JobRecord, error: JobError, nowMs: number): JobRecord {
  return {
    job: { ...job, status: 'failed', phase: null, ...NOT_WAITING, error, finished_at: nowMs },
    bookkeeping,
  };
}

export function cancelRequested({ job, bookkeeping }: JobRecord): JobRecord {
  return { job, bookkeeping: { ...bookkeeping, cancelRequested: true } };
}

export function canceled({ job, bookkeeping }: JobRecord, nowMs: number): JobRecord {
  return {
    job: { ...job, status: 'canceled', phase: null, ...NOT_WAITING, finished_at: nowMs },
    bookkeeping,
  };
}

/** The agent stopped the job: it goes on later, and this does not count as an attempt. */
export function stopped({ job, bookkeeping }: JobRecord): JobRecord {
  return { job: { ...job, status: 'queued', phase: null, ...NOT_WAITING }, bookkeeping };
}

/** The machine went down while the job ran: it gets another attempt, without limit. */
export function cut({ job, bookkeeping }: JobRecord): JobRecord {
  return {
    job: { ...job, status: 'queued', phase: null, ...NOT_WAITING, attempt: job.attempt + 1 },
    bookkeeping,
  };
}

/**
 * The engine process died while the job ran: it gets another attempt, unless this was the last of several deaths in a
 * row without anything stored.
 */
export function died(record: JobRecord, how: Death, nowMs: number, retryAt: number | null): JobRecord {
  const { job, bookkeeping } = record;
  const deaths = bookkeeping.stored > 0 ? 0 : bookkeeping.deaths + 1;
  if (deaths >= MOST_DEATHS) {
    const error: JobError = {
      code: 'JOB_INTERRUPTED',
      message: `The engine process ended unexpectedly ${deaths} times without getting further: ${deathText(how)}. ${deathHint(how)} See its log with: ${holdfast`jobs ${job.id} --log`}`,
      details: { attempts: job.attempt, ...deathDetails(how) },
    };
    return failed({ job, bookkeeping: { ...bookkeeping, deaths } }, error, nowMs);
  }
  return {
    job: { ...job, status: 'queued', phase: null, ...NOT_WAITING, attempt: job.attempt + 1 },
    bookkeeping: { ...bookkeeping, deaths, retryAt },
  };
}

export interface RetryTimes extends Pick<JobBookkeeping, 'retries' | 'failingSince' | 'retryAt'> {
  readonly reason: Wait;
}

/** The job failed for a passing reason: it waits and is tried again. */
export function retried(
  { job, bookkeeping }: JobRecord,
  error: JobError,
  { reason, ...times }: RetryTimes,
): JobRecord {
  return {
    job: { ...job, status: 'queued', phase: null, attempt: job.attempt + 1, ...waitingFor(reason), error },
    bookkeeping: { ...bookkeeping, ...times, deaths: 0 },
  };
}

/** The other destinations of the pass have nothing to copy from: the job reads the source itself, at once. */
export function readsItself({ job, bookkeeping }: JobRecord): JobRecord {
  return {
    job: { ...job, status: 'queued', phase: null, ...NOT_WAITING, attempt: job.attempt + 1 },
    bookkeeping: { ...bookkeeping, readsItself: true, retryAt: null },
  };
}
