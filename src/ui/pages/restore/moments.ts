/** Where snapshots stand on the slider of time, and which of them the list beside it shows. */
import { midnight } from '../../language/format.ts';

/** More marks than these would be a hatching. */
const MOST_TICKS = 40;

/** The beginnings of days, months and years. */
const UNITS: readonly ((at: number) => number)[] = [
  midnight,
  (at) => new Date(at).getFullYear() * 12 + new Date(at).getMonth(),
  (at) => new Date(at).getFullYear(),
];

/**
 * The positions with which a day begins; a month or a year, if there are many.
 * @param times milliseconds since 1970, the oldest first
 */
export function ticksOf(times: readonly number[]): readonly number[] {
  for (const unitOf of UNITS) {
    const units = times.map(unitOf);
    const ticks = [...units.keys()].filter((at) => at > 0 && units[at] !== units[at - 1]);
    if (ticks.length <= MOST_TICKS) return ticks;
  }
  return [];
}

/** A part of a long list: from an index on, and up to another one. */
export interface Part {
  readonly from: number;
  readonly to: number;
}

/** How many items are listed at first, and how many more with each step. */
export const LISTED = 100;

export const FIRST_PART: Part = { from: 0, to: LISTED };

/**
 * The part of `count` items that is shown, or one around the item with this index if that is not in it.
 * @param index -1 without one
 */
export function partWith(part: Part, index: number, count: number): Part {
  if (index < 0) return part.from < count ? part : FIRST_PART;
  if (index >= part.from && index < part.to) return part;
  const from = Math.max(0, index - LISTED / 2);
  return { from, to: from + LISTED };
}
