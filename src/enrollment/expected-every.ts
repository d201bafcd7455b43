/**
 * How often backups should finish according to the schedules, which the partner's alarm about missed backups relies on.
 * Pure.
 */
import { nextRuns, type Schedule } from '../schedule/schedule.ts';

/** Bounds in seconds, as the partner API allows. */
const SHORTEST = 60;
const LONGEST = 366 * 86_400;
/** Long enough to include a weekend. */
const HORIZON_MS = 8 * 86_400_000;
const STEP = 50;
const MOST_RUNS = 2_000;

/** Seconds between backups: of all schedules' longest pauses, the shortest. Null when nothing is scheduled. */
export function expectedEvery(schedules: readonly Schedule[], nowMs: number, zone: string): number | null {
  const pauses = schedules.flatMap((schedule) => longestPause(schedule, nowMs, zone) ?? []);
  if (pauses.length === 0) return null;
  return Math.min(LONGEST, Math.max(SHORTEST, Math.ceil(Math.min(...pauses) / 1000)));
}

/** The longest pause between two runs, in milliseconds; null when the schedule is never due. */
function longestPause(schedule: Schedule, nowMs: number, zone: string): number | null {
  if (schedule.periodMs !== null) return schedule.periodMs;
  let [last] = nextRuns(schedule, nowMs, zone, 1);
  if (last === undefined) return null;
  let longest: number | null = null;
  for (let count = 0; count < MOST_RUNS && (longest === null || last < nowMs + HORIZON_MS); count += STEP) {
    const runs = nextRuns(schedule, last, zone, STEP);
    for (const run of runs) {
      longest = Math.max(longest ?? 0, run - last);
      last = run;
    }
    if (runs.length < STEP) break;
  }
  return longest;
}
