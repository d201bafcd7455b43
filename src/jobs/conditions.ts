/** Whether a job may run under the current circumstances, and why it waits otherwise. */
import type { Settings } from '../config/settings.ts';
import type { Job, Wait } from './job.ts';
import { DAY_MINUTES, minuteOfDay, parseTimeOfDay, showTimeOfDay } from './local-time.ts';
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
