/** Keeps the reason that each waiting job shows up to date: another job, its turn, or nothing any more. */
import { isDeepStrictEqual } from 'node:util';
import type { JobRecord } from '../db/jobs.ts';
import type { JobBook } from './job-book.ts';
import { waiting } from './job-states.ts';
import type { Wait } from './job.ts';
import { passWait, type PassPart } from './pass.ts';
import type { Pause } from './pause.ts';
import { queueWait, yieldsToEarlier } from './queue.ts';
import { waitText } from './wait-text.ts';

/** The most jobs that are updated in one look, as each is a write. The rest follow at the next look. */
const MOST_TOLD = 50;

/**
 * Shows a pause on all jobs that it keeps from starting, or that it has ended. A job that is being retried keeps its
 * reason, which the pause does not change.
 */
export function showPause(book: JobBook, pause: Pause | undefined): void {
  const wait = pause === undefined ? null : pauseWait(pause);
  let left = MOST_TOLD;
  for (const { job, bookkeeping } of book.queued()) {
    const isShown = job.waits?.code === 'paused';
    if (wait === null ? !isShown : isDeepStrictEqual(job.waits, wait)) continue;
    if (wait !== null && ((bookkeeping.retryAt !== null && job.waits != null && !isShown) || (left -= 1) < 0))
      continue;
    book.show(job.id, (record) => waiting(record, wait));
    if (wait !== null && !isShown) book.log(job.id, 'info', waitText(wait));
  }
}

function pauseWait({ until }: Pause): Wait {
  return { code: 'paused', params: { until: until === null ? null : new Date(until).toISOString() } };
}

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
