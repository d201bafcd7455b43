/** Which failures pass by themselves, and how long to wait. */
import { randomInt } from 'node:crypto';
import { STATE_UNWRITABLE, type JobError, type PlainWait, type Wait } from './job.ts';

export const RETRY_TIMES = {
  /** After the first failure; each further one waits twice as long. */
  firstMs: 30_000,
  /** And never longer than this. */
  longestMs: 15 * 60_000,
  /** After this, the failure is told to the person: they expect a backup a day. */
  giveUpMs: 86_400_000,
  /** And after so many failures: a machine that slept has not tried. */
  giveUpFailures: 20,
  /** After the first death of an engine process. */
  firstDeathMs: 1_000,
  longestDeathMs: 60_000,
} as const;

/** What a job waits for after an error of this code. */
const PASSING: Readonly<Record<string, PlainWait>> = {
  DESTINATION_UNREACHABLE: 'destination_unreachable',
  REPOSITORY_LOCKED: 'repository_locked',
};

/**
 * Why the job waits; undefined when waiting does not help, or has lasted long enough.
 * @param failures the earlier ones since then
 */
export function passingReason(
  error: JobError,
  failures: number,
  failingSince: number | null,
  nowMs: number,
): Wait | undefined {
  const waitedMs = nowMs - (failingSince ?? nowMs);
  const isEnough = waitedMs >= RETRY_TIMES.giveUpMs && failures + 1 >= RETRY_TIMES.giveUpFailures;
  const code = isEnough ? undefined : waitsFor(error);
  return code && { code, params: {} };
}

function waitsFor({ code, details }: JobError): PlainWait | undefined {
  if (details[STATE_UNWRITABLE] === true) return 'state_unwritable';
  return PASSING[code];
}

/**
 * Milliseconds to wait after `failures` earlier ones, somewhat at random, so that many agents do not return at once; and
 * not before the store said that it may be asked again, within the longest wait.
 */
export function retryDelay(failures: number, { details }: Pick<JobError, 'details'>): number {
  const most = Math.min(RETRY_TIMES.longestMs, RETRY_TIMES.firstMs * 2 ** Math.min(failures, 20));
  const delay = most / 2 + randomInt(Math.floor(most / 2) + 1);
  const { retryAfterMs } = details;
  return typeof retryAfterMs === 'number'
    ? Math.min(RETRY_TIMES.longestMs, Math.max(delay, retryAfterMs))
    : delay;
}

/** Milliseconds before a job runs again whose engine process died `deaths` times before without getting further. */
export function deathDelay(deaths: number): number {
  return Math.min(RETRY_TIMES.longestDeathMs, RETRY_TIMES.firstDeathMs * 2 ** Math.min(deaths, 20));
}

/**
 * Whether a job may run again. A time further ahead than any wait was set by a clock that was wrong then.
 */
export function isDue(retryAt: number | null, nowMs: number): boolean {
  return retryAt === null || nowMs >= retryAt || retryAt - nowMs > RETRY_TIMES.longestMs;
}
