import { afterEach, expect, test, vi } from 'vitest';

const AT = '2026-11-22T16:05:00Z';

/** As a fresh page: formats are kept once they are made. */
async function formatsFor(
  languages: readonly string[],
): Promise<typeof import('../../../src/ui/language/format.ts')> {
  vi.resetModules();
  vi.stubGlobal('navigator', { languages });
  return await import('../../../src/ui/language/format.ts');
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
