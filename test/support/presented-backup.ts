/** A backup as the Desktop API shows it. */
import type { Backup, JobStatus } from '../../dist/client/desktop-api.d.ts';

export function presentBackup(id: string, status: JobStatus): Backup {
  const progress = {
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
  const options = {
    compression: 'zstd',
    encryption: true,
    deduplication: true,
    exclude: [],
    tags: [],
    dry_run: false,
  };
  const error = { code: 'DESTINATION_UNREACHABLE', message: 'It is away.', details: { destination: 'nas' } };
  return {
    id,
    type: 'backup',
    status,
    phase: null,
    result: status === 'completed' ? 'success' : null,
    files_backed_up: 0,
    size_bytes: 0,
    duration_seconds: 0,
    source: '/a',
    destination: 'nas',
    options,
    trigger: 'api',
    attempt: 1,
    waiting_for: null,
    waits: null,
    snapshot_id: null,
    created_at: '2026-11-21T00:00:00.000Z',
    started_at: null,
    finished_at: null,
    progress,
    warnings_count: 0,
    error: status === 'failed' ? error : null,
  };
}
