/** The stored state of each schedule, and how it is corrected when schedule, zone or clock has changed. Pure. */
import { createHash } from 'node:crypto';
import type { Schedule } from './schedule.ts';

/** Times are milliseconds since 1970. */
export interface ScheduleState {
  /** When the last run that was started was due; null when none was started. */
  readonly lastRun: number | null;
  /** When the next run is due, without its random delay; null for never. A time in the past means that the run was missed. */
  readonly nextRun: number | null;
}

/** Stores the states. Both methods are synchronous; `putAll` stores all or none, and is durable when it returns. */
export interface ScheduleStore {
  get(key: string): ScheduleState | undefined;
  putAll(states: readonly (readonly [key: string, state: ScheduleState])[]): void;
}

/**
 * A last run further in the future than this is ignored: it was stored while the clock was ahead, or the clock is now
 * behind, as on a machine that starts in 1970 until it gets the time. A nearer one is respected, so that a clock that
 * is set back repeats no run. Local time mistaken for UTC is off by 14 hours at most.
 */
const CLOCK_SET_BACK_MS = 15 * 3_600_000;

/** Schedules with a shorter interval than this run in every hour. */
const EVERY_HOUR_MS = 3_600_000;

/** The current state of `schedule`, given the stored one. A missed run stays due. */
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
 * A last run in the future, after the clock was set back, prevents the runs until then from being repeated. It is
 * ignored when that would make a pause longer than the schedule allows, and for schedules that run every hour, whose
 * runs are soon made up for.
 */
function isBelieved(schedule: Schedule, lastRun: number, now: number, zone: string): boolean {
  const aheadMs = lastRun - now;
  if (aheadMs <= 0) return true;
  const following = schedule.next(lastRun, zone);
  const gapMs = following === null ? Number.POSITIVE_INFINITY : following - lastRun;
  return gapMs > EVERY_HOUR_MS && aheadMs <= Math.min(CLOCK_SET_BACK_MS, gapMs);
}

/** `promised`: the stored next run. */
function nextOf(
  schedule: Schedule,
  lastRun: number | null,
  promised: number | null,
  now: number,
  zone: string,
): number | null {
  if (schedule.kind === 'off') return null;
  if (promised !== null && promised <= now) {
    // If it is not later than the last run, it was stored while the clock was behind: what has been due since the last run?
    return lastRun === null || promised > lastRun ? promised : schedule.next(lastRun, zone);
  }
  if (schedule.kind === 'times') return schedule.next(Math.max(now, lastRun ?? now), zone);
  // At most one interval from now, whatever was stored under another clock or with a longer interval.
  const latest = schedule.next(now, zone);
  return promised === null || latest === null ? latest : Math.min(promised, latest);
}

/** The state after the run that was due at `dueAt` has been started. Further runs missed since then are skipped. */
export function afterRun(schedule: Schedule, dueAt: number, now: number, zone: string): ScheduleState {
  const following = schedule.next(dueAt, zone);
  const nextRun = following === null || following > now ? following : schedule.next(now, zone);
  return { lastRun: dueAt, nextRun };
}

/**
 * The random delay of one run in milliseconds: less than `jitterSeconds`, and less than half the time until the
 * following run. It is the same for each call, also after a restart, as long as the seed is the same.
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
