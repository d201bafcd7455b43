/**
 * Schedules against a model that knows no time zone rules: it looks at the clock on the wall of each single minute, as
 * Intl shows it, and applies the rules of src/schedule/occurrences.ts word by word.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextRuns, parseSchedule } from '../../src/schedule/schedule.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Around each change of the clock. */
const BEFORE = 2 * DAY;
const AFTER = 2 * DAY;

/** With the range of years in which changes are taken. */
const ZONES = [
  ['UTC', 2024, 2026],
  ['Europe/Berlin', 2024, 2026],
  ['America/New_York', 2024, 2026],
  ['Australia/Lord_Howe', 2024, 2026],
  ['America/Sao_Paulo', 2016, 2019],
  ['Asia/Kathmandu', 1985, 1986],
  ['Africa/Cairo', 2023, 2025],
  ['Africa/Casablanca', 2024, 2025],
  ['Antarctica/Troll', 2024, 2025],
  ['Pacific/Apia', 2011, 2012],
] as const;

/** What the clock on the wall shows. */
interface Wall {
  /** 0 is Sunday. */
  readonly weekday: number;
  readonly hour: number;
  readonly minute: number;
  /** Minutes of the calendar since 1970, for telling a jump. */
  readonly count: number;
}

interface Window {
  readonly zone: string;
  /** Of the first minute. */
  readonly from: number;
  readonly walls: readonly Wall[];
}

// ---- The clock on the wall -----------------------------------------------------------------------------------

function wallReader(zone: string): (instant: number) => Wall {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' });
  return (instant) => {
    // 2026-03-29 02:30
    const [, year, month, day, hour, minute] =
      /(\d+)-(\d+)-(\d+) (\d+):(\d+)/.exec(format.format(instant)) ?? [];
    const midnight = Date.UTC(Number(year), Number(month) - 1, Number(day));
    return wallOf(midnight / MINUTE + Number(hour) * 60 + Number(minute));
  };
}

function wallOf(count: number): Wall {
  const date = new Date(count * MINUTE);
  return { weekday: date.getUTCDay(), hour: date.getUTCHours(), minute: date.getUTCMinutes(), count };
}

/** Days around every change of a zone's clock, and around one ordinary day. */
function windowsOf(zone: string, firstYear: number, lastYear: number): readonly Window[] {
  const read = wallReader(zone);
  const centres = [Date.UTC(firstYear, 6, 10)];
  const ahead = (instant: number): number => read(instant).count * MINUTE - instant;
  for (let instant = Date.UTC(firstYear, 0, 1); instant < Date.UTC(lastYear + 1, 0, 1); instant += HOUR) {
    if (ahead(instant) !== ahead(instant + HOUR)) centres.push(instant);
  }
  return centres.map((centre) => {
    const from = centre - BEFORE;
    const length = (BEFORE + AFTER) / MINUTE;
    return { zone, from, walls: Array.from({ length }, (_, index) => read(from + index * MINUTE)) };
  });
}

const windows = ZONES.flatMap(([zone, first, last]) => windowsOf(zone, first, last));

// ---- The model -----------------------------------------------------------------------------------------------

interface Times {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly weekdays: readonly number[];
}

function matches({ minutes, hours, weekdays }: Times, { minute, hour, weekday }: Wall): boolean {
  return minutes.includes(minute) && hours.includes(hour) && weekdays.includes(weekday);
}

/** All runs of the window. */
function modelRuns(times: Times, { from, walls }: Window): readonly number[] {
  const everyHour = times.hours.length === 24;
  const runs: number[] = [];
  /** The latest time that the wall has shown so far: all up to it is dealt with. */
  let shown = (walls[0]?.count ?? 0) - 1;
  for (const [index, wall] of walls.entries()) {
    let due = matches(times, wall) && (everyHour || wall.count > shown);
    if (!everyHour) {
      for (let count = shown + 1; count < wall.count; count += 1) due ||= matches(times, wallOf(count));
    }
    shown = Math.max(shown, wall.count);
    if (due) runs.push(from + index * MINUTE);
  }
  return runs;
}

