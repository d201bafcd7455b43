/**
 * Computes the next occurrence of clock times in a zone that changes its clock.
 *
 * - A time that the change skips is due once, at the first instant after the gap; several of them are due together.
 * - A time that occurs twice is due at its first occurrence only.
 * - Expressions that apply in every hour follow the minutes of the clock through both occurrences, and make up nothing
 *   for a gap, so that "every 15 minutes" stays 15 minutes.
 */
import { SEARCH_YEARS, type CronTimes } from './cron.ts';
import type { Zone } from './zone.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The first instant later than `after` (milliseconds since 1970); null when none comes within decades. */
export function nextOccurrence(times: CronTimes, after: number, zone: Zone): number | null {
  return times.hours.length === 24 ? nextInEveryHour(times, after, zone) : nextOfFixed(times, after, zone);
}

function nextOfFixed(times: CronTimes, after: number, zone: Zone): number | null {
  let local = zone.localAt(after);
  for (;;) {
    const next = nextLocal(times, local);
    if (next === null) return null;
    const instant = zone.firstInstantOf(next);
    // Not later for the second of two equal times.
    if (instant > after) return instant;
    local = next;
  }
}

function nextInEveryHour(times: CronTimes, after: number, zone: Zone): number | null {
  let from = after;
  let localAfter = zone.localAt(from);
  for (;;) {
    const next = nextLocal(times, localAfter);
    if (next === null) return null;
    const instant = from + (next - zone.localAt(from));
    const until = Math.min(instant, from + DAY);
    const change = zone.changeWithin(from, until);
    if (change !== undefined) {
      from = change;
      localAfter = zone.localAt(change) - 1;
    } else if (until === instant) {
      return instant;
    } else {
      // There is no match on the way; only a clock change shortly before `instant` can move it.
      from = Math.max(until, instant - 2 * DAY);
      localAfter = zone.localAt(from);
    }
  }
}

/** The first matching local time later than `after`, both as in zone.ts. */
function nextLocal(times: CronTimes, after: number): number | null {
  const firstDay = Math.floor(after / DAY) * DAY;
  const onFirstDay = nextOnDay(times, firstDay, after);
  if (onFirstDay !== null) return onFirstDay;
  const lastDay = firstDay + SEARCH_YEARS * 366 * DAY;
  for (let day = firstDay + DAY; day <= lastDay; day = dayAfter(times, day)) {
    const found = nextOnDay(times, day, after);
    if (found !== null) return found;
  }
  return null;
}

function nextOnDay(times: CronTimes, day: number, after: number): number | null {
  const date = new Date(day);
  if (!times.matchesDay(date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate())) return null;
  for (const hour of times.hours) {
    for (const minute of times.minutes) {
      const local = day + hour * HOUR + minute * MINUTE;
      if (local > after) return local;
    }
  }
  return null;
}

/** The next day, or the first day of the next month when the expression does not have the current month. */
function dayAfter(times: CronTimes, day: number): number {
  const date = new Date(day);
  if (times.months.includes(date.getUTCMonth() + 1)) return day + DAY;
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}
