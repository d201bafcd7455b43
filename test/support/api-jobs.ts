/** Jobs as the state database keeps them. */
import { type Job, type JobSpec, NO_PROGRESS } from '../../src/jobs/job.ts';

export const BACKUP_SPEC = {
  type: 'backup',
  source: '/home/ana',
  destination: 'default',
  options: {
    compression: 'zstd',
    encryption: true,
    deduplication: true,
    exclude: ['*.tmp'],
    tags: ['a'],
    dry_run: false,
  },
} as const satisfies JobSpec;

export const RESTORE_SPEC = {
  type: 'restore',
  destination: 'default',
  snapshot_id: 'snap-1',
  paths: ['/home/ana/x', { b64: '/w==' }],
  target: '/restored',
  options: {
    overwrite: 'never',
    dry_run: false,
    verify: true,
    delete_extra: false,
    restore_ownership: false,
  },
} as const satisfies JobSpec;

export function jobOf(spec: JobSpec, changes: Partial<Job> = {}): Job {
  return {
    id: 'bkp_01JD0K7W3V8X5Q2N6M4T9R1B0C',
    type: spec.type,
    status: 'queued',
    phase: null,
    result: null,
    spec,
    trigger: 'api',
    attempt: 1,
    waiting_for: null,
    snapshot_id: null,
    files_done: 0,
    files_skipped: 0,
    size_bytes: 0,
    duration_ms: 0,
    progress: NO_PROGRESS,
    warnings_count: 0,
    problems: [],
    error: null,
    created_at: 1_600_000_000_000,
    started_at: null,
    finished_at: null,
    ...changes,
  };
}
