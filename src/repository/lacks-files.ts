/** Whether a snapshot shows all that its source had. */
import { isNarrowed } from '../base/job-tag.ts';
import type { SnapshotRecord } from '../format/records.ts';

/**
 * Files that could not be read are missing in it, or those that a request with exclude rules of its own left out: the
 * rules of retention give it the place of no whole one.
 */
export function lacksFiles({ status, tags }: Pick<SnapshotRecord, 'status' | 'tags'>): boolean {
  return status === 'partial' || isNarrowed(tags);
}
