/** Snapshots that show less of their sources than there was, and that say nothing of how these were. */
import { isNarrowed } from '../../base/job-tag.ts';
import type { SnapshotRecord } from '../../format/records.ts';

/** Made by a request with exclude rules of its own, or with none of its files since they could not be read. */
export function isLesser({
  record: { tags, status, counts },
}: {
  readonly record: Pick<SnapshotRecord, 'tags' | 'status' | 'counts'>;
}): boolean {
  return isNarrowed(tags) || (status === 'partial' && counts.files === 0);
}
