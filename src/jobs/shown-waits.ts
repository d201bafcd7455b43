/** Keeps the reason that each waiting job shows up to date: another job, its turn, or nothing any more. */
import type { JobRecord } from '../db/jobs.ts';
import type { JobBook } from './job-book.ts';
import { waiting } from './job-states.ts';
import { passWait, type PassPart } from './pass.ts';
import { queueWait, yieldsToEarlier } from './queue.ts';

/** The most jobs that are updated in one look, as each is a write. The rest follow at the next look. */
const MOST_TOLD = 50;

export interface WaitFacts {
  readonly partOf: (record: JobRecord) => PassPart;
  /** Whether a job of that pass is reading the source at the moment. */
  readonly isRead: (pass: string) => boolean;
  /** Whether another job occupies a place that the job needs, or there is too little memory. */
  readonly isBehind: (record: JobRecord) => boolean;
}

export function showWaits(book: JobBook, { partOf, isRead, isBehind }: WaitFacts): void {
  const all = book.queued();
  const yields = yieldsToEarlier(all);
  let left = MOST_TOLD;
  for (const queued of all) {
    const forReader = passWait(queued, partOf(queued), isRead);
    const forOthers = queueWait(queued, yields(queued), isBehind(queued));
    const reason = forReader === undefined ? forOthers : forReader;
    if (reason !== undefined && (left -= 1) >= 0)
      book.show(queued.job.id, (record) =>
        waiting(record, reason === null ? null : { code: reason, params: {} }),
      );
  }
}
