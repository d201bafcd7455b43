/** Which failures pass by waiting, and how long a job waits before it is tried again. */
import { randomInt } from 'node:crypto';
import { STATE_UNWRITABLE, type JobError, type PlainWait, type Wait } from './job.ts';

export const RETRY_TIMES = {
  /** Wait after the first failure; each further one doubles it. */
  firstMs: 30_000,
  /** The longest wait. */
  longestMs: 15 * 60_000,
  /** A job fails for good after this time, since people expect a backup a day, */
  giveUpMs: 86_400_000,
  /** but only after this many failures, as a machine that slept has not tried. */
  giveUpFailures: 20,
  /** Wait after the first death of an engine process. */
  firstDeathMs: 1_000,
  longestDeathMs: 60_000,
} as const;

/** What a job waits for after an error with this code. */
const PASSING: Readonly<Record<string, PlainWait>> = {
  DESTINATION_UNREACHABLE: 'destination_unreachable',
  REPOSITORY_LOCKED: 'repository_locked',
};

/**
 * Why the job waits; undefined when waiting does not help, or has lasted long enough.
 * @param failures earlier failures since `failingSince`
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
 * Milliseconds to wait after `failures` earlier ones. The time is partly random, so that many agents do not return at
 * once. It is not shorter than the store asked for, up to the longest wait.
 */
export function retryDelay(failures: number, { details }: Pick<JobError, 'details'>): number {
  const most = Math.min(RETRY_TIMES.longestMs, RETRY_TIMES.firstMs * 2 ** Math.min(failures, 20));
  const delay = most / 2 + randomInt(Math.floor(most / 2) + 1);
  const { retryAfterMs } = details;
  return typeof retryAfterMs === 'number'
    ? Math.min(RETRY_TIMES.longestMs, Math.max(delay, retryAfterMs))
    : delay;
}

/** Milliseconds to wait after an engine process died, when it had died `deaths` times before without progress. */
export function deathDelay(deaths: number): number {
  return Math.min(RETRY_TIMES.longestDeathMs, RETRY_TIMES.firstDeathMs * 2 ** Math.min(deaths, 20));
}

/** Whether a job may run again. A time further ahead than the longest wait was set while the clock was wrong, and is ignored. */
export function isDue(retryAt: number | null, nowMs: number): boolean {
  return retryAt === null || nowMs >= retryAt || retryAt - nowMs > RETRY_TIMES.longestMs;
}
