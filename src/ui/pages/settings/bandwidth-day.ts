/** Divides a day into sections by the upload limits. */
import type { BandwidthValues } from './settings-values.ts';

export interface DaySection {
  readonly from: string;
  /** `24:00` at the end of the day. */
  readonly to: string;
  readonly minutes: number;
  readonly limit: string | null;
}

const DAY_MINUTES = 1_440;

/**
 * The sections from midnight to midnight. A rule applies until the next one, also past midnight. Rules without a time
 * are ignored.
 */
export function daySections(rules: readonly BandwidthValues[]): readonly DaySection[] {
  const starts = rules
    .map(({ from, uploadLimit }) => ({ at: minutesOf(from), limit: uploadLimit }))
    .filter((start): start is { at: number; limit: string | null } => start.at !== undefined)
    .sort((one, other) => one.at - other.at);
  const last = starts.at(-1);
  if (last === undefined) return [];
  const day = starts[0]?.at === 0 ? starts : [{ at: 0, limit: last.limit }, ...starts];
  return day
    .map(({ at, limit }, index) => {
      const end = day[index + 1]?.at ?? DAY_MINUTES;
      return { from: clock(at), to: clock(end), minutes: end - at, limit };
    })
    .filter(({ minutes }) => minutes > 0);
}

function minutesOf(time: string): number | undefined {
  const [, hour, minute] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(time) ?? [];
  return hour === undefined || minute === undefined ? undefined : Number(hour) * 60 + Number(minute);
}

function clock(minutes: number): string {
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
}
