/** Whether the person is protected, in one sentence: the worst that is known comes first. */
import { formatDuration } from '../base/units.ts';
import type { FullStatus, SourceStatus } from './agent.ts';

export interface Protection {
  readonly level: 'good' | 'warning' | 'bad';
  readonly sentence: string;
}

export function protectionOf(status: FullStatus, nowMs: number): Protection {
  const { sources, checks, jobs } = status;
  if (sources.length === 0) return bad('no source is configured.');
  const failing = checks.find((check) => check.status === 'error');
  if (failing !== undefined) return bad(lowerFirst(failing.message));

  const isPaused = status.status === 'paused' || checks.some(({ name }) => name === 'pause');
  const hasFailed = status.last_backup?.status === 'failed';
  const never = sources.filter((source) => source.last_good_backup_at === null);
  if (never.length === sources.length && !hasFailed && jobs.running + jobs.queued > 0) {
    return {
      level: 'warning',
      sentence:
        isPaused && jobs.running === 0
          ? 'Not protected yet: the first backup waits for the end of the pause.'
          : 'Not protected yet: the first backup is on its way.',
    };
  }
  if (never.length > 0) {
    const why = hasFailed ? ', and the last attempt failed.' : '.';
    const { has, to } = named(never, sources);
    return bad(`${has} never been backed up${to}${why}`);
  }
  const overdue = sources.filter((source) => source.overdue);
  if (overdue.length > 0) {
    const oldest = formatDuration(nowMs - Math.min(...overdue.map(lastGood)));
    const why = hasFailed ? '; the last attempt failed.' : '.';
    const { has, to } = named(overdue, sources);
    return bad(`${has} not been backed up${to} for ${oldest}${why}`);
  }
  const age = formatDuration(nowMs - Math.min(...sources.map(lastGood)));
  if (hasFailed)
    return {
      level: 'warning',
      sentence: `Protected, but the last backup failed: the last good one is ${age} old.`,
    };
  if (isPaused) {
    return {
      level: 'warning',
      sentence: `Paused: the last good backup is ${age} old, and none is made now.`,
    };
  }
  const warning = checks.find((check) => check.status === 'warning');
  if (warning !== undefined) {
    return { level: 'warning', sentence: `Protected, but: ${lowerFirst(warning.message)}` };
  }
  return { level: 'good', sentence: `Protected: the last good backup is ${age} old.` };
}

function bad(why: string): Protection {
  return { level: 'bad', sentence: `Not protected: ${why}` };
}

interface Named {
  readonly has: string;
  /** Where to, when other destinations of the source are not meant. */
  readonly to: string;
}

/** There is one row for each destination of a source. */
function named(meant: readonly SourceStatus[], all: readonly SourceStatus[]): Named {
  const [path, ...others] = new Set(meant.map((source) => source.path));
  if (path === undefined || others.length > 0) return { has: `${others.length + 1} sources have`, to: '' };
  const isAll = all.filter((source) => source.path === path).length === meant.length;
  const to = meant.map((source) => source.destination).join(' and ');
  return { has: `${path} has`, to: isAll ? '' : ` to ${to}` };
}

function lastGood({ last_good_backup_at: at }: SourceStatus): number {
  return at ?? 0;
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}