// ---- Random schedules ----------------------------------------------------------------------------------------

function listOf(max: number, maxLength: number): fc.Arbitrary<readonly number[]> {
  return fc.uniqueArray(fc.integer({ min: 0, max }), { minLength: 1, maxLength });
}

const allHours = Array.from({ length: 24 }, (_, hour) => hour);
const allDays = [0, 1, 2, 3, 4, 5, 6];
const times: fc.Arbitrary<Times> = fc.record({
  minutes: fc.oneof(listOf(59, 4), fc.constant([0, 15, 30, 45]), fc.constant([0])),
  // Most changes of clocks are in the early morning and at midnight.
  hours: fc.oneof(
    { weight: 4, arbitrary: listOf(3, 4) },
    { weight: 1, arbitrary: listOf(23, 6) },
    { weight: 2, arbitrary: fc.constant(allHours) },
  ),
  weekdays: fc.oneof({ weight: 3, arbitrary: fc.constant(allDays) }, { weight: 1, arbitrary: listOf(6, 6) }),
});

function expressionOf({ minutes, hours, weekdays }: Times): string {
  const field = (values: readonly number[], all: number): string =>
    values.length === all ? '*' : values.join(',');
  return `${field(minutes, 60)} ${field(hours, 24)} * * ${field(weekdays, 7)}`;
}

/** 5,000 with HOLDFAST_LONG=1. */
const RUNS = process.env['HOLDFAST_LONG'] === '1' ? 5_000 : 500;

describe('a schedule near changes of the clock', () => {
  it('covers gaps and repetitions of every kind', () => {
    const jumps = windows.flatMap(({ walls }) =>
      walls.slice(1).map((wall, index) => wall.count - (walls[index]?.count ?? 0)),
    );
    // Gaps of 30 and 60 minutes, two hours and a day; clocks put back by 30 and 60 minutes and two hours.
    expect([...new Set(jumps)].sort((a, b) => a - b)).toEqual([-119, -59, -29, 1, 16, 31, 61, 121, 1441]);
  });

  it('has the runs of the minute-by-minute model', () => {
    let compared = 0;
    fc.assert(
      fc.property(
        times,
        fc.constantFrom(...windows),
        fc.integer({ min: -1, max: (BEFORE * 1.5) / 1000 }),
        (times, window, seconds) => {
          const after = window.from + BEFORE / 2 + seconds * 1000;
          const expected = modelRuns(times, window).filter((run) => run > after);
          const found = nextRuns(parseSchedule(expressionOf(times)), after, window.zone, expected.length);
          expect(found.map((run) => new Date(run).toISOString())).toEqual(
            expected.map((run) => new Date(run).toISOString()),
          );
          compared += expected.length;
        },
      ),
      { numRuns: RUNS },
    );
    expect(compared).toBeGreaterThan((RUNS * 20) / 3);
  });

  it('gives the same runs whatever instant it is asked from', () => {
    fc.assert(
      fc.property(
        times,
        fc.constantFrom(...windows),
        fc.array(fc.integer({ min: 0, max: BEFORE + AFTER }), { minLength: 5, maxLength: 5 }),
        (times, { zone, from }, offsets) => {
          const schedule = parseSchedule(expressionOf(times));
          for (const offset of offsets) {
            const next = schedule.next(from + offset, zone);
            if (next === null) throw new Error('it is due every week');
            expect(next).toBeGreaterThan(from + offset);
            // Nothing in between, and itself found from just before.
            expect(schedule.next(next - 1, zone)).toBe(next);
            expect(schedule.next(Math.floor((from + offset + next) / 2), zone)).toBe(next);
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('keeps an interval the same length everywhere', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 600 }),
        fc.constantFrom(...windows),
        (minutes, { zone, from }) => {
          const runs = nextRuns(parseSchedule(`every ${minutes}m`), from, zone, 20);
          expect(runs).toEqual(
            Array.from({ length: 20 }, (_, index) => from + (index + 1) * minutes * MINUTE),
          );
        },
      ),
      { numRuns: 100 },
    );
  });
});
