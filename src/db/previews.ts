/** Results of dry runs of restores: the newest few, each kept no longer than its job. */
import type { RestorePreview } from '../jobs/job.ts';
import { relaxed, type Database } from './database.ts';

/** Previews that are kept; older ones do not describe the present files any more. */
const KEPT = 50;

export interface PreviewStore {
  put(jobId: string, preview: RestorePreview): void;
  get(jobId: string): RestorePreview | undefined;
}

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
