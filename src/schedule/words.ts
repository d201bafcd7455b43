/** Schedules in plain words: "every day at 02:30". */
import type { CronTimes } from './cron.ts';

const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = 'January February March April May June July August September October November December'.split(
  ' ',
);
/** More times of day than this are not listed one by one. */
const LISTED_TIMES = 6;

export function wordsOfTimes(times: CronTimes): string {
  const days = wordsOfDays(times);
  const clock = times.hours.length === 24 ? wordsOfMinutes(times.minutes) : wordsOfClock(times);
  if (days === undefined || clock === undefined)
    return `at the times of the cron expression "${times.expression}"`;
  if (times.hours.length < 24) return `${days} at ${clock}`;
  return isDaily(times) ? clock : `${clock}, ${days}`;
}

function isDaily({ dayOfMonth, dayOfWeek, months }: CronTimes): boolean {
  return months.length === 12 && isAny(dayOfMonth) && isAny(dayOfWeek);
}

function isAny(field: string): boolean {
  return field === '*' || field === '?';
}

function wordsOfMinutes(minutes: readonly number[]): string | undefined {
  const step = 60 / minutes.length;
  if (step === 1) return 'every minute';
  if (minutes.length === 1)
    return minutes[0] === 0 ? 'every hour, on the hour' : `every hour at minute ${minutes[0]}`;
  if (minutes.every((minute, index) => minute === index * step)) return `every ${step} minutes`;
  if (minutes.length > LISTED_TIMES) return undefined;
  return `every hour at the minutes ${listed(minutes.map(String))}`;
}

function wordsOfClock({ hours, minutes }: CronTimes): string | undefined {
  if (hours.length * minutes.length > LISTED_TIMES) return undefined;
  return listed(hours.flatMap((hour) => minutes.map((minute) => `${twoDigits(hour)}:${twoDigits(minute)}`)));
}

function wordsOfDays({ dayOfMonth, dayOfWeek, months }: CronTimes): string | undefined {
  const [anyDayOfMonth, anyDayOfWeek] = [isAny(dayOfMonth), isAny(dayOfWeek)];
  const inMonths =
    months.length === 12 ? undefined : listed(months.map((month) => MONTHS[month - 1] ?? `${month}`));
  if (anyDayOfMonth && anyDayOfWeek) return inMonths === undefined ? 'every day' : `every day in ${inMonths}`;
  if (anyDayOfMonth) {
    const weekdays = wordsOfWeekdays(dayOfWeek);
    return weekdays === undefined || inMonths === undefined ? weekdays : `${weekdays} in ${inMonths}`;
  }
  const numbers = dayOfMonth.split(',');
  if (!anyDayOfWeek || !numbers.every((number) => /^\d+$/.test(number))) return undefined;
  const days = listed(numbers.map((number) => `the ${ordinal(Number(number))}`));
  return `on ${days} of ${inMonths ?? 'every month'}`;
}

function wordsOfWeekdays(field: string): string | undefined {
  const range = /^(\w+)-(\w+)$/.exec(field);
  if (range !== null) {
    const [first, last] = [weekday(range[1] ?? ''), weekday(range[2] ?? '')];
    return first === undefined || last === undefined ? undefined : `${first} to ${last}`;
  }
  const names = field.split(',').map(weekday);
  const known = names.filter((name) => name !== undefined);
  if (known.length < names.length) return undefined;
  return `every ${listed(known)}`;
}

/** The name of a weekday, from `1`, `7`, `mon` or `monday`. */
function weekday(text: string): string | undefined {
  if (/^[0-7]$/.test(text)) return WEEKDAYS[Number(text) % 7];
  if (text.length < 3) return undefined;
  const written = text.toLowerCase();
  return WEEKDAYS.find(
    (name) => name.toLowerCase() === written || name.slice(0, 3).toLowerCase() === written,
  );
}

export function wordsOfInterval(periodMs: number): string {
  let rest = Math.round(periodMs / 1000);
  const parts: string[] = [];
  for (const [name, seconds] of [
    ['week', 604_800],
    ['day', 86_400],
    ['hour', 3600],
    ['minute', 60],
    ['second', 1],
  ] as const) {
    const count = Math.floor(rest / seconds);
    rest %= seconds;
    if (count > 0) parts.push(count === 1 ? `1 ${name}` : `${count} ${name}s`);
  }
  const only = parts.length === 1 ? parts[0] : undefined;
  // "every hour" rather than "every 1 hour".
  return only === undefined ? `every ${parts.join(' ')}` : `every ${only.replace(/^1 /, '')}`;
}

function listed(words: readonly string[]): string {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

function ordinal(day: number): string {
  const teen = day > 10 && day < 14;
  const ending = teen ? 'th' : (['th', 'st', 'nd', 'rd'][day % 10] ?? 'th');
  return `${day}${ending}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
