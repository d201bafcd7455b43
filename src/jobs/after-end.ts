/** Decides how a job continues after an attempt has ended: done, failed, retried or requeued. */
import { type JobBookkeeping, type JobRecord, NO_BOOKKEEPING } from '../db/jobs.ts';
import type { SettingStore } from '../db/settings.ts';
import { NOTHING_TO_COPY } from '../engine/protocol.ts';
import type { LogLine } from './agent.ts';
import { deathText } from './attempt-errors.ts';
import type { AttemptEnd } from './attempt.ts';
import { canceled, completed, cut, died, failed, ran, readsItself, retried, stopped } from './job-states.ts';
import type { Job } from './job.ts';
import { deathDelay, passingReason, retryDelay } from './retry-delay.ts';

/** `ranMs`: how long the attempt took; 0 when that is unknown. */
export function afterEnd(found: JobRecord, end: AttemptEnd, ranMs: number, nowMs: number): JobRecord {
  const record = ranMs > 0 ? ran(found, ranMs) : found;
  const { bookkeeping } = record;
  switch (end.kind) {
    case 'completed':
      return completed(record, end.outcome, nowMs);
    case 'canceled':
      return canceled(record, nowMs);
    case 'stopped':
      return bookkeeping.cancelRequested ? canceled(record, nowMs) : stopped(record);
    case 'cut':
      return cut(record);
    case 'died':
      return died(record, end.how, nowMs, nowMs + deathDelay(bookkeeping.deaths));
    case 'failed': {
      if (end.error.code === NOTHING_TO_COPY) return readsItself(record);
      // An attempt that stored something new starts a new row of failures.
      const { retries, failingSince } = bookkeeping.stored > 0 ? NO_BOOKKEEPING : bookkeeping;
      const reason = passingReason(end.error, retries, failingSince, nowMs);
      if (reason === undefined) return failed(record, end.error, nowMs);
      return retried(record, end.error, {
        reason,
        retries: retries + 1,
        failingSince: failingSince ?? nowMs,
        retryAt: nowMs + retryDelay(retries, end.error),
      });
    }
  }
}

/** The lines that the log of the job gets when an attempt ends. */
export function endLog(end: AttemptEnd, job: Job): readonly Pick<LogLine, 'level' | 'text'>[] {
  const level = end.kind === 'failed' || end.kind === 'died' ? 'error' : 'info';
  const facts = Object.entries(end.kind === 'completed' ? end.outcome.facts : {});
  return [
    { level, text: endText(end, job) },
    ...facts.map(([name, value]) => ({ level: 'info' as const, text: `${name}: ${value}` })),
  ];
}

function endText(end: AttemptEnd, job: Job): string {
  switch (end.kind) {
    case 'completed':
      return job.snapshot_id === null ? 'Completed.' : `Completed: snapshot ${job.snapshot_id}.`;
    case 'canceled':
      return 'Canceled.';
    case 'stopped':
      return 'Stopped; it will continue later.';
    case 'died':
      return `The engine process ended unexpectedly: ${deathText(end.how)}.`;
    case 'cut':
      return 'The machine was shut down or crashed; the job continues.';
    case 'failed':
      return end.error.message;
  }
}

const KEY = 'boot';

/**
 * Records which boot of the machine this is. Returns whether it differs from the boot of the last agent: jobs that ran
 * then were ended by the machine, not by a fault of their own. False when none was recorded.
 */
export function machineRestarted(settings: SettingStore, boot: string): boolean {
  const before = settings.get(KEY);
  settings.set(KEY, boot);
  return before !== undefined && before !== boot;
}

/** How the attempt at a job that was left running ended. */
export function endOfLeft({ cancelRequested }: JobBookkeeping, isRestarted: boolean): AttemptEnd {
  if (cancelRequested) return { kind: 'canceled' };
  return isRestarted ? { kind: 'cut' } : { kind: 'died', how: 'agent-ended' };
}
