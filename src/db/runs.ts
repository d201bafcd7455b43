/** How jobs of one kind ended, the last few of them: asked for far more often than one ends. */
import type { JobResult, JobStatus, JobType } from '../jobs/job.ts';
import type { Database } from './database.ts';

/** Of which jobs: those of a source are backups. */
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
  /** New ones among them. */
  readonly filesChanged: number;
  readonly bytesUploaded: number;
}

/** Runs that are remembered of each. */
export const MOST_RUNS = 30;
/** Of so many kinds they are kept in memory. */
const MOST_REMEMBERED = 2_000;

export interface Runs {
  /** The last ones that ended, the oldest first, without dry runs. */
  of(kind: RunsOf): readonly Run[];
  /** A job of these has ended, or was changed after its end. */
  changed(kind: RunsOf): void;
  /** Jobs were forgotten. */
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
      // What a transaction has written may be undone.
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
