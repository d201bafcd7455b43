/**
 * The calendar a retention policy counts in: which hour, day, ISO week, month or year of a time zone an instant falls
 * in, and which instant lies a given duration earlier.
 */
import { RequestError } from '../../base/errors.ts';

export type CalendarUnit = 'hourly' | 'daily' | 'weekly' | 'monthly' | 'yearly';

export interface KeepDuration {
  readonly years: number;
  readonly months: number;
  readonly days: number;
  readonly hours: number;
}

export interface Calendar {
  readonly timeZone: string;
  /** The name of the hour, day, ISO week, month or year in which an instant falls. */
  bucket(timeMs: number, unit: CalendarUnit): string;
  /**
   * The instant `duration` earlier: years and months by the calendar (31 March less a month is the last of February),
   * then days by the calendar, then hours of real time. When a clock time is ambiguous or skipped because clocks were
   * changed, the earlier instant is used, because it keeps more.
   */
  before(timeMs: number, duration: KeepDuration): number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * Milliseconds since 1970 of the last instant that the calendar accepts and, negated, of the first: the range of Date
 * (ECMA-262, "Time Values and Time Range") less two days, since local time may be on either side of UTC.
 */
export const LATEST_TIME_MS = 8.64e15 - 2 * DAY_MS;

/** `1y2m3d4h`: years, months, days and hours, each at most once, largest first. Throws RequestError. */
export function parseKeepDuration(text: string): KeepDuration {
  const match = /^(?:(\d{1,6})y)?(?:(\d{1,6})m)?(?:(\d{1,6})d)?(?:(\d{1,6})h)?$/.exec(text);
  if (match === null || text === '') {
    throw refused(
      `"${text}" is not a duration`,
      'Write years, months, days and hours in this order: 1y2m3d4h.',
    );
  }
  const [years = 0, months = 0, days = 0, hours = 0] = match.slice(1).map((digits) => Number(digits ?? 0));
  return { years, months, days, hours };
}

/** The calendar of an IANA zone, or of the system's. Throws RequestError when there is no such zone. */
export function openCalendar(zone: string | undefined): Calendar {
  const format = openZone(zone);
  const offsets = new Map<number, number>();

  /** The offset of the zone's local time from UTC, in milliseconds. */
  function offsetAt(timeMs: number): number {
    const known = offsets.get(timeMs);
    if (known !== undefined) return known;
    const part: Partial<Record<Intl.DateTimeFormatPartTypes, string>> = {};
    for (const { type, value } of format.formatToParts(timeMs)) part[type] = value;
    const year = part.era === 'BC' ? 1 - Number(part.year) : Number(part.year);
    const shown = new Date(0);
    shown.setUTCFullYear(year, Number(part.month) - 1, Number(part.day));
    shown.setUTCHours(Number(part.hour), Number(part.minute), Number(part.second));
    const offset = shown.getTime() - Math.floor(timeMs / 1000) * 1000;
    offsets.set(timeMs, offset);
    return offset;
  }

  function instantOf(shownMs: number): number {
    const readings = [shownMs - DAY_MS, shownMs + DAY_MS].map((near) => shownMs - offsetAt(near));
    const exact = readings.filter((timeMs) => timeMs + offsetAt(timeMs) === shownMs);
    return Math.min(...(exact.length > 0 ? exact : readings));
  }

  return {
    timeZone: format.resolvedOptions().timeZone,
    bucket: (timeMs, unit) => bucketLabel(timeMs, offsetAt(timeMs), unit),
    before(timeMs, { years, months, days, hours }) {
      const shown = new Date(timeMs + offsetAt(timeMs));
      const day = shown.getUTCDate();
      shown.setUTCFullYear(shown.getUTCFullYear() - years, shown.getUTCMonth() - months, 1);
      const lastDay = new Date(shown);
      lastDay.setUTCMonth(lastDay.getUTCMonth() + 1, 0);
      shown.setUTCDate(Math.min(day, lastDay.getUTCDate()) - days);
      const shownMs = shown.getTime();
      // Beyond the range of dates, so everything is newer.
      if (!(shownMs >= -LATEST_TIME_MS)) return -Infinity;
      return instantOf(shownMs) - hours * HOUR_MS;
    },
  };
}

function openZone(timeZone: string | undefined): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US-u-ca-gregory-nu-latn', {
      ...(timeZone === undefined ? {} : { timeZone }),
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch (cause) {
    throw refused(
      `"${timeZone}" is not a known time zone`,
      'Use an IANA name such as Europe/Berlin or UTC.',
      cause,
    );
  }
}

function bucketLabel(timeMs: number, offsetMs: number, unit: CalendarUnit): string {
  const shown = new Date(timeMs + offsetMs);
  const date = shown.toISOString();
  const day = date.slice(0, date.indexOf('T'));
  // The label has the offset, so that the two hours of one name, when clocks are set back, stay distinct.
  if (unit === 'hourly') return `${day} ${two(shown.getUTCHours())}:00${offsetText(offsetMs)}`;
  if (unit === 'daily') return day;
  if (unit === 'weekly') return isoWeek(shown);
  return unit === 'monthly' ? day.slice(0, -3) : day.slice(0, -6);
}

/** ISO 8601: a week belongs to the year of its Thursday. */
function isoWeek(shown: Date): string {
  const thursday = new Date(shown);
  thursday.setUTCDate(shown.getUTCDate() + 4 - (shown.getUTCDay() || 7));
  const year = thursday.toISOString().slice(0, -20);
  thursday.setUTCHours(0, 0, 0, 0);
  const newYear = new Date(thursday);
  newYear.setUTCMonth(0, 1);
  const week = 1 + Math.floor((thursday.getTime() - newYear.getTime()) / (7 * DAY_MS));
  return `${year}-W${two(week)}`;
}

function offsetText(offsetMs: number): string {
  const minutes = Math.floor(Math.abs(offsetMs) / 60_000);
  return `${offsetMs < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}

/** The error for a policy that cannot be carried out as stated. */
export function refused(message: string, hint: string, cause?: unknown): RequestError {
  return new RequestError('INVALID_REQUEST', message, { op: 'plan retention', hint, cause });
}
