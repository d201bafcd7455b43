/** What the jobs of each day came to, for the timeline of the page. Days are those of the machine's time zone. */
import type { Clock } from '../base/clock.ts';
import type { Database } from './database.ts';

export interface JobDay {
  /** Milliseconds since 1970 at which the day began. */
  readonly at: number;
  /** Backups that completed, those that some files are missing from included. */
  readonly backups: number;
  /** Of these, the ones that some files are missing from. */
  readonly incomplete: number;
  readonly failed: number;
  /** Stored by the backups. */
  readonly bytes: number;
  /** Restore drills that found everything as it was saved. */
  readonly drills: number;
  readonly drillsFailed: number;
}

export interface JobDays {
  /** The last days up to today, the oldest first, also those on which nothing happened. */
  last(count: number): readonly JobDay[];
}

type Sums = Omit<JobDay, 'at'>;

/** Jobs of days before today do not change, so only today's are counted again, once another job has ended. */
export function createJobDays(db: Database, clock: Pick<Clock, 'now'>): JobDays {
  const sums = db.prepare<[number, number], Sums>(
    `SELECT
       count(*) FILTER (WHERE type = 'backup' AND status = 'completed') AS backups,
       count(*) FILTER (WHERE type = 'backup' AND status = 'completed' AND detail->>'result' = 'warning') AS incomplete,
       count(*) FILTER (WHERE type = 'backup' AND status = 'failed') AS failed,
       CAST(ifnull(sum(detail->>'$.progress.bytes_uploaded') FILTER (WHERE type = 'backup'), 0) AS INTEGER) AS bytes,
       count(*) FILTER (WHERE type = 'drill' AND status = 'completed' AND detail->>'result' = 'success') AS drills,
       count(*) FILTER (WHERE type = 'drill' AND (status = 'failed' OR detail->>'result' = 'warning')) AS drillsFailed
     FROM jobs
     WHERE finished_at >= ? AND finished_at < ? AND type IN ('backup', 'drill')
       AND ifnull(detail->>'$.spec.options.dry_run', 0) = 0`,
  );
  const ended = db.prepare<[number], { readonly jobs: number; readonly last: number | null }>(
    'SELECT count(*) AS jobs, max(finished_at) AS last FROM jobs WHERE finished_at >= ?',
  );
  const known = new Map<number, { readonly mark: string; readonly day: JobDay }>();

  function dayAt(at: number, mark: string): JobDay {
    const remembered = known.get(at);
    if (remembered?.mark === mark) return remembered.day;
    const day = { at, ...(sums.get(at, dayBegin(at, 1)) ?? NOTHING) };
    // A transaction may be rolled back, so its results are not cached.
    if (!db.inTransaction) known.set(at, { mark, day });
    return day;
  }

  return {
    last(count) {
      const today = dayBegin(clock.now(), 0);
      const first = dayBegin(today, 1 - count);
      for (const at of known.keys()) if (at < first) known.delete(at);
      const { jobs = 0, last = null } = ended.get(today) ?? {};
      return Array.from({ length: count }, (_, index) => {
        const at = dayBegin(today, index + 1 - count);
        return dayAt(at, at === today ? `${jobs} ${last ?? ''}` : 'over');
      });
    },
  };
}

const NOTHING: Sums = { backups: 0, incomplete: 0, failed: 0, bytes: 0, drills: 0, drillsFailed: 0 };

/** The begin of the day that many days after that of `at`: days with a change of the clock are shorter or longer. */
function dayBegin(at: number, days: number): number {
  const date = new Date(at);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + days).getTime();
}
