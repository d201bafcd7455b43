/** Sizes, times and numbers as the reader's language and time zone have them. */
import { language, t } from './language.ts';

/** Formats that long lists use for each row: to make one takes as long as a hundred uses of it. */
const numbers = new Map<string, Intl.NumberFormat>();
const times = new Map<string, Intl.DateTimeFormat>();

function numberFormat(digits?: 1): Intl.NumberFormat {
  const key = `${language} ${digits ?? ''}`;
  const options =
    digits === undefined ? {} : { minimumFractionDigits: digits, maximumFractionDigits: digits };
  const format = numbers.get(key) ?? new Intl.NumberFormat(language, options);
  numbers.set(key, format);
  return format;
}

/** How the reader's country writes times in the language of the page, as far as the browser says. */
function readersLocale(): string {
  const ofCountry = navigator.languages.find((one) => one.toLowerCase().startsWith(`${language}-`));
  return ofCountry ?? (language === 'en' ? 'en-GB' : language);
}

function timeFormat(dateStyle: 'medium' | 'short' | undefined, timeStyle: 'medium' | 'short' | undefined) {
  const key = `${language} ${dateStyle} ${timeStyle}`;
  const format = times.get(key) ?? new Intl.DateTimeFormat(readersLocale(), { dateStyle, timeStyle });
  times.set(key, format);
  return format;
}

const UNITS = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
const KIBI = 1_024;

/** `512 B`, `1.5 GiB`, in German `1,5 GiB`. */
export function formatBytes(bytes: number): string {
  let value = Math.max(0, bytes);
  if (Math.round(value) < KIBI) return `${formatCount(Math.round(value))} B`;
  let unit = -1;
  // What would be shown as 1024.0 is 1.0 of the next unit.
  while (Number(value.toFixed(1)) >= KIBI && unit < UNITS.length - 1) {
    value /= KIBI;
    unit += 1;
  }
  return `${numberFormat(1).format(value)} ${UNITS[unit] ?? ''}`;
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

export function formatDay(at: string | number): string {
  return timeFormat('medium', undefined).format(new Date(at));
}

/** `04:31`: the time of a day that is named beside it. */
export function formatClock(at: string | number): string {
  return timeFormat(undefined, 'short').format(new Date(at));
}

/** With seconds, as in logs. */
export function formatMoment(at: string | number): string {
  return timeFormat('short', 'medium').format(new Date(at));
}

const STEPS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/** `4 minutes ago`, `in 2 hours`, `now`. */
export function formatAge(at: string | number, nowMs = Date.now()): string {
  const seconds = (new Date(at).getTime() - nowMs) / 1000;
  const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
  for (const [unit, size] of STEPS)
    if (Math.abs(seconds) >= size) return relative.format(Math.round(seconds / size), unit);
  return t.common.now;
}

/** `3 days`: how long something lasts or has lasted, in its largest unit. */
export function formatSpan(seconds: number): string {
  for (const [unit, size] of STEPS) if (seconds >= size) return inUnit(Math.round(seconds / size), unit);
  return inUnit(Math.max(0, Math.round(seconds)), 'second');
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

function inUnit(value: number, unit: string): string {
  return new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' }).format(value);
}

/** `a, b and c`. */
export function formatList(parts: readonly string[]): string {
  return new Intl.ListFormat(language, { type: 'conjunction' }).format(parts);
}
