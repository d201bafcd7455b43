/** Recognises snapshots that hold less than their sources did, so that they do not tell what the sources were like. */
import { isNarrowed } from '../../base/job-tag.ts';
import type { SnapshotRecord } from '../../format/records.ts';

/** True for a snapshot made with exclude rules of the request's own, or one without files because they could not be read. */
export function isLesser({
  record: { tags, status, counts },
}: {
  readonly record: Pick<SnapshotRecord, 'tags' | 'status' | 'counts'>;
}): boolean {
  return isNarrowed(tags) || (status === 'partial' && counts.files === 0);
}
