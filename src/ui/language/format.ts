/** Formats sizes, times and numbers for the reader's language and time zone. */
import { language, t } from './language.ts';

/** Formatters are kept, as long lists use them for each row, and making one takes as long as using it a hundred times. */
const numbers = new Map<string, Intl.NumberFormat>();
const times = new Map<string, Intl.DateTimeFormat>();
const signsOfByte = new Map<string, string>();

function numberFormat(digits?: 1): Intl.NumberFormat {
  const key = `${language} ${digits ?? ''}`;
  const options =
    digits === undefined ? {} : { minimumFractionDigits: digits, maximumFractionDigits: digits };
  const format = numbers.get(key) ?? new Intl.NumberFormat(language, options);
  numbers.set(key, format);
  return format;
}

/** The locale of the reader's country in the language of the page, as far as the browser tells it. */
function readersLocale(): string {
  const ofCountry = navigator.languages.find((one) => one.toLowerCase().startsWith(`${language}-`));
  return ofCountry ?? (language === 'en' ? 'en-GB' : language);
}

function timeFormat(
  dateStyle: 'long' | 'medium' | 'short' | undefined,
  timeStyle: 'medium' | 'short' | undefined,
) {
  const key = `${language} ${dateStyle} ${timeStyle}`;
  const format = times.get(key) ?? new Intl.DateTimeFormat(readersLocale(), { dateStyle, timeStyle });
  times.set(key, format);
  return format;
}

const PREFIXES = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const KIBI = 1_024;

/** `B`, in French `o` for octet. */
function signOfByte(): string {
  const kept = signsOfByte.get(language);
  if (kept !== undefined) return kept;
  const format = new Intl.NumberFormat(language, { style: 'unit', unit: 'byte', unitDisplay: 'narrow' });
  const sign = format.formatToParts(1).find(({ type }) => type === 'unit')?.value ?? 'B';
  signsOfByte.set(language, sign);
  return sign;
}

/** `512 B`, `1.5 GiB`, in German `1,5 GiB`, in French `1,5 Gio`. */
export function formatBytes(bytes: number): string {
  let value = Math.max(0, bytes);
  if (Math.round(value) < KIBI) return `${formatCount(Math.round(value))} ${signOfByte()}`;
  let unit = -1;
  // A value that would be shown as 1024.0 is shown as 1.0 of the next unit.
  while (Number(value.toFixed(1)) >= KIBI && unit < PREFIXES.length - 1) {
    value /= KIBI;
    unit += 1;
  }
  return `${numberFormat(1).format(value)} ${PREFIXES[unit] ?? ''}${signOfByte()}`;
}

export function formatCount(count: number): string {
  return numberFormat().format(count);
}

export function formatPercent(share: number): string {
  return new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 0 }).format(share);
}

/** `22 Nov 2026, 04:31` in the reader's time zone. `at`: RFC 3339, or milliseconds since 1970. */
export function formatTime(at: string | number): string {
  return timeFormat('medium', 'short').format(new Date(at));
}

/** With seconds: `22 Nov 2026, 04:31:07`. */
export function formatExactTime(at: string | number): string {
  return timeFormat('medium', 'medium').format(new Date(at));
}

/** The times as `formatTime` shows them; with seconds those that could not be told apart. */
export function formatTimesApart(times: readonly string[]): ReadonlyMap<string, string> {
  const distinct = [...new Set(times)];
  const shown = Map.groupBy(distinct, formatTime);
  return new Map(
    distinct.map((at) => {
      const text = formatTime(at);
      return [at, (shown.get(text)?.length ?? 0) > 1 ? formatExactTime(at) : text];
    }),
  );
}

export function formatDay(at: string | number): string {
  return timeFormat('medium', undefined).format(new Date(at));
}

/** `22 November 2026`: for sentences, and to be read out. */
export function formatLongDay(at: string | number): string {
  return timeFormat('long', undefined).format(new Date(at));
}

/** `04:31`: the time of a day that is shown next to it. */
export function formatClock(at: string | number): string {
  return timeFormat(undefined, 'short').format(new Date(at));
}

export function formatExactClock(at: string | number): string {
  return timeFormat(undefined, 'medium').format(new Date(at));
}

/** With seconds, as in logs. */
export function formatMoment(at: string | number): string {
  return timeFormat('short', 'medium').format(new Date(at));
}

/** Each unit with its seconds, and how many of it make one of the next. Months and years have their average length. */
const UNITS_OF_TIME = [
  ['second', 1, 60],
  ['minute', 60, 60],
  ['hour', 3_600, 24],
  ['day', 86_400, 30],
  ['month', 2_629_800, 12],
  ['year', 31_557_600, Infinity],
] as const;
type UnitOfTime = (typeof UNITS_OF_TIME)[number][0];

/** A time in the largest unit that fits. It is rounded first, so that nothing is 60 minutes. */
function inLargestUnit(seconds: number): readonly [count: number, unit: UnitOfTime] {
  for (const [unit, size, most] of UNITS_OF_TIME) {
    const count = Math.round(seconds / size);
    if (count < most) return [count, unit];
  }
  return [Infinity, 'year'];
}

/**
 * `4 minutes ago`, `in 2 hours`, `yesterday`, `now`. Days are calendar days in the reader's time zone: late in the
 * evening of the day before yesterday is never `yesterday`, however few hours ago it was.
 */
export function formatAge(at: string | number, nowMs = Date.now()): string {
  const time = new Date(at).getTime();
  const seconds = Math.abs(time - nowMs) / 1000;
  if (seconds < 60) return t.common.now;
  const sign = Math.sign(time - nowMs);
  const [count, unit] = inLargestUnit(seconds);
  if (unit === 'hour' || unit === 'minute' || unit === 'second') return relative('auto', sign * count, unit);
  const days = Math.abs(daysBefore(time, nowMs));
  // Possible on the day on which clocks are put back.
  if (days === 0) return relative('auto', sign * 24, 'hour');
  if (days < 30) return relative('auto', sign * days, 'day');
  // Not `last month`, which could mean the calendar month before the last one.
  return unit === 'day' ? relative('always', sign, 'month') : relative('always', sign * count, unit);
}

function relative(numeric: 'auto' | 'always', count: number, unit: Intl.RelativeTimeFormatUnit): string {
  return new Intl.RelativeTimeFormat(language, { numeric }).format(count, unit);
}

/** `3 days`: a length of time in its largest unit. */
export function formatSpan(seconds: number): string {
  return inUnit(...inLargestUnit(Math.max(0, seconds)));
}

/** `1 h 12 min`, `45 s`: exact enough to wait for. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole === 0 && seconds > 0) return '< 1 s';
  const hours = Math.floor(whole / 3_600);
  const minutes = Math.floor((whole % 3_600) / 60);
  if (hours > 0) return `${formatCount(hours)} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min ${whole % 60} s` : `${whole} s`;
}

function inUnit(value: number, unit: UnitOfTime): string {
  return new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' }).format(value);
}

/** `a, b and c`. */
export function formatList(parts: readonly string[]): string {
  return new Intl.ListFormat(language, { type: 'conjunction' }).format(parts);
}

/** The beginning of the day of `at`. */
export function midnight(at: number): number {
  const time = new Date(at);
  return new Date(time.getFullYear(), time.getMonth(), time.getDate()).getTime();
}

/** 0 for today, 1 for yesterday, -1 for tomorrow. Days of 23 and of 25 hours count as days. */
export function daysBefore(at: number, nowMs: number): number {
  return Math.round((midnight(nowMs) - midnight(at)) / 86_400_000);
}
