/** Parses the schedules of the settings. */
import { RequestError } from '../base/errors.ts';
import { parseDuration } from '../base/units.ts';
import type { ScheduleText } from '../config/settings.ts';
import { parseCron, type CronTimes } from './cron.ts';
import { nextOccurrence } from './occurrences.ts';
import { wordsOfInterval, wordsOfTimes } from './words.ts';
import { openZone } from './zone.ts';

export interface Schedule {
  /** As it was written. */
  readonly text: ScheduleText;
  /** For people: "every day at 02:30". */
  readonly words: string;
  readonly kind: 'off' | 'interval' | 'times';
  /** Milliseconds from one run to the next; null unless it is an interval. */
  readonly periodMs: number | null;
  /**
   * When it is next due, later than `after` (both in milliseconds since 1970); null for never. An interval counts from
   * `after`, whatever the clock does; times of day are in `zone`.
   * @throws {RequestError} for an unknown zone
   */
  next(after: number, zone: string): number | null;
}

/** Time of presets without one: late enough that hardly any zone changes its clock then. */
const NIGHT = '03:00';
const SHORTEST_INTERVAL_MS = 60_000;
const LONGEST_INTERVAL_MS = 366 * 24 * 3_600_000;

const HINT =
  'Write off, hourly, daily, weekdays, weekends, weekly or monthly (with a time if you like: daily at 02:30), every 4h, every 30m, or a cron expression of five fields.';

/** Maps a preset to the day fields of its cron expression. */
const PRESET_DAYS: ReadonlyMap<string, string> = new Map([
  ['daily', '* * *'],
  ['weekdays', '* * 1-5'],
  ['weekends', '* * 6,0'],
  ['weekly', '* * 0'],
  ['monthly', '1 * *'],
]);

/** Cache of parsed schedules, as a thousand sources may share a few, and they are parsed for every look at the status. */
const known = new Map<ScheduleText, Schedule>();
const MOST_KNOWN = 1_000;

/** @throws {RequestError} `INVALID_SCHEDULE` */
export function parseSchedule(text: ScheduleText): Schedule {
  const found = known.get(text);
  if (found !== undefined) return found;
  const parsed = parseAnew(text);
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(text, parsed);
  return parsed;
}

function parseAnew(text: ScheduleText): Schedule {
  const written = text.trim().toLowerCase().split(/\s+/).join(' ');
  if (written === 'off')
    return { text, words: 'only when asked for', kind: 'off', periodMs: null, next: () => null };
  if (written === 'hourly') return timesOf(text, parseCron('0 * * * *'));
  const every = /^every (.+)$/.exec(written)?.[1];
  if (every !== undefined) return intervalOf(text, every);
  const [preset = '', ...time] = written.split(' ');
  const days = PRESET_DAYS.get(preset);
  if (days !== undefined) return timesOf(text, parseCron(`${clockFields(text, time)} ${days}`));
  if (/^[\d*]/.test(written)) return timesOf(text, parseCron(written));
  throw new RequestError('INVALID_SCHEDULE', `'${text}' is not a schedule`, { hint: HINT });
}

/** The first `count` due times after `after`. @throws {RequestError} for an unknown zone */
export function nextRuns(schedule: Schedule, after: number, zone: string, count = 5): readonly number[] {
  const runs: number[] = [];
  let last: number | null = after;
  while (runs.length < count) {
    last = schedule.next(last, zone);
    if (last === null) break;
    runs.push(last);
  }
  return runs;
}

function timesOf(text: ScheduleText, times: CronTimes): Schedule {
  return {
    text,
    words: wordsOfTimes(times),
    kind: 'times',
    periodMs: null,
    next: rememberingNext((after, zone) => nextOccurrence(times, after, openZone(zone))),
  };
}

/** A span in which the next run is the same for any time. */
interface Gap {
  readonly zone: string;
  readonly from: number;
  readonly until: number;
}

const MOST_GAPS = 32;

/** Caches results, as computing a time takes as long as a thousand comparisons. */
function rememberingNext(next: Schedule['next']): Schedule['next'] {
  let gaps: readonly Gap[] = [];
  return (after, zone) => {
    const gap = gaps.find((one) => one.zone === zone && after >= one.from && after < one.until);
    if (gap !== undefined) return gap.until;
    const until = next(after, zone);
    if (until === null) return null;
    const same = gaps.find((one) => one.zone === zone && one.until === until);
    const wider = { zone, from: Math.min(after, same?.from ?? after), until };
    gaps = [wider, ...gaps.filter((one) => one !== same)].slice(0, MOST_GAPS);
    return until;
  };
}

function intervalOf(text: ScheduleText, written: string): Schedule {
  const periodMs = periodOf(text, written);
  return {
    text,
    words: wordsOfInterval(periodMs),
    kind: 'interval',
    periodMs,
    next: (after) => after + periodMs,
  };
}

function periodOf(text: ScheduleText, written: string): number {
  let periodMs: number;
  try {
    periodMs = parseDuration(written);
  } catch (cause) {
    throw new RequestError('INVALID_SCHEDULE', `'${text}' is not an interval`, {
      hint: 'Write numbers with units, longest first: every 30m, every 4h, every 1h30m, every 2d.',
      cause,
    });
  }
  if (periodMs >= SHORTEST_INTERVAL_MS && periodMs <= LONGEST_INTERVAL_MS) return periodMs;
  throw new RequestError(
    'INVALID_SCHEDULE',
    `The interval '${text}' is too ${periodMs < SHORTEST_INTERVAL_MS ? 'short' : 'long'}`,
    {
      hint: 'An interval is at least a minute and at most 366 days.',
    },
  );
}

/** Cron fields for minute and hour of `at 02:30`, or of the default when no time is given. */
function clockFields(text: ScheduleText, words: readonly string[]): string {
  const [at, time, ...rest] = words.length === 0 ? ['at', NIGHT] : words;
  const match = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(time ?? '');
  if (at !== 'at' || match === null || rest.length > 0) {
    throw new RequestError('INVALID_SCHEDULE', `'${text}' has no valid time`, {
      hint: 'Write the time from 00:00 to 23:59 after "at": daily at 02:30.',
    });
  }
  return `${Number(match[2])} ${Number(match[1])}`;
}
