import { getTasks } from 'node-cron';
import { describe, expect, it } from 'vitest';
import { RequestError } from '../../../src/base/errors.ts';
import { parseCron } from '../../../src/schedule/cron.ts';

/** Days of a month that match, from 1. */
function daysOf(expression: string, year: number, month: number): readonly number[] {
  const { matchesDay } = parseCron(expression);
  const last = new Date(Date.UTC(year, month, 0)).getUTCDate();
  return Array.from({ length: last }, (_, index) => index + 1).filter((day) => matchesDay(year, month, day));
}

describe('the fields of a cron expression', () => {
  it('give the minutes and hours in rising order, each once', () => {
    expect(parseCron('*/20,5,0 8-10,9 * * *')).toMatchObject({
      minutes: [0, 5, 20, 40],
      hours: [8, 9, 10],
    });
    expect(parseCron('  0   22-2  *  *  * ')).toMatchObject({
      expression: '0 22-2 * * *',
      hours: [0, 1, 2, 22, 23],
    });
  });

  it('take names of months and days, and Sunday as 0 and 7', () => {
    expect(parseCron('0 0 * jan,dec *').months).toEqual([1, 12]);
    // November 2026 begins on a Sunday.
    expect(daysOf('0 0 * * sun', 2026, 11)).toEqual([1, 8, 15, 22, 29]);
    expect(daysOf('0 0 * * 7', 2026, 11)).toEqual([1, 8, 15, 22, 29]);
    expect(daysOf('0 0 * * fri-mon', 2026, 11).slice(0, 5)).toEqual([1, 2, 6, 7, 8]);
  });

  it('are satisfied by either of day of month and day of week when both are restricted', () => {
    expect(daysOf('0 0 13 * fri', 2026, 11)).toEqual([6, 13, 20, 27]);
    expect(daysOf('0 0 2 * fri', 2026, 11)).toEqual([2, 6, 13, 20, 27]);
    // A star, with a step or without, restricts nothing.
    expect(daysOf('0 0 */10 * fri', 2026, 11)).toEqual([]);
    expect(daysOf('0 0 */10 * sat', 2026, 11)).toEqual([21]);
  });

  it('take a day that the month never has where a day of the week will do', () => {
    const { matchesDay } = parseCron('0 0 31 2 1');
    expect(matchesDay(2026, 2, 2)).toBe(true);
    expect(matchesDay(2026, 2, 3)).toBe(false);
  });

  it('know the last day, the nearest working day and the nth day of the week', () => {
    expect(daysOf('0 0 l * *', 2028, 2)).toEqual([29]);
    expect(daysOf('0 0 1w * *', 2026, 11)).toEqual([2]);
    expect(daysOf('0 0 * * 1#2', 2026, 11)).toEqual([9]);
    expect(daysOf('0 0 * * 5l', 2026, 11)).toEqual([27]);
  });

  it.each([
    ['0 3 * *', 'five fields'],
    ['0 0 3 * * *', 'five fields'],
    ['@daily', 'five fields'],
    ['61 3 * * *', '"61" (minute'],
    ['0 24 * * *', '"24" (hour'],
    ['0 3 32 * *', '"32" (day of month'],
    ['0 3 * 13 *', '"13" (month'],
    ['0 3 * * 8', '"8" (day of week'],
    ['*/0 3 * * *', '"*/0" (minute'],
    ['0;3 3 * * *', 'mean nothing'],
    ['0 3 30 2 *', 'no day that exists'],
    ['0 3 30w 2 *', 'no day that exists'],
    ['0 0 31 2 *', 'no day that exists'],
    ['0 0 30,31 2 *', 'no day that exists'],
    ['0 0 32 2 *', 'is wrong at "32" (day of month, 1 to 31)'],
    ['0 0 1 13 *', 'is wrong at "13" (month, 1 to 12 or jan to dec)'],
  ])('are refused as %s, saying where', (expression, said) => {
    expect(() => parseCron(expression)).toThrow(RequestError);
    expect(() => parseCron(expression)).toThrow(said);
  });

  it('leave nothing behind in the list of tasks that node-cron keeps', () => {
    const before = getTasks().size;
    parseCron('0 3 * * 1-5');
    expect(getTasks().size).toBe(before);
  });
});

describe('a cron expression that nobody would write', () => {
  // node-cron writes every number of a range out before it looks at them: seven digits took 3.4 s.
  it.each(['0-99999999 * * * *', '0 0 1-31 * 1-555555555', '*/10000 * * * *'])(
    '%s is refused at once',
    (text) => {
      const started = process.cpuUsage();
      expect(() => parseCron(text)).toThrow(/no number has so many digits/);
      expect(process.cpuUsage(started).user).toBeLessThan(500_000);
    },
  );

  it('is refused when it is longer than any that means something', () => {
    expect(() => parseCron(`${'0,'.repeat(100_000)}0 * * * *`)).toThrow(/is too long/);
    const all = Array.from({ length: 60 }, (_, minute) => minute).join(',');
    expect(parseCron(`${all} 0-23 1-31 1-12 *`).minutes).toHaveLength(60);
  });
});
