/** Time zones: converts between instants and the local time that the clock on the wall shows. */
import { RequestError } from '../base/errors.ts';

const SECOND = 1000;
const DAY = 24 * 60 * 60 * SECOND;

/**
 * A "local time" is a number, too: the milliseconds since 1970 of a UTC clock that shows the same time. Within two days
 * at most one clock change is expected.
 */
export interface Zone {
  readonly name: string;
  /** What the clock of the zone shows at an instant. */
  localAt(instant: number): number;
  /** The first instant at which the clock has reached a local time; for a skipped local time, the end of the gap. */
  firstInstantOf(local: number): number;
  /**
   * The instant in (from, to] at which the offset changes; undefined when it does not. `from` and `to` are at most a day apart.
   */
  changeWithin(from: number, to: number): number | undefined;
}

const zones = new Map<string, Zone>();

/** @throws {RequestError} for a name that is not in the time zone database */
export function openZone(name: string): Zone {
  const known = zones.get(name);
  if (known !== undefined) return known;
  const zone = createZone(name);
  zones.set(name, zone);
  return zone;
}

function createZone(name: string): Zone {
  const format = formatOf(name);

  function localAt(instant: number): number {
    const wholeSecond = Math.floor(instant / SECOND) * SECOND;
    const field: Record<string, number> = {};
    for (const { type, value } of format.formatToParts(wholeSecond)) field[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = field;
    return Date.UTC(year, month - 1, day, hour, minute, second) + (instant - wholeSecond);
  }

  const offsetAt = (instant: number): number => localAt(instant) - instant;

  function firstInstantOf(local: number): number {
    // No zone is more than 14 hours from UTC, so the instant lies between these two.
    const before = offsetAt(local - DAY);
    const after = offsetAt(local + DAY);
    const first = local - Math.max(before, after);
    if (offsetAt(first) === local - first) return first;
    const second = local - Math.min(before, after);
    if (offsetAt(second) === local - second) return second;
    return changeBetween(first, second);
  }

  function changeWithin(from: number, to: number): number | undefined {
    return offsetAt(from) === offsetAt(to) ? undefined : changeBetween(from, to);
  }

  /** Requires that the offsets at both ends differ. */
  function changeBetween(from: number, to: number): number {
    const offset = offsetAt(to);
    let [old, changed] = [from, to];
    while (changed - old > 1) {
      const middle = Math.floor((old + changed) / 2);
      if (offsetAt(middle) === offset) changed = middle;
      else old = middle;
    }
    return changed;
  }

  return { name, localAt, firstInstantOf, changeWithin };
}

function formatOf(name: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch (cause) {
    throw new RequestError('INVALID_TIME_ZONE', `'${name}' is not a time zone`, {
      hint: 'Give a name such as Europe/Berlin or UTC, or leave it out for the zone of this machine.',
      cause,
    });
  }
}
