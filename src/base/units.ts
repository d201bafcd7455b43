/** Sizes, durations and times as people write and read them. */

import { RequestError } from './errors.ts';

const kibi = 1024;

/** Bytes in one of each unit: a lone letter is binary, `kB` is decimal, `KiB` is binary, as in GNU coreutils. */
const sizeUnits: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['b', 1],
  ...['k', 'm', 'g', 't', 'p'].flatMap((letter, index): [string, number][] => [
    [letter, kibi ** (index + 1)],
    [`${letter}ib`, kibi ** (index + 1)],
    [`${letter}b`, 1000 ** (index + 1)],
  ]),
]);

/**
 * The slowest upload in bytes per second that can be meant. Anything less is a number whose unit was forgotten: with it
 * a job would never end.
 */
export const SLOWEST_UPLOAD = 1024;

/**
 * Whether a size is a number below 1024 without a unit. Nobody means 500 bytes where a largest file is asked for, or how
 * much a check reads: the unit was forgotten, and nearly every file would be left out, or next to nothing read.
 */
export function lacksUnit(size: string): boolean {
  return /^[\d.]+$/.test(size.trim()) && Number(size) < kibi;
}

/**
 * Parses a size such as `500M`, `1.5GiB`, `10 MB` or `4096` into bytes, rounded to a whole byte.
 * @throws {RequestError} when it is not a size, or too large to count exactly
 */
export function parseSize(text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(text.trim());
  const unit = sizeUnits.get(match?.[2]?.toLowerCase() ?? '');
  const number = match?.[1];
  if (number === undefined || unit === undefined) {
    throw new RequestError('INVALID_SIZE', `'${text}' is not a size`, {
      hint: 'Use a number and a unit: 500M or 1.5GiB (powers of 1024), 10MB (powers of 1000), or 4096.',
    });
  }
  const bytes = Math.round(Number(number) * unit);
  if (!Number.isSafeInteger(bytes)) {
    throw new RequestError('INVALID_SIZE', `The size '${text}' is too large`, {
      hint: 'The largest size is just under 8P.',
    });
  }
  return bytes;
}

const binaryUnits = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];

/** A size for people, in binary units with one decimal: `512 B`, `1.5 GiB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 0) return `-${formatBytes(-bytes)}`;
  if (Math.round(bytes) < kibi) return `${Math.round(bytes)} B`;
  let value = bytes / kibi;
  let unit = 0;
  // What would be shown as 1024.0 is shown as 1.0 of the next unit.
  while (Number(value.toFixed(1)) >= kibi && unit < binaryUnits.length - 1) {
    value /= kibi;
    unit += 1;
  }
  return `${value.toFixed(1)} ${binaryUnits[unit]}`;
}

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** Milliseconds in one of each unit, the longest first. A day is 24 hours, regardless of clock changes. */
const durationUnits: ReadonlyMap<string, number> = new Map([
  ['w', 7 * day],
  ['d', day],
  ['h', hour],
  ['m', minute],
  ['s', second],
  ['ms', 1],
]);

/**
 * Parses a duration such as `72h`, `3d`, `90s`, `1h30m`, `1.5h` or `0` into milliseconds, rounded to a whole one.
 * @throws {RequestError} when it is not a duration, or too long to count exactly
 */
export function parseDuration(text: string): number {
  const written = text.trim().toLowerCase();
  if (written === '0') return 0;
  if (!/^(?:\d+(?:\.\d+)?(?:ms|[wdhms]))+$/.test(written)) throw notADuration(text);

  let total = 0;
  let smallest = Number.POSITIVE_INFINITY;
  for (const [, number, name] of written.matchAll(/(\d+(?:\.\d+)?)(ms|[wdhms])/g)) {
    const unit = durationUnits.get(name ?? '');
    // Units must decrease (1h30m): a repeated or larger one is more likely a typing error than a sum.
    if (unit === undefined || unit >= smallest) throw notADuration(text);
    smallest = unit;
    total += Number(number) * unit;
  }
  const milliseconds = Math.round(total);
  if (!Number.isSafeInteger(milliseconds)) {
    throw new RequestError('INVALID_DURATION', `The duration '${text}' is too long`, {
      hint: 'Use fewer days.',
    });
  }
  return milliseconds;
}

function notADuration(text: string): RequestError {
  return new RequestError('INVALID_DURATION', `'${text}' is not a duration`, {
    hint: 'Use numbers with units, longest first: 90s, 5m, 72h, 3d, 2w, 1h30m; m means minutes.',
  });
}

/** A duration for people, in its two largest units: `250ms`, `4.2s`, `2m5s`, `1h30m`, `3d4h`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 0) return `-${formatDuration(-milliseconds)}`;
  const whole = Math.round(milliseconds);
  if (whole === 0) return '0s';
  if (whole < second) return `${whole}ms`;
  const tenths = Math.round(milliseconds / (second / 10));
  if (tenths < 600) return `${tenths / 10}s`;
  const seconds = Math.round(milliseconds / second);
  if (seconds < 3600) return twoUnits(seconds, 60, 'm', 's');
  const minutes = Math.round(milliseconds / minute);
  if (minutes < 1440) return twoUnits(minutes, 60, 'h', 'm');
  return twoUnits(Math.round(milliseconds / hour), 24, 'd', 'h');
}

/** Days. */
const YEAR = 365.2425;

/** How long something lasts or is ago, in a sentence: as a duration up to 60 days, then in months, from two years on in years. */
export function formatSpan(milliseconds: number): string {
  const days = milliseconds / (24 * hour);
  if (days <= 60) return formatDuration(milliseconds);
  return days < 2 * YEAR ? `${Math.round(days / (YEAR / 12))} months` : `${Math.round(days / YEAR)} years`;
}

function twoUnits(count: number, perLarge: number, large: string, small: string): string {
  const rest = count % perLarge;
  return `${Math.floor(count / perLarge)}${large}${rest === 0 ? '' : `${rest}${small}`}`;
}

function two(part: number): string {
  return String(part).padStart(2, '0');
}

/** Local time to the minute, for who reads it on this machine: `2026-11-21 13:05`. */
export function localTime(ms: number): string {
  const time = new Date(ms);
  const date = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${date} ${two(time.getHours())}:${two(time.getMinutes())}`;
}

/** Local time with its zone, for notices, which are read anywhere: `2026-11-21 13:05 UTC+01:00`. */
export function zonedTime(ms: number): string {
  const ahead = -new Date(ms).getTimezoneOffset();
  const away = Math.abs(ahead);
  const offset = ahead === 0 ? '' : `${ahead < 0 ? '-' : '+'}${two(Math.floor(away / 60))}:${two(away % 60)}`;
  return `${localTime(ms)} UTC${offset}`;
}
