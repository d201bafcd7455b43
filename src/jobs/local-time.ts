/** Times of day in the person's time zone. */
import { RequestError } from '../base/errors.ts';

export const DAY_MINUTES = 1_440;

/**
 * Minutes since midnight of `HH:MM`; `24:00` is the end of the day.
 * @throws {RequestError} INVALID_REQUEST
 */
export function parseTimeOfDay(text: string): number {
  const match = /^(\d{1,2}):(\d{2})$/.exec(text.trim());
  const minutes = Number(match?.[1]) * 60 + Number(match?.[2]);
  if (match === null || Number(match[2]) > 59 || minutes > DAY_MINUTES) {
    throw new RequestError('INVALID_REQUEST', `'${text}' is not a time of the day`, {
      hint: 'Write hours and minutes, as 22:00.',
    });
  }
  return minutes;
}

/**
 * Minutes since local midnight, by the clock on the wall; a null `timeZone` means that of the machine.
 * @throws {RequestError} INVALID_REQUEST for an unknown time zone
 */
export function minuteOfDay(nowMs: number, timeZone: string | null): number {
  const [hour, minute] = formatOf(timeZone).format(nowMs).split(':');
  return Number(hour) * 60 + Number(minute);
}

function formatOf(timeZone: string | null): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-GB', {
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
      ...(timeZone === null ? {} : { timeZone }),
    });
  } catch (cause) {
    throw new RequestError('INVALID_REQUEST', `'${timeZone}' is not a time zone`, {
      hint: 'Write a name such as Europe/Berlin.',
      cause,
    });
  }
}

export function showTimeOfDay(minutes: number): string {
  const two = (number: number): string => String(number).padStart(2, '0');
  return `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}
