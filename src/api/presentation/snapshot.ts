/** Presents snapshots, and the files in them. */
import type {
  FileItem,
  FileVersion as CatalogVersion,
  SnapshotChange as CatalogChange,
  SnapshotDrill,
  SnapshotSummary,
} from '../../jobs/agent.ts';
import type { File, FileVersion, Snapshot, SnapshotChange } from '../schemas/snapshot.ts';
import { presentStoredBy, shownDestination, timestamp } from './values.ts';

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

export function presentFile(item: FileItem): File {
  return {
    path: item.path,
    path_b64: item.path_b64,
    name: item.name,
    type: item.type,
    size_bytes: item.size_bytes,
    modified_at: timestamp(item.modified_at),
    mode: item.mode,
    link_target: item.link_target,
    children_count: item.children_count,
    snapshot_id: item.snapshot_id,
    backup_id: item.backup_id,
    source: item.source,
    stored_by: presentStoredBy(item.stored_by),
    backed_up_at: timestamp(item.backed_up_at),
  };
}

export function presentVersion(version: CatalogVersion): FileVersion {
  return { ...presentFile(version), change: version.change };
}
