/** Makes entries in the form in which the agent shows them. */
import { textOfBytes, type ByteString } from '../../base/byte-path.ts';
import type { FileItem } from '../../jobs/agent.ts';
import type { Hit } from './hits.ts';
import { shownPath, sourceText, type KnownSnapshot } from './known-snapshots.ts';
import { NODE_TYPE } from '../tables/schema.ts';

/** The size of a directory is that of all files below it. */
export function fileItem(
  path: ByteString,
  hit: Omit<Hit, 'directory' | 'name'>,
  snapshot: KnownSnapshot,
): FileItem {
  const isDirectory = hit.type === NODE_TYPE.directory;
  return {
    ...shownPath(path),
    name: textOfBytes(path.slice(path.lastIndexOf('/') + 1) as ByteString),
    type: typeName(hit.type),
    size_bytes: hit.size,
    modified_at: hit.modified,
    mode: hit.mode,
    link_target: hit.target === null ? null : hit.target.toString('utf8'),
    children_count: isDirectory ? hit.children : null,
    snapshot_id: snapshot.id,
    backup_id: snapshot.jobId,
    source: sourceText(snapshot),
    stored_by: snapshot.storedBy,
    backed_up_at: snapshot.started,
  };
}

export function typeName(type: number): FileItem['type'] {
  if (type === NODE_TYPE.file) return 'file';
  if (type === NODE_TYPE.directory) return 'directory';
  return type === NODE_TYPE.symlink ? 'symlink' : 'other';
}
