import type { SnapshotChange as CatalogChange, SnapshotDrill, SnapshotSummary } from '../../jobs/agent.ts';
import type { Snapshot, SnapshotChange } from '../schemas/snapshot.ts';
import { shownDestination } from './redact.ts';
import { presentStoredBy } from './stored-by.ts';
import { timestamp } from './time.ts';

export function presentSnapshot(summary: SnapshotSummary): Snapshot {
  return {
    id: summary.id,
    source: summary.source,
    destination: shownDestination(summary.destination),
    host: summary.host,
    stored_by: presentStoredBy(summary.stored_by),
    claimed_start: summary.said_at === null ? null : timestamp(summary.said_at),
    tags: [...summary.tags],
    pinned: summary.pinned,
    partial: summary.partial,
    unread_files: { count: summary.unread.count, paths: [...summary.unread.paths] },
    created_at: timestamp(summary.created_at),
    files_count: summary.files,
    size_bytes: summary.size_bytes,
    unreadable_directories: summary.unreadable,
    backup_id: summary.backup_id,
    last_drill: summary.last_drill === undefined ? null : presentDrill(summary.last_drill),
  };
}

function presentDrill({
  job_id: id,
  at,
  files,
  files_failed: failed,
}: SnapshotDrill): Snapshot['last_drill'] {
  return { id, at: timestamp(at), files_count: files, files_failed: failed };
}

export function presentChange(change: CatalogChange): SnapshotChange {
  return {
    path: change.path,
    path_b64: change.path_b64,
    change: change.change,
    size_before: change.size_before,
    size_after: change.size_after,
  };
}
