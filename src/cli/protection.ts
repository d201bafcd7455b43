/** Whether the person is protected, in one sentence: the worst that is known comes first. */
import { formatDuration } from '../base/units.ts';
import type { FullStatus, SourceStatus } from '../jobs/agent.ts';
import { count } from './wording.ts';

export interface Protection {
  readonly level: 'good' | 'warning' | 'bad';
  readonly sentence: string;
}

export function protectionOf(status: FullStatus, nowMs: number): Protection {
  const { sources } = status;
  if (sources.length === 0) {
    return { level: 'bad', sentence: 'Not protected: no source is configured.' };
  }
  const failing = status.checks.find((check) => check.status === 'error');
  if (failing !== undefined)
    return { level: 'bad', sentence: `Not protected: ${lowerFirst(failing.message)}` };
  const never = sources.filter((source) => source.last_good_backup_at === null);
  if (never.length === sources.length && status.jobs.running + status.jobs.queued > 0) {
    return { level: 'warning', sentence: 'Not protected yet: the first backup is on its way.' };
  }
  if (never.length > 0) {
    return { level: 'bad', sentence: `Not protected: ${named(never)} never been backed up.` };
  }
  const overdue = sources.filter((source) => source.overdue);
  if (overdue.length > 0) {
    const oldest = Math.min(...overdue.map(lastGood));
    return {
      level: 'bad',
      sentence: `Not protected: ${named(overdue)} not been backed up for ${formatDuration(nowMs - oldest)}.`,
    };
  }
  const age = formatDuration(nowMs - Math.min(...sources.map(lastGood)));
  if (status.status === 'paused') {
    return {
      level: 'warning',
      sentence: `Paused: the last good backup is ${age} old, and none is made now.`,
    };
  }
  const warning = status.checks.find((check) => check.status === 'warning');
  if (warning !== undefined) {
    return { level: 'warning', sentence: `Protected, but: ${lowerFirst(warning.message)}` };
  }
  return { level: 'good', sentence: `Protected: the last good backup is ${age} old.` };
}

function named(sources: readonly SourceStatus[]): string {
  const [first] = sources;
  return sources.length === 1 && first !== undefined
    ? `${first.path} has`
    : `${count(sources.length, 'source')} have`;
}

function lastGood({ last_good_backup_at: at }: SourceStatus): number {
  return at ?? 0;
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}
