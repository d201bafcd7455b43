/** Takes schedules of the settings (`every 4h`, `daily at 02:30`, `30 2 * * 1`) apart for a form, and puts them into words. */

export const FREQUENCIES = [
  'off',
  'interval',
  'hourly',
  'daily',
  'weekdays',
  'weekends',
  'weekly',
  'monthly',
  'cron',
] as const;
export type Frequency = (typeof FREQUENCIES)[number];

export const INTERVAL_UNITS = ['m', 'h', 'd', 'w'] as const;
export type IntervalUnit = (typeof INTERVAL_UNITS)[number];

export interface ScheduleParts {
  readonly frequency: Frequency;
  /** The number of an interval, as typed. */
  readonly every: string;
  readonly unit: IntervalUnit;
  /** `HH:MM`. */
  readonly time: string;
  /** From 0 for Sunday. */
  readonly weekday: number;
  /** The day of the month. */
  readonly day: number;
  /** The schedule as the settings have it. */
  readonly text: string;
}

/** The details of presets that are written without any. */
const STANDARD: Omit<ScheduleParts, 'text' | 'frequency'> = {
  every: '4',
  unit: 'h',
  time: '03:00',
  weekday: 0,
  day: 1,
};

/** Takes a schedule apart. One that the form has no fields for gets the frequency `cron`. */
export function readSchedule(text: string): ScheduleParts {
  const written = text.trim().toLowerCase().split(/\s+/).join(' ');
  const parts = { ...STANDARD, text };
  if (written === 'off' || written === 'hourly') return { ...parts, frequency: written };
  const [, every, unit] = /^every (\d+)([mhdw])$/.exec(written) ?? [];
  if (every !== undefined && isUnit(unit)) return { ...parts, frequency: 'interval', every, unit };
  const [, preset, time] =
    /^(daily|weekdays|weekends|weekly|monthly)(?: at (\d{1,2}:\d\d))?$/.exec(written) ?? [];
  if (isFrequency(preset)) return { ...parts, frequency: preset, time: time?.padStart(5, '0') ?? parts.time };
  return { ...parts, ...readCron(written) };
}

function readCron(written: string): Pick<ScheduleParts, 'frequency'> & Partial<ScheduleParts> {
  const [, minute, hour, day, weekday] =
    /^(\d{1,2}) (\d{1,2}) (\*|\d{1,2}) \* (\*|1-5|6,0|0,6|6,7|6-7|[0-7])$/.exec(written) ?? [];
  if (minute === undefined || hour === undefined || day === undefined || weekday === undefined)
    return { frequency: 'cron' };
  const time = `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`;
  if (day !== '*')
    return weekday === '*' ? { frequency: 'monthly', time, day: Number(day) } : { frequency: 'cron' };
  if (weekday === '*') return { frequency: 'daily', time };
  if (weekday === '1-5') return { frequency: 'weekdays', time };
  if (weekday.length > 1) return { frequency: 'weekends', time };
  return { frequency: 'weekly', time, weekday: Number(weekday) % 7 };
}

/**
 * What a form shows: the fields as typed while they make up the schedule, else the schedule taken apart. Otherwise a
 * field that is empty for a moment would turn it into a schedule without fields.
 */
export function shownParts(text: string, typed: ScheduleParts | undefined): ScheduleParts {
  return typed !== undefined && writeSchedule(typed) === text ? { ...typed, text } : readSchedule(text);
}

/** The schedule for the settings. For incomplete fields it is a text that the agent refuses. */
export function writeSchedule(parts: ScheduleParts): string {
  const { frequency, every, unit, time, weekday, day, text } = parts;
  const [, hour, minute] = /^(\d\d):(\d\d)$/.exec(time) ?? [];
  const clock = minute === undefined ? undefined : `${Number(minute)} ${Number(hour)}`;
  switch (frequency) {
    case 'off':
    case 'hourly':
      return frequency;
    case 'interval':
      return `every ${every}${unit}`;
    case 'weekly':
      return weekday === STANDARD.weekday || clock === undefined
        ? `weekly at ${time}`
        : `${clock} * * ${weekday}`;
    case 'monthly':
      return day === STANDARD.day || clock === undefined ? `monthly at ${time}` : `${clock} ${day} * *`;
    case 'cron':
      return text;
    default:
      return `${frequency} at ${time}`;
  }
}

/** The words of a language for schedules. */
export interface ScheduleWords {
  readonly off: string;
  readonly hourly: string;
  readonly every: (count: number, unit: IntervalUnit) => string;
  readonly daily: (time: string) => string;
  readonly weekdays: (time: string) => string;
  readonly weekends: (time: string) => string;
  readonly weekly: (weekday: string, time: string) => string;
  readonly monthly: (day: number, time: string) => string;
  /** A schedule without simpler words: its text. */
  readonly other: (text: string) => string;
}

/** `every day at 02:30`. */
export function scheduleInWords(text: string, words: ScheduleWords, language: string): string {
  const { frequency, every, unit, time, weekday, day } = readSchedule(text);
  switch (frequency) {
    case 'off':
    case 'hourly':
      return words[frequency];
    case 'interval':
      return words.every(Number(every), unit);
    case 'weekly':
      return words.weekly(weekdayName(weekday, language), time);
    case 'monthly':
      return words.monthly(day, time);
    case 'cron':
      return words.other(text);
    default:
      return words[frequency](time);
  }
}

/** The name of a weekday, from 0 for Sunday: 1 January 2023 was a Sunday. */
export function weekdayName(weekday: number, language: string): string {
  return new Intl.DateTimeFormat(language, { weekday: 'long', timeZone: 'UTC' }).format(
    Date.UTC(2023, 0, 1 + weekday),
  );
}

function isUnit(text: string | undefined): text is IntervalUnit {
  return INTERVAL_UNITS.some((unit) => unit === text);
}

function isFrequency(text: string | undefined): text is Frequency {
  return FREQUENCIES.some((frequency) => frequency === text);
}
