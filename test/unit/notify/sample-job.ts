import { NO_PROGRESS, type Job } from '../../../src/jobs/job.ts';

/** A backup that has completed; `facts` change it. */
export function sampleJob(facts: Partial<Job> = {}): Job {
  return {
    id: 'bkp_01JD0000000000000000000000',
    type: 'backup',
    status: 'completed',
    phase: null,
    result: 'success',
    spec: {
      type: 'backup',
      source: '/home/ada',
      destination: 'nas',
      options: {
        compression: 'zstd',
        encryption: true,
        deduplication: true,
        exclude: [],
        tags: [],
        dry_run: false,
      },
    },
    trigger: 'schedule',
    attempt: 1,
    waiting_for: null,
    snapshot_id: 'a'.repeat(64),
    files_done: 1234,
    files_skipped: 0,
    size_bytes: 5 * 2 ** 20,
    duration_ms: 65_000,
    progress: { ...NO_PROGRESS, bytes_uploaded: 1000, bytes_deduplicated: 4000 },
    warnings_count: 0,
    problems: [],
    error: null,
    created_at: 1_700_000_000_000,
    started_at: 1_700_000_001_000,
    finished_at: 1_700_000_066_000,
    ...facts,
  };
}

export function restoreJob(facts: Partial<Job> = {}, dryRun = false): Job {
  const options = {
    overwrite: 'never',
    dry_run: dryRun,
    verify: true,
    delete_extra: false,
    restore_ownership: false,
  } as const;
  return sampleJob({
    type: 'restore',
    spec: {
      type: 'restore',
      destination: 'nas',
      snapshot_id: 'a'.repeat(64),
      paths: [],
      target: '/tmp/x',
      options,
    },
    ...facts,
  });
}
