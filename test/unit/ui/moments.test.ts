import { expect, test } from 'vitest';
import { FIRST_PART, partWith, ticksOf } from '../../../src/ui/pages/restore/moments.ts';

const at = (year: number, month: number, day: number, hour = 12): number =>
  new Date(year, month - 1, day, hour).getTime();

test('days begin where a mark is', () => {
  const times = [
    at(2026, 3, 1, 8),
    at(2026, 3, 1, 9),
    at(2026, 3, 2, 8),
    at(2026, 3, 5, 8),
    at(2026, 3, 5, 9),
  ];
  expect(ticksOf(times)).toEqual([2, 3]);
  expect(ticksOf(times.slice(0, 2))).toEqual([]);
});

test('many days have a mark for each month, and many months for each year', () => {
  const daily = Array.from({ length: 100 }, (_, i) => at(2026, 1, 1 + i));
  expect(ticksOf(daily)).toEqual([31, 59, 90]);
  const monthly = Array.from({ length: 60 }, (_, i) => at(2020, 1 + i, 1));
  expect(ticksOf(monthly)).toEqual([12, 24, 36, 48]);
  expect(ticksOf(Array.from({ length: 60 }, (_, i) => at(1900 + i, 1, 1)))).toEqual([]);
});

test('the list shows its beginning, and follows to what is chosen elsewhere', () => {
  expect(partWith(FIRST_PART, 0, 5_000)).toEqual(FIRST_PART);
  expect(partWith(FIRST_PART, 99, 5_000)).toEqual(FIRST_PART);
  expect(partWith(FIRST_PART, 100, 5_000)).toEqual({ from: 50, to: 150 });
  expect(partWith({ from: 4_000, to: 4_100 }, 20, 5_000)).toEqual(FIRST_PART);
  // What is chosen is not in the list: it stays, unless it has become too short.
  expect(partWith({ from: 400, to: 500 }, -1, 5_000)).toEqual({ from: 400, to: 500 });
  expect(partWith({ from: 400, to: 500 }, -1, 3)).toEqual(FIRST_PART);
});
