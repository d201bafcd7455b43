/** Whether the person is protected: the worst that is known comes first, as facts and as one English sentence. */
import { formatDuration } from '../base/units.ts';
import type { FullStatus, SourceStatus, StatusCheck } from './agent.ts';

export type HeadlineCode =
  | 'protected'
  | 'no_source'
  | 'check_failed'
  | 'check_warns'
  | 'first_backup_runs'
  | 'first_backup_paused'
  | 'never_backed_up'
  | 'overdue'
  | 'last_failed'
  | 'paused';

export interface Headline {
  readonly level: 'good' | 'warning' | 'bad';
  readonly code: HeadlineCode;
  /** Of the sources it is true of; none where it is not about sources, or nobody knows which. */
  readonly paths: readonly string[];
  /** The destinations, when others of the one source are not meant. */
  readonly to: readonly string[];
  /** The oldest of the last good backups of what it is about, in milliseconds since 1970; null when one has none. */
  readonly since: number | null;
  /** The last attempt failed. */
  readonly hasFailed: boolean;
  /** Of the check that says it. */
  readonly check: string | null;
}

export interface Protection {
  readonly level: Headline['level'];
  readonly sentence: string;
}

export function protectionOf(status: FullStatus, nowMs: number): Protection {
  const headline = headlineOf(status);
  return { level: headline.level, sentence: sentenceOf(headline, status.checks, nowMs) };
}

export function headlineOf(status: FullStatus): Headline {
  const { sources, checks, jobs } = status;
  const hasFailed = status.last_backup?.status === 'failed';
  const said = { paths: [], to: [], since: oldest(sources), hasFailed, check: null };
  if (sources.length === 0) return { ...said, level: 'bad', code: 'no_source' };
  const failing = checks.find((check) => check.status === 'error');
  if (failing !== undefined) return { ...said, level: 'bad', code: 'check_failed', check: failing.name };

  const isPaused = status.status === 'paused' || checks.some(({ name }) => name === 'pause');
  const about = (meant: readonly SourceStatus[]) => ({
    ...said,
    ...named(meant, sources),
    since: oldest(meant),
  });
  const never = sources.filter((source) => source.last_good_backup_at === null);
  const isLate = never.some(({ overdue }) => overdue);
  if (never.length === sources.length && !hasFailed && !isLate && jobs.running + jobs.queued > 0) {
    const code = isPaused && jobs.running === 0 ? 'first_backup_paused' : 'first_backup_runs';
    return { ...about(never), level: 'warning', code };
  }
  if (never.length > 0) return { ...about(never), level: 'bad', code: 'never_backed_up' };
  const overdue = sources.filter((source) => source.overdue);
  if (overdue.length > 0) return { ...about(overdue), level: 'bad', code: 'overdue' };
  // Which source it was is not known.
  if (hasFailed) return { ...said, level: 'warning', code: 'last_failed' };
  if (isPaused) return { ...about(sources), level: 'warning', code: 'paused' };
  const warning = checks.find((check) => check.status === 'warning');
  if (warning !== undefined) return { ...said, level: 'warning', code: 'check_warns', check: warning.name };
  return { ...about(sources), level: 'good', code: 'protected' };
}

function sentenceOf(headline: Headline, checks: readonly StatusCheck[], nowMs: number): string {
  const { code, since, hasFailed } = headline;
  const age = formatDuration(nowMs - (since ?? 0));
  switch (code) {
    case 'no_source':
      return 'Not protected: no source is configured.';
    case 'check_failed':
      return `Not protected: ${saidBy(headline, checks, 'error')}`;
    case 'first_backup_paused':
      return 'Not protected yet: the first backup waits for the end of the pause.';
    case 'first_backup_runs':
      return 'Not protected yet: the first backup is on its way.';
    case 'never_backed_up': {
      const { has, to } = inWords(headline);
      return `Not protected: ${has} never been backed up${to}${hasFailed ? ', and the last attempt failed.' : '.'}`;
    }
    case 'overdue': {
      const { has, to } = inWords(headline);
      const why = hasFailed ? '; the last attempt failed.' : '.';
      return `Not protected: ${has} not been backed up${to} for ${age}${why}`;
    }
    case 'last_failed':
      return `Protected, but the last backup failed: the last good one is ${age} old.`;
    case 'paused':
      return `Paused: the last good backup is ${age} old, and none is made now.`;
    case 'check_warns':
      return `Protected, but: ${saidBy(headline, checks, 'warning')}`;
    case 'protected':
      return `Protected: the last good backup is ${age} old.`;
  }
}

/** There is one row for each destination of a source. */
function named(
  meant: readonly SourceStatus[],
  all: readonly SourceStatus[],
): { readonly paths: readonly string[]; readonly to: readonly string[] } {
  const paths = [...new Set(meant.map((source) => source.path))];
  const [path, ...others] = paths;
  const isAll = others.length > 0 || all.filter((source) => source.path === path).length === meant.length;
  return { paths, to: isAll ? [] : meant.map((source) => source.destination) };
}

function inWords({ paths, to }: Headline): { readonly has: string; readonly to: string } {
  const [path, ...others] = paths;
  const has = path === undefined || others.length > 0 ? `${paths.length} sources have` : `${path} has`;
  return { has, to: to.length === 0 ? '' : ` to ${to.join(' and ')}` };
}

function saidBy({ check }: Headline, checks: readonly StatusCheck[], level: StatusCheck['status']): string {
  return lowerFirst(checks.find(({ name, status }) => name === check && status === level)?.message ?? '');
}

/** Null when one of them has none. */
function oldest(sources: readonly SourceStatus[]): number | null {
  const times = sources.flatMap(({ last_good_backup_at: at }) => (at === null ? [] : [at]));
  return times.length === 0 || times.length < sources.length ? null : Math.min(...times);
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}
