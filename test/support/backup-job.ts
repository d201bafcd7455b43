import type { AnyJob } from '../../src/api/schemas/page/jobs.ts';

const PROGRESS: AnyJob['progress'] = {
  percent: null,
  files_total: 0,
  files_new: 0,
  files_changed: 0,
  files_unchanged: 0,
  files_failed: 0,
  bytes_done: 0,
  bytes_total: 0,
  bytes_uploaded: 0,
  bytes_deduplicated: 0,
  current_path: null,
  rate_bytes_per_second: 0,
  eta_seconds: null,
};

type Backup = Extract<AnyJob, { readonly type: 'backup' }>;

/** Of /home/ana, completed with 1.2 GiB, as the page's routes tell of it. */
export function backupJob(facts: Partial<Backup> = {}, progress: Partial<AnyJob['progress']> = {}): Backup {
  return {
    id: 'bkp_1',
    type: 'backup',
    status: 'completed',
    phase: null,
    result: 'success',
    source: '/home/ana',
    destination: 'default',
    files_backed_up: 1_340,
    size_bytes: 1_200 * 1_048_576,
    duration_seconds: 12,
    options: {
      compression: 'zstd',
      encryption: true,
      deduplication: true,
      exclude: [],
      tags: [],
      dry_run: false,
    },
    trigger: 'ui',
    attempt: 1,
    waiting_for: null,
    waits: null,
    created_at: '2026-11-22T10:00:00.000Z',
    started_at: '2026-11-22T10:00:00.000Z',
    finished_at: '2026-11-22T10:00:12.000Z',
    progress: { ...PROGRESS, ...progress },
    warnings_count: 0,
    error: null,
    snapshot_id: 'ab',
    ...facts,
  };
}
