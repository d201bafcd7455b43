/** How often a backup should end by the schedules: the partner's alarm about missed ones goes by it. Pure. */
import { nextRuns, type Schedule } from '../schedule/schedule.ts';

/** As the interface allows. Seconds. */
const SHORTEST = 60;
const LONGEST = 366 * 86_400;
/** Far enough to see a weekend. */
const HORIZON_MS = 8 * 86_400_000;
const STEP = 50;
const MOST_RUNS = 2_000;

/** Seconds: the longest pause of the schedule that has the shortest one. Null when nothing is scheduled. */
export function expectedEvery(schedules: readonly Schedule[], nowMs: number, zone: string): number | null {
  const pauses = schedules.flatMap((schedule) => longestPause(schedule, nowMs, zone) ?? []);
  if (pauses.length === 0) return null;
  return Math.min(LONGEST, Math.max(SHORTEST, Math.ceil(Math.min(...pauses) / 1000)));
}

/** Milliseconds; null for never. */
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
