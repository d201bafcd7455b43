/** The upload limit by time of day. */
import type { BandwidthRule } from '../config/settings.ts';
import { minuteOfDay, parseTimeOfDay } from './local-time.ts';

/**
 * Bytes per second that the rules allow at `nowMs`; null for no limit. A rule applies until the next one begins, and
 * the last rule of a day into the next day.
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
