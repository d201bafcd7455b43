import { afterEach, describe, expect, test, vi } from 'vitest';
import { overviewOnPage } from '../../support/overview-on-page.ts';
import { settingsOnPage } from '../../support/settings-on-page.ts';
import { type SmallPage, smallPage } from '../../support/small-document.ts';

const TOPIC = 'notices.ntfy.url';
const TOKEN = 'notices.ntfy.token';

/** Scripts are compiled when they are first asked for, which takes seconds where much else runs. */
const PATIENCE = { timeout: 30_000, interval: 20 };

afterEach(() => {
  vi.unstubAllGlobals();
});

/** The whole page, as it begins, with notices to ntfy in its settings. */
async function notifications(): Promise<SmallPage> {
  settingsOnPage(
    { notices: { ntfy: { url: 'https://ntfy.sh/ana' } } },
    { '/overview': overviewOnPage('2026-11-22T16:05:00Z'), '/session': {} },
  );
  location.hash = '#/settings/notifications';
  vi.stubGlobal('navigator', { languages: ['en'] });
  vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => undefined });
  const page = await smallPage(null);
  vi.resetModules();
  await import('../../../src/ui/main.tsx');
  // The script of the settings is fetched when it is shown.
  await vi.waitFor(async () => {
    await page.settle();
    page.field(TOPIC);
  }, PATIENCE);
  return page;
}

async function speak(page: SmallPage, language: string): Promise<void> {
  const [languages] = page.all('select');
  if (languages === undefined) throw new Error('there is no choice of languages');
  await page.choose(languages, language);
  await vi.waitFor(async () => {
    await page.settle();
    expect(page.button('Abmelden')).toBeDefined();
  }, PATIENCE);
}

describe('what is not saved yet', () => {
  test('is still there in another language', async () => {
    using page = await notifications();
    await page.type(page.field(TOPIC), 'https://ntfy.sh/other');
    await page.type(page.field(TOKEN), 'tk_secret');
    await speak(page, 'de');
    expect(page.button('Speichern')).toBeDefined();
    expect(page.text).not.toContain('Sign out');
    expect(page.field(TOPIC).value).toBe('https://ntfy.sh/other');
    expect(page.field(TOKEN).value).toBe('tk_secret');
  });

  test('is asked for before somebody signs out', async () => {
    using page = await notifications();
    await page.type(page.field(TOKEN), 'tk_secret');
    await page.press(page.button('Sign out'));
    expect(page.text).toContain('Leave without saving?');
    await page.press(page.button('Stay on this page'));
    expect(page.text).not.toContain('Leave without saving?');
    expect(page.field(TOKEN).value).toBe('tk_secret');
    await page.press(page.button('Sign out'));
    await page.press(page.button('Leave without saving'));
    expect(page.text).toContain('You are not signed in');
  });
});

test('signing out asks nothing where all is saved', async () => {
  using page = await notifications();
  await page.press(page.button('Sign out'));
  expect(page.text).toContain('You are not signed in');
});
