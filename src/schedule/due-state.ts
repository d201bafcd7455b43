/** What is kept of each schedule, and how it is put right when schedule, zone or clock has changed. Pure. */
import { createHash } from 'node:crypto';
import type { Schedule } from './schedule.ts';

/** Times are milliseconds since 1970. */
export interface ScheduleState {
  /** When the last run that was started had been due; null when none was. */
  readonly lastRun: number | null;
  /** When the next run is due, without its random delay; null for never. In the past: it was missed. */
  readonly nextRun: number | null;
}

/** Where the states are kept. Both answer at once; `put` is durable when it returns. */
export interface ScheduleStore {
  get(key: string): ScheduleState | undefined;
  put(key: string, state: ScheduleState): void;
}

/**
 * A last run further ahead of the clock than this is not believed: it was noted under a clock that was ahead, or this
 * one is behind, as on a machine that starts in 1970 until it has asked for the time. One that is nearer is believed,
 * so that a clock set back runs nothing twice. Local time taken for UTC is 14 hours off at most.
 */
const CLOCK_SET_BACK_MS = 15 * 3_600_000;

/** Between two runs: rules with shorter pauses hold in every hour. */
const EVERY_HOUR_MS = 3_600_000;

/** The state that `schedule` has now, given what was kept. A run that was missed stays due. */
export function reconcile(
  schedule: Schedule,
  kept: ScheduleState | undefined,
  now: number,
  zone: string,
): ScheduleState {
  const lastRun = kept?.lastRun ?? null;
  const believed = lastRun !== null && isBelieved(schedule, lastRun, now, zone) ? lastRun : null;
  return { lastRun, nextRun: nextOf(schedule, believed, kept?.nextRun ?? null, now, zone) };
}

/**
 * A last run that is still to come, since the clock was set back, keeps the runs until then from being done twice. That is
 * worth less than a pause which is longer than the rule allows: of one that holds in every hour each is soon made up for.
 */
function isBelieved(schedule: Schedule, lastRun: number, now: number, zone: string): boolean {
  const aheadMs = lastRun - now;
  if (aheadMs <= 0) return true;
  const following = schedule.next(lastRun, zone);
  const gapMs = following === null ? Number.POSITIVE_INFINITY : following - lastRun;
  return gapMs > EVERY_HOUR_MS && aheadMs <= Math.min(CLOCK_SET_BACK_MS, gapMs);
}

/** `promised`: the next run as it was kept. */
function nextOf(
  schedule: Schedule,
  lastRun: number | null,
  promised: number | null,
  now: number,
  zone: string,
): number | null {
  if (schedule.kind === 'off') return null;
  if (promised !== null && promised <= now) {
    // Promised under a clock that was behind, when it is not later than a run that was: what has been due since then?
    return lastRun === null || promised > lastRun ? promised : schedule.next(lastRun, zone);
  }
  if (schedule.kind === 'times') return schedule.next(Math.max(now, lastRun ?? now), zone);
  // One interval from now at most: what was promised under another clock or a longer interval does not hold it up.
  const latest = schedule.next(now, zone);
  return promised === null || latest === null ? latest : Math.min(promised, latest);
}

/** The state after the run that was due at `dueAt` has been started. Runs missed since then are not made up for. */
export function afterRun(schedule: Schedule, dueAt: number, now: number, zone: string): ScheduleState {
  const following = schedule.next(dueAt, zone);
  const nextRun = following === null || following > now ? following : schedule.next(now, zone);
  return { lastRun: dueAt, nextRun };
}

/**
 * The random delay of one run in milliseconds, from 0 to below `jitterSeconds`, and to half the time until the run
 * after it. The same each time it is asked for, also after a restart, as long as the seed is the same.
 */
export function jitterOf(
  {
    key,
    schedule,
    jitterSeconds,
  }: { readonly key: string; readonly schedule: Schedule; readonly jitterSeconds: number },
  dueAt: number,
  zone: string,
  seed: string,
): number {
  if (jitterSeconds <= 0) return 0;
  const following = schedule.next(dueAt, zone);
  const roomMs = following === null ? Number.POSITIVE_INFINITY : (following - dueAt) / 2;
  const digest = createHash('sha256')
    .update(JSON.stringify([seed, key, dueAt]))
    .digest();
  const share = digest.readUIntBE(0, 6) / 2 ** 48;
  return Math.floor(share * Math.min(jitterSeconds * 1000, roomMs));
}
