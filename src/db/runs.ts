/** The last runs of each kind of job. They are cached, as they are asked for far more often than a job ends. */
import type { JobResult, JobStatus, JobType } from '../jobs/job.ts';
import type { Database } from './database.ts';

/** Identifies a kind of job; a source is given for backups only. */
export interface RunsOf {
  readonly type: JobType;
  readonly source: string | null;
  readonly destination: string;
}

export interface Run {
  readonly id: string;
  readonly status: JobStatus;
  readonly result: JobResult | null;
  readonly finishedAt: number;
  readonly durationMs: number;
  /** Includes new files. */
  readonly filesChanged: number;
  readonly bytesUploaded: number;
}

/** The most runs of each kind. */
export const MOST_RUNS = 30;
/** Number of kinds that are cached. */
const MOST_REMEMBERED = 2_000;

export interface Runs {
  /** The runs that ended last, the oldest first, without dry runs. */
  of(kind: RunsOf): readonly Run[];
  /** To be called when a job of this kind has ended, or was changed after its end. */
  changed(kind: RunsOf): void;
  /** To be called when jobs were forgotten. */
  forget(): void;
}

export function createRuns(db: Database): Runs {
  const select = db.prepare<[string, string, string | null, number], Run>(
    `SELECT id, status, detail->>'result' AS result, finished_at AS finishedAt,
       CAST(detail->>'duration_ms' AS INTEGER) AS durationMs,
       CAST((detail->>'$.progress.files_new') + (detail->>'$.progress.files_changed') AS INTEGER) AS filesChanged,
       CAST(detail->>'$.progress.bytes_uploaded' AS INTEGER) AS bytesUploaded
     FROM jobs
     WHERE type = ? AND destination = ? AND source IS ? AND finished_at IS NOT NULL
       AND ifnull(detail->>'$.spec.options.dry_run', 0) = 0
     ORDER BY finished_at DESC LIMIT ?`,
  );
  const known = new Map<string, readonly Run[]>();
  return {
    of(kind) {
      const key = keyOf(kind);
      const answer =
        known.get(key) ?? select.all(kind.type, kind.destination, kind.source, MOST_RUNS).toReversed();
      if (known.size >= MOST_REMEMBERED) known.clear();
      // A transaction may be rolled back, so its results are not cached.
      if (!db.inTransaction) known.set(key, answer);
      return answer;
    },
    changed: (kind) => void known.delete(keyOf(kind)),
    forget: () => known.clear(),
  };
}

function keyOf({ type, source, destination }: RunsOf): string {
  return JSON.stringify([type, source, destination]);
}
