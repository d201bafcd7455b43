import { afterEach, describe, expect, test, vi } from 'vitest';

const AT = '2026-11-22T16:05:00Z';

/** As a fresh page: formats are kept once they are made. */
async function formatsFor(
  languages: readonly string[],
): Promise<typeof import('../../../src/ui/language/format.ts')> {
  vi.resetModules();
  vi.stubGlobal('navigator', { languages });
  return await import('../../../src/ui/language/format.ts');
}

/** With the language that they go by, which is English at first. */
async function inLanguages() {
  const formats = await formatsFor(['en']);
  vi.stubGlobal('document', { documentElement: {} });
  const { useLanguage } = await import('../../../src/ui/language/language.ts');
  return { ...formats, useLanguage };
}

afterEach(() => {
  vi.unstubAllGlobals();
});

test('times are written as in the country of the reader', async () => {
  const american = await formatsFor(['en-US', 'en']);
  expect(american.formatDay(AT)).toBe('Nov 22, 2026');
  const british = await formatsFor(['en-GB', 'en']);
  expect(british.formatDay(AT)).toBe('22 Nov 2026');
});

test('a reader of another language who reads English gets the day before the month', async () => {
  const french = await formatsFor(['fr-FR', 'fr']);
  expect(french.formatDay(AT)).toBe('22 Nov 2026');
});

test('sizes are written as in the language of the page', async () => {
  const { formatBytes, useLanguage } = await inLanguages();
  expect([512, 1.5 * 1024 ** 3].map(formatBytes)).toEqual(['512 B', '1.5 GiB']);
  await useLanguage('de');
  expect([512, 1.5 * 1024 ** 3].map(formatBytes)).toEqual(['512 B', '1,5 GiB']);
  await useLanguage('fr');
  expect([512, 1.5 * 1024 ** 3].map(formatBytes)).toEqual(['512 o', '1,5 Gio']);
});

describe('how long ago something was', () => {
  /** Of November 2026, the 23rd of which is a Monday, in the time zone of the reader. */
  const at = (day: number, hour: number, minute = 0, second = 0): number =>
    new Date(2026, 10, day, hour, minute, second).getTime();
  const month = (year: number, index: number, day: number): number =>
    new Date(year, index, day, 12).getTime();

  test.each([
    ['in this minute', at(25, 10), at(25, 10, 0, 59), 'now', 'jetzt'],
    ['a minute ago', at(25, 10), at(25, 10, 1), '1 minute ago', 'vor 1 Minute'],
    ['nearly an hour ago', at(25, 10), at(25, 10, 59, 40), '1 hour ago', 'vor 1 Stunde'],
    ['in nearly an hour', at(25, 10, 59, 40), at(25, 10), 'in 1 hour', 'in 1 Stunde'],
    ['late the day before', at(24, 23), at(25, 10), '11 hours ago', 'vor 11 Stunden'],
    ['nearly a day ago', at(24, 10), at(25, 9, 50), 'yesterday', 'gestern'],
    ['the day before, long ago', at(24, 8), at(25, 21), 'yesterday', 'gestern'],
    ['the day before yesterday, late', at(23, 23), at(25, 10), '2 days ago', 'vorgestern'],
    ['tomorrow, late', at(25, 23), at(24, 1), 'tomorrow', 'morgen'],
    ['the day after tomorrow, early', at(26, 2), at(24, 22), 'in 2 days', 'übermorgen'],
    ['a week ago', at(18, 12), at(25, 8), '7 days ago', 'vor 7 Tagen'],
    ['29 days ago', month(2026, 9, 27), at(25, 23), '29 days ago', 'vor 29 Tagen'],
    ['two turns of a month ago', month(2026, 10, 30), month(2027, 0, 1), '1 month ago', 'vor 1 Monat'],
    ['a month ago', month(2026, 10, 30), month(2026, 11, 31), '1 month ago', 'vor 1 Monat'],
    ['11 months ago', month(2026, 0, 1), month(2026, 10, 30), '11 months ago', 'vor 11 Monaten'],
    ['nearly a year ago', month(2026, 0, 10), month(2026, 11, 31), '1 year ago', 'vor 1 Jahr'],
    ['two turns of a year ago', month(2025, 11, 31), month(2027, 0, 1), '1 year ago', 'vor 1 Jahr'],
    ['in two years', month(2028, 10, 30), month(2026, 10, 30), 'in 2 years', 'in 2 Jahren'],
  ])('%s', async (_, when, now, inEnglish, inGerman) => {
    const { formatAge, useLanguage } = await inLanguages();
    expect(formatAge(when, now)).toBe(inEnglish);
    await useLanguage('de');
    expect(formatAge(when, now)).toBe(inGerman);
  });

  test.each([
    [45, '45 seconds'],
    [59.7, '1 minute'],
    [90 * 60, '2 hours'],
    [59 * 60 + 40, '1 hour'],
    [23 * 3_600 + 50 * 60, '1 day'],
    [3 * 86_400, '3 days'],
    [29.9 * 86_400, '1 month'],
    [360 * 86_400, '1 year'],
  ])('%d seconds last %s', async (seconds, shown) => {
    const { formatSpan } = await inLanguages();
    expect(formatSpan(seconds)).toBe(shown);
  });
});

test('times that could not be told apart have seconds', async () => {
  const { formatTimesApart } = await formatsFor(['en-GB']);
  const [first, second, other] = ['2026-12-01T00:36:04Z', '2026-12-01T00:36:41Z', '2026-12-01T00:37:00Z'];
  const shown = formatTimesApart([first, second, other, first]);
  expect(shown.get(first)).toMatch(/:36:04$/);
  expect(shown.get(second)).toMatch(/:36:41$/);
  expect(shown.get(other)).toMatch(/\d\d:37$/);
});
