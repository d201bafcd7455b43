/**
 * What a partner learns about a finished job: numbers and codes, copied field by field. No path, name, key, id or text
 * of a job can get into it.
 */
import { ERROR_CODES } from '../api/wire/error-codes.ts';
import type { JobResult } from '../db/partner-reports.ts';
import type { Job } from '../jobs/job.ts';
import type { SnapshotHead } from './heads.ts';

/** A pebibyte; the service refuses more. */
const MOST_BYTES = 2 ** 50;

/** Undefined for jobs that are never reported to a partner, such as checks and prunes. */
export function resultOf(job: Job): JobResult | undefined {
  const { id: jobId, finished_at: finishedAt } = job;
  if (finishedAt === null || (job.type !== 'backup' && job.type !== 'restore')) return undefined;
  const body = toldOf(job, finishedAt);
  return { jobId, finishedAt, body: body === null ? null : JSON.stringify(body) };
}

/** Null for canceled jobs and dry runs: they are no backups or restores, and have not failed. */
function toldOf(job: Job, finishedAt: number): object | null {
  const { spec, status, result } = job;
  if (status !== 'completed' && status !== 'failed') return null;
  if ((spec.type === 'backup' || spec.type === 'restore') && spec.options.dry_run) return null;
  const failed = status === 'failed';
  const common = {
    finished_at: new Date(finishedAt).toISOString(),
    duration_seconds: whole(job.duration_ms / 1000, Number.MAX_SAFE_INTEGER),
    error_code: failed ? codeOf(job.error?.code) : null,
  };
  if (spec.type === 'restore') {
    return {
      kind: 'restore',
      status: failed ? 'failed' : 'completed',
      files_restored: whole(job.files_done, Number.MAX_SAFE_INTEGER),
      restored_bytes: whole(job.size_bytes, MOST_BYTES),
      ...common,
    };
  }
  return {
    kind: 'backup',
    status: failed ? 'failed' : result === 'warning' ? 'warning' : 'completed',
    files_backed_up: whole(job.files_done, Number.MAX_SAFE_INTEGER),
    size_bytes: whole(job.size_bytes, MOST_BYTES),
    uploaded_bytes: whole(job.progress.bytes_uploaded, MOST_BYTES),
    ...common,
  };
}

/** A code from the list; anything else that a job may hold there is not revealed. */
function codeOf(code: string | undefined): string {
  return code !== undefined && Object.hasOwn(ERROR_CODES, code) ? code : 'INTERNAL_ERROR';
}

function whole(value: number, most: number): number {
  return Number.isFinite(value) ? Math.min(most, Math.max(0, Math.round(value))) : 0;
}

/**
 * The amount that the device has stored in all of its destinations, and when that was determined (milliseconds since
 * 1970).
 */
export interface StoredNow {
  readonly bytes: number;
  readonly at: number;
}

export interface ReportFacts {
  readonly seq: number;
  readonly agentVersion: string;
  readonly expectedEverySeconds: number | null;
  /** Null when it was reported before. */
  readonly stored: StoredNow | null;
  /** JSON texts from `resultOf`. */
  readonly results: readonly string[];
  readonly ordersTaken: readonly string[];
  readonly heads: readonly SnapshotHead[];
}

/** The body of `POST /devices/self/reports`. */
export function reportText(facts: ReportFacts): string {
  const { stored, ordersTaken, heads } = facts;
  return JSON.stringify({
    seq: facts.seq,
    agent_version: facts.agentVersion,
    expected_every_seconds: facts.expectedEverySeconds,
    storage:
      stored === null
        ? null
        : { bytes: whole(stored.bytes, MOST_BYTES), at: new Date(stored.at).toISOString() },
    results: facts.results.map((text) => JSON.parse(text) as unknown),
    ...(ordersTaken.length === 0 ? {} : { orders_taken: ordersTaken }),
    ...(heads.length === 0 ? {} : { heads }),
  });
}
