/**
 * Cron expressions. node-cron checks them and decides which days they mean. The due times are computed in
 * occurrences.ts, because node-cron only counts from the machine's clock, skips times in the gap of the spring change,
 * and chooses between two equal times by the side of UTC on which the zone is.
 */
import { createRequire } from 'node:module';
import type * as nodeCron from 'node-cron';
import type { ParsedFields } from 'node-cron';
import { RequestError } from '../base/errors.ts';

/** Loaded on first use: every command reads settings, and few settings have a cron expression. */
const load = createRequire(import.meta.url);

/** Times of day, and the days on which they apply. */
export interface CronTimes {
  /** The five fields, one space between them. */
  readonly expression: string;
  /** Ascending, at least one. */
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly months: readonly number[];
  /** As written; used only for wording. */
  readonly dayOfMonth: string;
  readonly dayOfWeek: string;
  /** Decides by the calendar day alone, whatever the zone. Months count from 1. */
  readonly matchesDay: (year: number, month: number, day: number) => boolean;
}

/** The longest time until a 29 February falls on a given day of the week, including a missing leap year. */
export const SEARCH_YEARS = 41;

const HINT =
  'The five fields are minute, hour, day of month, month and day of week, such as "30 2 * * 1-5" for 02:30 from Monday to Friday.';

/**
 * Parses five fields. When both day of month and day of week are restricted, a day has to match only one of them, as in
 * crontab and unlike node-cron.
 * @throws {RequestError}
 */
export function parseCron(text: string): CronTimes {
  const expression = text.trim().split(/\s+/).join(' ');
  const [minute, hour, dayOfMonth, month, dayOfWeek, ...rest] = expression.split(' ');
  if (dayOfMonth === undefined || month === undefined || dayOfWeek === undefined || rest.length > 0) {
    throw invalid(text, 'does not have five fields');
  }
  // The month is checked separately, as node-cron refuses a day that does not occur in the month, even if a day of the
  // week would match.
  const months = ascending(checkFields(`* * * ${month} *`, text).month);
  const fields = checkFields(`${minute} ${hour} ${dayOfMonth} * ${dayOfWeek}`, text);

  const isDayOfMonth = dayMatcher(`0 12 ${dayOfMonth} * *`);
  const isDayOfWeek = dayMatcher(`0 12 * * ${dayOfWeek}`);
  const either = isRestricted(dayOfMonth) && isRestricted(dayOfWeek);
  const times: CronTimes = {
    expression,
    minutes: ascending(fields.minute),
    hours: ascending(fields.hour),
    months,
    dayOfMonth,
    dayOfWeek,
    matchesDay: (year, month, day) => {
      if (!months.includes(month)) return false;
      const noon = new Date(Date.UTC(year, month - 1, day, 12));
      return either ? isDayOfMonth(noon) || isDayOfWeek(noon) : isDayOfMonth(noon) && isDayOfWeek(noon);
    },
  };
  if (!happens(times)) throw invalid(text, 'means no day that exists');
  return times;
}

/** The most characters. An expression that lists every minute, hour and day needs a third of this. */
const LONGEST = 1_000;

function checkFields(expression: string, text: string): ParsedFields {
  if (expression.length > LONGEST) throw invalid(`${text.slice(0, 40)}…`, 'is too long');
  // node-cron expands every range before it checks how large its numbers are.
  const large = /[^\s,]*\d{4}[^\s,]*/.exec(expression)?.[0];
  if (large !== undefined) throw invalid(text, `is wrong at "${large}" (no number has so many digits)`);
  const { fields, errors } = library().validateDetailed(expression);
  if (fields !== undefined) return fields;
  const wrong = errors[0];
  throw invalid(
    text,
    wrong?.value === undefined
      ? 'cannot be read'
      : `is wrong at "${wrong.value}" (${wordsOfField(wrong.field)})`,
  );
}

const FIELD_WORDS: ReadonlyMap<string, string> = new Map([
  ['minute', 'minute, 0 to 59'],
  ['hour', 'hour, 0 to 23'],
  ['dayOfMonth', 'day of month, 1 to 31'],
  ['month', 'month, 1 to 12 or jan to dec'],
  ['dayOfWeek', 'day of week, 0 to 7 or sun to sat'],
]);

function wordsOfField(field: string): string {
  return FIELD_WORDS.get(field) ?? 'it has characters that mean nothing here';
}

function library(): typeof nodeCron {
  return load('node-cron') as typeof nodeCron;
}

/** Returns a function that says whether a day, given as noon UTC, matches. The task is never started. */
function dayMatcher(expression: string): (noon: Date) => boolean {
  const task = library().createTask(expression, () => undefined, { timezone: 'UTC' });
  // Removes the task from node-cron's list of all tasks, which would keep it for ever.
  void task.destroy();
  return (noon) => task.match(noon);
}

function isRestricted(field: string): boolean {
  return !field.startsWith('*') && field !== '?';
}

function ascending(values: readonly number[]): readonly number[] {
  return [...new Set(values)].sort((a, b) => a - b);
}

function happens(times: CronTimes): boolean {
  for (let month = 0; month < SEARCH_YEARS * 12; month += 1) {
    if (!times.months.includes((month % 12) + 1)) continue;
    const year = 2024 + Math.floor(month / 12);
    const days = new Date(Date.UTC(year, (month % 12) + 1, 0)).getUTCDate();
    for (let day = 1; day <= days; day += 1) {
      if (times.matchesDay(year, (month % 12) + 1, day)) return true;
    }
  }
  return false;
}

function invalid(text: string, what: string): RequestError {
  return new RequestError('INVALID_SCHEDULE', `The cron expression '${text}' ${what}`, { hint: HINT });
}
