/** Finds out how far the first backup of each source is. */
import type { AnyJob } from '../../../api/schemas/page/jobs.ts';
import type { OverviewSource } from '../../../api/schemas/page/overview.ts';
import type { AskError } from '../../agent/ask.ts';
import type { Refusal } from '../../parts/back-up.ts';

export interface SourceOutcome {
  readonly path: string;
  readonly state: 'waits' | 'active' | 'failed' | 'done';
  /** The job that is under way or has failed. */
  readonly job: AnyJob | undefined;
  /** Why there is no job. */
  readonly refused: AskError | undefined;
}

export interface Known {
  readonly sources: readonly OverviewSource[];
  /** Running and waiting jobs. */
  readonly jobs: readonly AnyJob[];
  /** Jobs that ended, the newest first. */
  readonly recent: readonly AnyJob[];
  readonly refusals: readonly Refusal[];
}

export function outcomesOf(paths: readonly string[], known: Known): readonly SourceOutcome[] {
  return paths.map((path) => outcomeOf(path, known));
}

function outcomeOf(path: string, { sources, jobs, recent, refusals }: Known): SourceOutcome {
  const rows = sources.filter((source) => source.path === path);
  const isGood = rows.length > 0 && rows.every(({ last_good_backup_at: last }) => last !== null);
  const none = { path, job: undefined, refused: undefined };
  if (isGood) return { ...none, state: 'done' };
  const isOf = (job: AnyJob): boolean => job.type === 'backup' && job.source === path;
  const job = jobs.find(isOf);
  if (job !== undefined) return { ...none, state: 'active', job };
  const last = recent.find(isOf);
  const isOver = last !== undefined && (last.status === 'failed' || last.status === 'canceled');
  if (isOver) return { ...none, state: 'failed', job: last };
  const refused = refusals.find((refusal) => refusal.path === path)?.error;
  return { ...none, state: refused === undefined ? 'waits' : 'failed', refused };
}
