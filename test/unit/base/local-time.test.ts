import { afterEach, expect, test } from 'vitest';
import { localTime, zonedTime } from '../../../src/base/units.ts';

const before = process.env['TZ'];

afterEach(() => {
  if (before === undefined) delete process.env['TZ'];
  else process.env['TZ'] = before;
});

const at = Date.parse('2026-01-10T23:30:40Z');

test.each([
  ['UTC', '2026-01-10 23:30', '2026-01-10 23:30 UTC'],
  ['Europe/Berlin', '2026-01-11 00:30', '2026-01-11 00:30 UTC+01:00'],
  ['Asia/Kathmandu', '2026-01-11 05:15', '2026-01-11 05:15 UTC+05:45'],
  ['America/St_Johns', '2026-01-10 20:00', '2026-01-10 20:00 UTC-03:30'],
])('a time in the zone %s', (zone, local, zoned) => {
  process.env['TZ'] = zone;
  expect(localTime(at)).toBe(local);
  expect(zonedTime(at)).toBe(zoned);
});
