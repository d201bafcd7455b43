/** Presents what jobs of all types have in common. */
import type { LogLine } from '../../jobs/agent.ts';
import type { Job, JobError, JobProgress } from '../../jobs/job.ts';
import { isErrorCode } from '../wire/error-codes.ts';
import type { JobFields, JobLog, Progress } from '../schemas/job.ts';
import { shownDestination } from './redact.ts';
import { maybeTimestamp, timestamp } from './time.ts';

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
