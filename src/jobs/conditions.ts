/** Whether a job may run under the current circumstances and why it waits otherwise, and the upload limit, both by the time of day. */
import { RequestError } from '../base/errors.ts';
import type { BandwidthRule, Settings } from '../config/settings.ts';
import type { Job, Wait } from './job.ts';
import { isPersons } from './queue.ts';

/** Facts that are asked of the machine. */
export interface Circumstances {
  onBattery(): Promise<boolean>;
  onMetered(): Promise<boolean>;
}

export interface ConditionInput {
  readonly conditions: Settings['conditions'];
  readonly timeZone: string | null;
  /** Whether the destination is reached through the network. */
  readonly remote: boolean;
  /** False when a destination that was seen before is missing, such as an unplugged disk. */
  readonly destinationPresent: boolean;
}

/**
 * What the job waits for; null when it may run. Battery, metered network and quiet hours delay only jobs that nobody waits for.
 */
export async function waitingReason(
  job: Pick<Job, 'trigger'>,
  { conditions, timeZone, remote, destinationPresent }: ConditionInput,
  circumstances: Circumstances,
  nowMs: number,
): Promise<Wait | null> {
  if (!destinationPresent) return { code: 'destination_absent', params: {} };
  if (isPersons(job.trigger)) return null;
  const quietUntil = quietHoursUntil(conditions.quietHours, nowMs, timeZone);
  if (quietUntil !== null) return { code: 'quiet_hours', params: { until: quietUntil } };
  if (conditions.onBattery === 'wait' && (await circumstances.onBattery())) {
    return { code: 'on_battery', params: {} };
  }
  if (remote && conditions.onMetered === 'wait' && (await circumstances.onMetered())) {
    return { code: 'on_metered', params: {} };
  }
  return null;
}

/**
 * The end (`HH:MM`) of the quiet hours that apply at `nowMs`; null when none do. Hours such as `22:00-06:00` cross midnight.
 * @throws {RequestError} INVALID_REQUEST for malformed hours or an unknown time zone
 */
export function quietHoursUntil(
  quietHours: string | null,
  nowMs: number,
  timeZone: string | null,
): string | null {
  if (quietHours === null) return null;
  const [first = '', second = ''] = quietHours.split('-');
  const [from, to] = [parseTimeOfDay(first), parseTimeOfDay(second)];
  const now = minuteOfDay(nowMs, timeZone);
  const quiet = from <= to ? now >= from && now < to : now >= from || now < to;
  return quiet ? showTimeOfDay(to % DAY_MINUTES) : null;
}

/**
 * The upload limit by time of day. Bytes per second that the rules allow at `nowMs`; null for no limit. A rule applies
 * until the next one begins, and the last rule of a day into the next day.
 * @throws {RequestError} INVALID_REQUEST for a malformed rule or an unknown time zone
 */
export function uploadLimitAt(
  rules: readonly BandwidthRule[],
  nowMs: number,
  timeZone: string | null,
): number | null {
  if (rules.length === 0) return null;
  const now = minuteOfDay(nowMs, timeZone);
  const timed = rules
    .map(({ from, uploadLimit }) => ({ from: parseTimeOfDay(from), uploadLimit }))
    .sort((a, b) => a.from - b.from);
  const current = timed.findLast(({ from }) => from <= now) ?? timed.at(-1);
  return current?.uploadLimit ?? null;
}

const DAY_MINUTES = 1_440;

/**
 * Minutes since midnight of `HH:MM`; `24:00` is the end of the day.
 * @throws {RequestError} INVALID_REQUEST
 */
export function parseTimeOfDay(text: string): number {
  const match = /^(\d{1,2}):(\d{2})$/.exec(text.trim());
  const minutes = Number(match?.[1]) * 60 + Number(match?.[2]);
  if (match === null || Number(match[2]) > 59 || minutes > DAY_MINUTES) {
    throw new RequestError('INVALID_REQUEST', `'${text}' is not a time of day`, {
      hint: 'Write hours and minutes, for example 22:00.',
    });
  }
  return minutes;
}

/**
 * Minutes since local midnight, by the clock on the wall; a null `timeZone` means that of the machine.
 * @throws {RequestError} INVALID_REQUEST for an unknown time zone
 */
function minuteOfDay(nowMs: number, timeZone: string | null): number {
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

function showTimeOfDay(minutes: number): string {
  const two = (number: number): string => String(number).padStart(2, '0');
  return `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}
