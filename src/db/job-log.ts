/** What a job said while it ran. */
import type { LogLine } from '../jobs/agent.ts';
import { relaxed, type Database } from './database.ts';

/** Lines kept of one job, and characters of one line. */
const MOST_LINES = 2_000;
const LONGEST_LINE = 4_000;

export interface JobLogStore {
  append(jobId: string, line: LogLine): void;
  /** Oldest first. */
  list(jobId: string): readonly LogLine[];
}

export function createJobLogStore(db: Database): JobLogStore {
  const count = db.prepare<[string], number>('SELECT count(*) FROM job_log WHERE job_id = ?');
  count.pluck();
  const insert = db.prepare<[string, number, string, string]>(
    'INSERT INTO job_log (job_id, at, level, text) VALUES (?, ?, ?, ?)',
  );
  const select = db.prepare<[string], LogLine>(
    'SELECT at, level, text FROM job_log WHERE job_id = ? ORDER BY id',
  );
  return {
    append(jobId, { at, level, text }) {
      relaxed(db, () => {
        const lines = count.get(jobId) ?? 0;
        if (lines < MOST_LINES) insert.run(jobId, at, level, text.slice(0, LONGEST_LINE));
        else if (lines === MOST_LINES) insert.run(jobId, at, 'warn', 'Further lines are not kept.');
      });
    },
    list: (jobId) => select.all(jobId),
  };
}
