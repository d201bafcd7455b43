/** How far the first backup of each source is. */
import type { AnyJob } from '../../../api/schemas/page/jobs.ts';
import type { OverviewSource } from '../../../api/schemas/page/overview.ts';

export interface SourceOutcome {
  readonly path: string;
  readonly state: 'waits' | 'active' | 'failed' | 'done';
  /** That is under way, or failed. */
  readonly job: AnyJob | undefined;
}

export interface Known {
  readonly sources: readonly OverviewSource[];
  /** Running and waiting. */
  readonly jobs: readonly AnyJob[];
  /** That ended, the newest first. */
  readonly recent: readonly AnyJob[];
}

export function outcomesOf(paths: readonly string[], known: Known): readonly SourceOutcome[] {
  return paths.map((path) => outcomeOf(path, known));
}

function outcomeOf(path: string, { sources, jobs, recent }: Known): SourceOutcome {
  const rows = sources.filter((source) => source.path === path);
  const isGood = rows.length > 0 && rows.every(({ last_good_backup_at: last }) => last !== null);
  if (isGood) return { path, state: 'done', job: undefined };
  const isOf = (job: AnyJob): boolean => job.type === 'backup' && job.source === path;
  const job = jobs.find(isOf);
  if (job !== undefined) return { path, state: 'active', job };
  const last = recent.find(isOf);
  const isOver = last !== undefined && (last.status === 'failed' || last.status === 'canceled');
  return isOver ? { path, state: 'failed', job: last } : { path, state: 'waits', job: undefined };
}
