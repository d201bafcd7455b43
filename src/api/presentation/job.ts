/** Presents jobs: what all types have in common, each type in the form of its own routes, and a job of any type. */
import { BugError } from '../../base/errors.ts';
import type { LogLine } from '../../jobs/agent.ts';
import type { Job, JobError, JobProgress, JobType } from '../../jobs/job.ts';
import type { Backup, Check, Drill, JobFields, JobLog, Progress, Prune, Restore } from '../schemas/job.ts';
import { isErrorCode } from '../wire/error-codes.ts';
import { maybeTimestamp, presentStoredBy, shownDestination, timestamp } from './values.ts';

/** @param now milliseconds since 1970; the duration of a running job lasts until then */
export function jobFields(job: Job, now: number): JobFields {
  return {
    id: job.id,
    status: job.status,
    phase: job.phase,
    result: job.result,
    destination: shownDestination(job.spec.destination),
    size_bytes: whole(job.size_bytes),
    duration_seconds: whole(lastedMs(job, now) / 1000),
    trigger: job.trigger,
    attempt: job.attempt,
    waiting_for: job.waiting_for,
    waits: job.waits == null ? null : { code: job.waits.code, params: { ...job.waits.params } },
    created_at: timestamp(job.created_at),
    started_at: maybeTimestamp(job.started_at),
    finished_at: maybeTimestamp(job.finished_at),
    progress: progressOf(job.progress),
    warnings_count: job.warnings_count,
    error: job.error === null ? null : shownError(job.error),
  };
}

export function jobLog(job: Job, lines: readonly LogLine[]): JobLog {
  return {
    id: job.id,
    lines: lines.map(({ at, level, text }) => ({ at: timestamp(at), level, text })),
    problems: job.problems.map(({ path, code, message }) => ({ path, code, message })),
  };
}

/** Replaces codes that are not in the registry of error codes, where a client could not look them up. */
function shownError({ code, message, details }: JobError): JobError {
  return { code: isErrorCode(code) ? code : 'INTERNAL_ERROR', message, details: { ...details } };
}

function lastedMs(job: Job, now: number): number {
  if (job.status !== 'running' || job.started_at === null) return job.duration_ms;
  return Math.max(job.duration_ms, now - job.started_at);
}

function progressOf(progress: JobProgress): Progress {
  const { percent, eta_seconds: eta } = progress;
  return {
    percent: percent === null ? null : Math.round(Math.min(Math.max(percent, 0), 100) * 10) / 10,
    files_total: progress.files_total,
    files_new: progress.files_new,
    files_changed: progress.files_changed,
    files_unchanged: progress.files_unchanged,
    files_failed: progress.files_failed,
    bytes_done: whole(progress.bytes_done),
    bytes_total: whole(progress.bytes_total),
    bytes_uploaded: whole(progress.bytes_uploaded),
    bytes_deduplicated: whole(progress.bytes_deduplicated),
    current_path: progress.current_path,
    rate_bytes_per_second: whole(progress.rate_bytes_per_second),
    eta_seconds: eta === null || !Number.isFinite(eta) ? null : Math.max(0, Math.ceil(eta)),
  };
}

/**
 * Rounds a value down to a whole number that is not negative, as the API promises. Measured and estimated values may be
 * fractions.
 */
function whole(value: number): number {
  return Number.isFinite(value) ? Math.max(0, Math.floor(value)) : 0;
}

export function presentBackup(job: Job, now: number): Backup {
  const { spec } = job;
  if (spec.type !== 'backup') throw new BugError(`${job.id} is not a backup`);
  const { options } = spec;
  return {
    ...jobFields(job, now),
    type: 'backup',
    files_backed_up: job.files_done,
    source: spec.source,
    options: {
      compression: options.compression,
      encryption: options.encryption,
      deduplication: options.deduplication,
      exclude: [...options.exclude],
      tags: [...options.tags],
      dry_run: options.dry_run,
    },
    snapshot_id: job.snapshot_id,
  };
}

export function presentRestore(job: Job, now: number): Restore {
  const { spec } = job;
  if (spec.type !== 'restore') throw new BugError(`${job.id} is not a restore`);
  const { options } = spec;
  return {
    ...jobFields(job, now),
    type: 'restore',
    snapshot_id: spec.snapshot_id,
    stored_by: spec.stored_by === undefined ? null : presentStoredBy(spec.stored_by),
    paths: spec.paths.map((path) => (typeof path === 'string' ? path : { path_b64: path.b64 })),
    target: spec.target,
    in_place: spec.target === null,
    options: {
      overwrite: options.overwrite,
      dry_run: options.dry_run,
      verify: options.verify,
      delete_extra: options.delete_extra,
      restore_ownership: options.restore_ownership,
    },
    files_restored: job.files_done,
    files_skipped: job.files_skipped,
    files_failed: job.progress.files_failed,
  };
}

export function presentCheck(job: Job, now: number): Check {
  const { spec } = job;
  if (spec.type !== 'check') throw new BugError(`${job.id} is not a check`);
  return { ...jobFields(job, now), type: 'check', read_data: spec.read_data };
}

export function presentPrune(job: Job, now: number): Prune {
  const { spec } = job;
  if (spec.type !== 'prune') throw new BugError(`${job.id} is not a prune`);
  return { ...jobFields(job, now), type: 'prune', apply_retention: spec.apply_retention };
}

export function presentDrill(job: Job, now: number): Drill {
  const { spec } = job;
  if (spec.type !== 'drill') throw new BugError(`${job.id} is not a drill`);
  return { ...jobFields(job, now), type: 'drill', files: spec.files };
}

export type AnyJob = Backup | Restore | Check | Prune | Drill;

const PRESENT: Readonly<Record<JobType, (job: Job, now: number) => AnyJob>> = {
  backup: presentBackup,
  restore: presentRestore,
  check: presentCheck,
  prune: presentPrune,
  drill: presentDrill,
};

/** Presents a job of any type in the form that its own routes use. */
export function presentJob(job: Job, now: number): AnyJob {
  return PRESENT[job.type](job, now);
}
