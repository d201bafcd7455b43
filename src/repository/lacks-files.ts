/** Tells whether a snapshot lacks files of its source. */
import { isNarrowed } from '../base/job-tag.ts';
import type { SnapshotRecord } from '../format/records.ts';

/**
 * Whether files could not be read, or were left out by the exclude rules of a single request. Retention rules do not
 * count such a snapshot as a whole one.
 */
export function lacksFiles({ status, tags }: Pick<SnapshotRecord, 'status' | 'tags'>): boolean {
  return status === 'partial' || isNarrowed(tags);
}
