/** Checks whether a text has the form of a schedule. What it means, and when it is due, is up to the scheduler. */
import { RequestError } from '../base/errors.ts';
import { parseDuration } from '../base/units.ts';

const PRESET =
  /^(?:off|hourly|(?:daily|weekdays|weekends|weekly|monthly)(?: at (?:[01]?\d|2[0-3]):[0-5]\d)?)$/;
/** Five fields, of which the first begins with a digit or a star, unlike words. */
const CRON = /^[\d*][\w*,/?#-]*(?: [\w*,/?#-]+){4}$/;

const MINUTE = 60_000;
const YEAR = 366 * 24 * 60 * MINUTE;

/** Whether the text is one of the fixed schedules, which need no further parsing. */
export function isPreset(text: string): boolean {
  return PRESET.test(plain(text));
}

/** @throws {RequestError} INVALID_SCHEDULE */
export function checkScheduleText(text: string): void {
  const written = plain(text);
  if (PRESET.test(written) || CRON.test(written)) return;
  const interval = /^every (.+)$/.exec(written)?.[1];
  if (interval !== undefined) checkInterval(text, interval);
  else {
    throw invalid(
      `"${text.length > 40 ? `${text.slice(0, 39)}…` : text}" is not a schedule`,
      'Write off, hourly, daily, weekly, "daily at 02:30", "weekdays at 18:00", "every 4h", or five cron fields such as "30 2 * * *".',
    );
  }
}

function plain(text: string): string {
  return text.trim().toLowerCase().split(/\s+/).join(' ');
}

function checkInterval(text: string, interval: string): void {
  let milliseconds: number;
  try {
    milliseconds = parseDuration(interval);
  } catch (cause) {
    throw invalid(
      `"${text}" is not a schedule`,
      'Write an interval with its units: every 4h, every 90m, every 2d.',
      cause,
    );
  }
  if (milliseconds < MINUTE || milliseconds > YEAR)
    throw invalid(`"${text}" is not possible`, 'An interval is between 1m and 366d.');
}

function invalid(message: string, hint: string, cause?: unknown): RequestError {
  return new RequestError('INVALID_SCHEDULE', message, { hint, cause });
}
