import { expect, test } from 'vitest';
import { expectedEvery } from '../../../src/daemon/partner-membership.ts';
import { parseSchedule } from '../../../src/schedule/schedule.ts';

const NOW = Date.UTC(2026, 10, 22, 12);

test.each([
  [['off'], null],
  [[], null],
  [['every 4h'], 14_400],
  [['hourly'], 3_600],
  [['daily at 02:30'], 86_400],
  [['weekly'], 604_800],
  // From Friday to Monday.
  [['weekdays'], 3 * 86_400],
  // The night, and the weekend.
  [['*/30 9-17 * * *'], 15.5 * 3_600],
  [['0 9 * * 1-5'], 3 * 86_400],
  [['monthly'], 31 * 86_400],
  [['weekly', 'off', 'daily'], 86_400],
])('%j is expected every %s seconds', (texts, seconds) => {
  expect(expectedEvery(texts.map(parseSchedule), NOW, 'UTC')).toBe(seconds);
});

test('stays within what the interface takes', () => {
  expect(expectedEvery([parseSchedule('every 366d')], NOW, 'UTC')).toBe(31_622_400);
  expect(expectedEvery([parseSchedule('* * * * *')], NOW, 'UTC')).toBe(60);
});

test('counts the change of the clock', () => {
  const before = Date.UTC(2026, 9, 20);
  expect(expectedEvery([parseSchedule('daily at 03:00')], before, 'Europe/Berlin')).toBe(25 * 3_600);
});
