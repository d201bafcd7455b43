/** How fast may be uploaded at which time of the day. */
import type { BandwidthRule } from '../config/settings.ts';
import { minuteOfDay, parseTimeOfDay } from './local-time.ts';

/**
 * Bytes per second that the rules allow now; null for no limit. A rule holds until the next one, the last of a day
 * into the next day.
 * @throws {RequestError} INVALID_REQUEST for a rule or a time zone that says nothing
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
