/**
 * After the state database was lost: restores the backup jobs that are missing in the journal from the snapshots in the
 * repositories.
 */
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { pathText } from '../../base/tree-path.ts';
import { isFull } from '../../base/stored-by.ts';
import { isJobTag, isNarrowed } from '../../base/job-tag.ts';
import type { Clock } from '../../base/clock.ts';
import { NO_BOOKKEEPING, type JobRecord, type JobStore } from '../../db/jobs.ts';
import { NO_PROGRESS, type Job } from '../../jobs/job.ts';
import type { AgentState } from '../../jobs/open-state.ts';
import type { Snapshot } from '../../repository/snapshots.ts';
import type { Destinations, Place } from '../places/destinations.ts';
import type { RepositoryReading } from '../snapshots/reading-when-needed.ts';

export interface PastBackups {
  readonly state: AgentState;
  readonly destinations: Destinations;
  readonly reading: RepositoryReading;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The tag by which an engine records its job in a snapshot. */
const JOB_TAG = /^job:(bkp_[0-9A-HJKMNP-TV-Z]{26})$/;

/** A snapshot records that its job had exclude rules of its own, but not which. */
const UNKNOWN_RULES = '(no longer known)';

/** Adds the jobs that are unknown. A destination that cannot be read is logged, and the others are still read. */
export async function bringBackBackups({
  state,
  destinations,
  reading,
  clock,
  log,
}: PastBackups): Promise<void> {
  const found: { readonly record: JobRecord; readonly snapshot: Snapshot }[] = [];
  for (const place of destinations.all()) {
    try {
      const { repositoryId, snapshots } = await reading.snapshots(place);
      destinations.remember(place, repositoryId, clock.now());
      for (const snapshot of snapshots) {
        const job = jobOf(snapshot, place);
        if (job !== undefined) found.push({ record: { job, bookkeeping: NO_BOOKKEEPING }, snapshot });
      }
    } catch (error) {
      log.warn({ err: error, destination: place.name }, 'earlier backups there could not be read');
    }
  }
  const missing = found.filter(({ record }) => state.database.jobs.record(record.job.id) === undefined);
  if (missing.length === 0) return;
  state.database.transaction(() => {
    for (const { record, snapshot } of missing) putBack(state.database.jobs, record, snapshot);
    state.database.jobs.reorder();
  });
  state.rewriteJournal();
  log.warn(`Added ${missing.length} earlier backups that only the destinations had a record of.`);
}

function putBack(jobs: JobStore, record: JobRecord, { record: { errors } }: Snapshot): void {
  // A snapshot that was copied to another destination may have the same job tag.
  if (jobs.record(record.job.id) !== undefined) return;
  jobs.insert(record);
  for (const { path, code, message } of errors)
    jobs.addProblem(record.job.id, { path: pathText(path), code, message });
}

/** Undefined for a snapshot that no job of this machine has made. */
function jobOf({ id, record, storedBy }: Snapshot, { name }: Place): Job | undefined {
  const jobId = record.tags.map((tag) => JOB_TAG.exec(tag)?.[1]).find((one) => one !== undefined);
  // The name that the settings and earlier jobs use.
  const source = record.named?.[0]?.name ?? record.paths[0];
  if (jobId === undefined || source === undefined || record.host !== hostname() || !isFull(storedBy))
    return undefined;
  const { counts, errors, errorsMore, startedMs, finishedMs } = record;
  const warnings = errors.length + errorsMore;
  const options = {
    compression: 'zstd',
    encryption: !record.plain,
    deduplication: true,
    exclude: isNarrowed(record.tags) ? [UNKNOWN_RULES] : [],
    tags: record.tags.filter((tag) => !isJobTag(tag)),
    dry_run: false,
  };
  return {
    id: jobId,
    type: 'backup',
    status: 'completed',
    phase: null,
    result: warnings > 0 ? 'warning' : 'success',
    spec: { type: 'backup', source: pathText(source), destination: name, options },
    // The real trigger is not recorded.
    trigger: 'schedule',
    attempt: 1,
    waiting_for: null,
    snapshot_id: id,
    files_done: counts.files,
    files_skipped: 0,
    size_bytes: counts.bytes,
    duration_ms: finishedMs - startedMs,
    progress: {
      ...NO_PROGRESS,
      percent: 100,
      files_total: counts.files,
      files_new: counts.new,
      files_changed: counts.changed,
      files_unchanged: counts.unchanged,
      files_failed: counts.failed,
      bytes_done: counts.bytes,
      bytes_total: counts.bytes,
    },
    warnings_count: warnings,
    problems: [],
    error: null,
    created_at: startedMs,
    started_at: startedMs,
    finished_at: finishedMs,
    source_read_at: startedMs,
  };
}
