import { describe, expect, it } from 'vitest';
import { RequestError } from '../../../src/base/errors.ts';
import { nextRuns, parseSchedule } from '../../../src/schedule/schedule.ts';

const FRIDAY = Date.parse('2026-11-20T12:34:56Z');

function runs(text: string, zone = 'UTC', count = 3): readonly string[] {
  return nextRuns(parseSchedule(text), FRIDAY, zone, count).map((run) =>
    new Date(run).toISOString().slice(0, 16),
  );
}

describe('a schedule', () => {
  it.each([
    ['hourly', 'every hour, on the hour', ['2026-11-20T13:00', '2026-11-20T14:00', '2026-11-20T15:00']],
    ['daily', 'every day at 03:00', ['2026-11-21T03:00', '2026-11-22T03:00', '2026-11-23T03:00']],
    ['weekly', 'every Sunday at 03:00', ['2026-11-22T03:00', '2026-11-29T03:00', '2026-12-06T03:00']],
    [
      'monthly',
      'on the 1st of every month at 03:00',
      ['2026-12-01T03:00', '2027-01-01T03:00', '2027-02-01T03:00'],
    ],
    ['daily at 02:30', 'every day at 02:30', ['2026-11-21T02:30', '2026-11-22T02:30', '2026-11-23T02:30']],
    [
      ' Weekdays  at 18:00',
      'Monday to Friday at 18:00',
      ['2026-11-20T18:00', '2026-11-23T18:00', '2026-11-24T18:00'],
    ],
    [
      'weekends at 9:05',
      'every Saturday and Sunday at 09:05',
      ['2026-11-21T09:05', '2026-11-22T09:05', '2026-11-28T09:05'],
    ],
    ['*/15 * * * *', 'every 15 minutes', ['2026-11-20T12:45', '2026-11-20T13:00', '2026-11-20T13:15']],
    [
      '30 6,18 * * *',
      'every day at 06:30 and 18:30',
      ['2026-11-20T18:30', '2026-11-21T06:30', '2026-11-21T18:30'],
    ],
    [
      '5 * * * mon-fri',
      'every hour at minute 5, mon to fri',
      ['2026-11-20T13:05', '2026-11-20T14:05', '2026-11-20T15:05'],
    ],
    [
      '0 0 29 2 *',
      'on the 29th of February at 00:00',
      ['2028-02-29T00:00', '2032-02-29T00:00', '2036-02-29T00:00'],
    ],
    [
      '0 12 1,15 jan,jul *',
      'on the 1st and the 15th of January and July at 12:00',
      ['2027-01-01T12:00', '2027-01-15T12:00', '2027-07-01T12:00'],
    ],
    [
      '0 4 L * *',
      'at the times of the cron expression "0 4 l * *"',
      ['2026-11-30T04:00', '2026-12-31T04:00', '2027-01-31T04:00'],
    ],
  ])('written as %s is "%s"', (text, words, next) => {
    const spoken = words.replace('mon to fri', 'Monday to Friday');
    expect(parseSchedule(text)).toMatchObject({ text, words: spoken, kind: 'times', periodMs: null });
    expect(runs(text)).toEqual(next);
  });

  it.each([
    ['every 4h', 'every 4 hours', ['2026-11-20T16:34', '2026-11-20T20:34', '2026-11-21T00:34']],
    ['every 30m', 'every 30 minutes', ['2026-11-20T13:04', '2026-11-20T13:34', '2026-11-20T14:04']],
    ['every 1h', 'every hour', ['2026-11-20T13:34', '2026-11-20T14:34', '2026-11-20T15:34']],
    ['Every 1h30m', 'every 1 hour 30 minutes', ['2026-11-20T14:04', '2026-11-20T15:34', '2026-11-20T17:04']],
    ['every 2d', 'every 2 days', ['2026-11-22T12:34', '2026-11-24T12:34', '2026-11-26T12:34']],
  ])('written as %s counts from the last run', (text, words, next) => {
    expect(parseSchedule(text)).toMatchObject({ words, kind: 'interval' });
    expect(runs(text)).toEqual(next);
  });

  it('that is off is never due', () => {
    const off = parseSchedule('off');
    expect(off).toMatchObject({ kind: 'off', words: 'only when asked for' });
    expect(nextRuns(off, FRIDAY, 'UTC')).toEqual([]);
  });

  it('means the times of its zone', () => {
    expect(runs('daily at 02:30', 'Asia/Kathmandu', 1)).toEqual(['2026-11-20T20:45']);
    expect(runs('daily at 02:30', 'America/New_York', 1)).toEqual(['2026-11-21T07:30']);
    // It is Saturday there already.
    expect(runs('weekdays at 01:45', 'Pacific/Kiritimati', 1)).toEqual(['2026-11-22T11:45']);
  });

  it('is shown with its next five runs', () => {
    expect(nextRuns(parseSchedule('hourly'), FRIDAY, 'UTC')).toHaveLength(5);
  });

  it.each([
    ['', 'not a schedule'],
    ['sometimes', 'not a schedule'],
    ['daily 02:30', 'no valid time'],
    ['daily at 24:00', 'no valid time'],
    ['daily at 2:3', 'no valid time'],
    ['daily at 02:30 02:45', 'no valid time'],
    ['daily at', 'no valid time'],
    ['every', 'not a schedule'],
    ['every day', 'not an interval'],
    ['every 30s', 'too short'],
    ['every 400d', 'too long'],
    ['5 minutes', 'five fields'],
  ])('written as "%s" is refused with a hint', (text, said) => {
    let refusal: unknown;
    try {
      parseSchedule(text);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(RequestError);
    expect(refusal).toMatchObject({ code: 'INVALID_SCHEDULE', message: expect.stringContaining(said) });
    expect(refusal instanceof RequestError && refusal.hint).toMatch(/./);
  });

  it('refuses a zone that does not exist', () => {
    expect(() => parseSchedule('daily').next(FRIDAY, 'Europe/Atlantis')).toThrow(
      "'Europe/Atlantis' is not a time zone",
    );
  });
});
