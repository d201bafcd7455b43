/** What is kept beside a job: its log lines, and the results of the newest dry runs of restores, each no longer than its job. */
import type { LogLine } from '../jobs/agent.ts';
import type { RestorePreview } from '../jobs/job.ts';
import { type Database, relaxed } from './database.ts';

/** Lines that are kept for one job: the first ones, and the last ones, which say why it failed. */
const FIRST_LINES = 1_000;
const LAST_LINES = 1_000;
/** The most characters of one line. */
const LONGEST_LINE = 4_000;
/** Number of jobs whose line count is cached. */
const MOST_COUNTED = 100;

export interface JobLogStore {
  append(jobId: string, lines: readonly LogLine[]): void;
  /** Oldest first. */
  list(jobId: string): readonly LogLine[];
}

export function createJobLogStore(db: Database): JobLogStore {
  const count = db.prepare<[string], number>('SELECT count(*) FROM job_log WHERE job_id = ?');
  count.pluck();
  const insert = db.prepare<[string, number, string, string]>(
    'INSERT INTO job_log (job_id, at, level, text) VALUES (?, ?, ?, ?)',
  );
  const lineAt = `(SELECT id FROM job_log WHERE job_id = ? ORDER BY id LIMIT 1 OFFSET ?)`;
  const markGap = db.prepare<[string, string, number]>(
    `UPDATE job_log SET level = 'warn', text = ? WHERE id = ${lineAt}`,
  );
  const remove = db.prepare<[string, number]>(`DELETE FROM job_log WHERE id = ${lineAt}`);
  const select = db.prepare<[string], LogLine>(
    'SELECT at, level, text FROM job_log WHERE job_id = ? ORDER BY id',
  );
  const counted = new Map<string, number>();

  const append = db.transaction((jobId: string, lines: readonly LogLine[]): void => {
    let kept = counted.get(jobId) ?? count.get(jobId) ?? 0;
    counted.delete(jobId);
    for (const { at, level, text } of lines) {
      insert.run(jobId, at, level, text.slice(0, LONGEST_LINE));
      kept += 1;
      if (kept <= FIRST_LINES + 1 + LAST_LINES) continue;
      if (kept === FIRST_LINES + 2 + LAST_LINES)
        markGap.run('Some lines are not kept here.', jobId, FIRST_LINES);
      remove.run(jobId, FIRST_LINES + 1);
    }
    counted.set(jobId, kept);
    const [oldest] = counted.keys();
    if (counted.size > MOST_COUNTED && oldest !== undefined) counted.delete(oldest);
  });

  return {
    append(jobId, lines) {
      const mayBeUndone = db.inTransaction;
      relaxed(db, () => append(jobId, lines));
      if (mayBeUndone) counted.delete(jobId);
    },
    list: (jobId) => select.all(jobId),
  };
}

/** Previews that are kept; older ones do not describe the present files any more. */
const KEPT = 50;

export interface PreviewStore {
  put(jobId: string, preview: RestorePreview): void;
  get(jobId: string): RestorePreview | undefined;
}

/** Results of dry runs of restores: the newest few, each kept no longer than its job. */
export function createPreviewStore(db: Database): PreviewStore {
  const put = db.prepare<[string, string]>(
    'INSERT OR REPLACE INTO restore_previews (job_id, preview) VALUES (?, ?)',
  );
  const prune = db.prepare<[number]>(
    'DELETE FROM restore_previews WHERE id <= (SELECT id FROM restore_previews ORDER BY id DESC LIMIT 1 OFFSET ?)',
  );
  const select = db.prepare<[string], string>('SELECT preview FROM restore_previews WHERE job_id = ?');
  select.pluck();
  return {
    put(jobId, preview) {
      relaxed(db, () => {
        put.run(jobId, JSON.stringify(preview));
        prune.run(KEPT);
      });
    },
    get(jobId) {
      const text = select.get(jobId);
      return text === undefined ? undefined : (JSON.parse(text) as RestorePreview);
    },
  };
}
