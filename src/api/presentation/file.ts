import type { FileItem, FileVersion as CatalogVersion } from '../../jobs/agent.ts';
import type { File, FileVersion } from '../schemas/file.ts';
import { presentStoredBy } from './stored-by.ts';
import { timestamp } from './time.ts';

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
