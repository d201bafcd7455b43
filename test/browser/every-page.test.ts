/** Every page of the real agent, for whoever does not see it, has a small screen, wants it dark, or reads another language. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectAccessible, expectToFit, type OpenPage, startChromium } from '../support/chromium.ts';
import { type Demonstration, openDemonstration } from '../support/demonstration.ts';
import { FIRST_SCENES, type Scene, SCENES, settled, TROUBLED_SCENES } from '../support/page-scenes.ts';
import { openPageSite } from '../support/page-site.ts';

const VIEWS = [
  { view: 'light', width: 1_200, height: 850, dark: false, language: 'en' },
  { view: 'dark', width: 1_200, height: 850, dark: true, language: 'en' },
  { view: '390 pixels wide', width: 390, height: 844, dark: false, language: 'en' },
  { view: 'German, 390 pixels wide, dark', width: 390, height: 844, dark: true, language: 'de' },
  { view: 'French, 390 pixels wide', width: 390, height: 844, dark: false, language: 'fr' },
  { view: 'Spanish, 390 pixels wide', width: 390, height: 844, dark: false, language: 'es' },
] as const;

let demonstration: Demonstration;
let failed: string;

beforeAll(async () => {
  demonstration = await openDemonstration({ daysAgo: [2, 1] });
});
afterAll(async () => await demonstration[Symbol.asyncDispose]());

async function speak({ context, page }: OpenPage, language: string): Promise<void> {
  await context.addInitScript(`localStorage.setItem('holdfast-language', '${language}')`);
  await page.reload();
  await page.getByRole('navigation').first().waitFor();
}

async function expectGood<Subject>(
  shown: OpenPage,
  subject: Subject,
  scenes: readonly Scene<Subject>[],
): Promise<void> {
  for (const { name, show } of scenes) {
    await show(shown, subject);
    await settled(shown);
    await expectAccessible(shown.page, name);
    await expectToFit(shown.page, name);
    await expectQuestionsToFit(shown, name);
    expect(await shown.page.locator('h1').count(), name).toBe(1);
    expect(shown.complaints, name).toEqual([]);
  }
}

/** Pixels of the narrowest phones in use. */
const NARROWEST = 360;
/** As long as a button becomes in some language. */
const LONG = ' and everything else that a button may have to say in some language';

/**
 * What buttons ask before they do something that cannot be undone stays within its card: on the narrowest phone as well,
 * and however long its button is.
 */
async function expectQuestionsToFit({ page }: OpenPage, name: string): Promise<void> {
  const size = page.viewportSize() ?? expect.fail('there is no window');
  await page.setViewportSize({ ...size, width: NARROWEST });
  const wide = await page.locator('main details.ask').evaluateAll((questions, more) => {
    const found: string[] = [];
    for (const question of questions) {
      question.toggleAttribute('open', true);
      const added = [...question.querySelectorAll('button')].map((button) => {
        const text = document.createTextNode(more);
        button.append(text);
        return text;
      });
      if (question.clientWidth > (question.parentElement?.clientWidth ?? 0)) found.push(question.textContent);
      for (const text of added) text.remove();
      question.toggleAttribute('open', false);
    }
    return found;
  }, LONG);
  expect(wide, name).toEqual([]);
  await page.setViewportSize(size);
}

test.each(VIEWS)('every page: $view', async ({ view: _view, language, ...size }) => {
  const shown = await demonstration.site.signedIn(size);
  await speak(shown, language);
  await expectGood(shown, demonstration, SCENES);
  expect(await shown.page.locator('html').getAttribute('lang')).toBe(language);
  await shown.page.locator('header button').last().click();
  await shown.page.locator('main.small h1').waitFor();
  await expectAccessible(shown.page, 'signed out');
  await expectToFit(shown.page, 'signed out');
});

test.each(VIEWS)('the first run: $view', async ({ view: _view, language, ...size }) => {
  await using site = await openPageSite(async ({ directory }) => {
    mkdirSync(join(directory, 'Documents'));
    writeFileSync(join(directory, 'Documents', 'letter.txt'), 'Dear Ines,\n');
  });
  const shown = await site.signedIn(size);
  await speak(shown, language);
  await expectGood(shown, site, FIRST_SCENES);
});

test.each(VIEWS)('what went wrong: $view', async ({ view: _view, language, ...size }) => {
  failed ??= await demonstration.harm();
  const shown = await demonstration.site.signedIn(size);
  await speak(shown, language);
  await expectGood(shown, { ...demonstration, failed }, TROUBLED_SCENES);
});

test('a page that is not signed in, and an address that was used before', async () => {
  await using browser = await startChromium();
  for (const { view, ...size } of VIEWS) {
    const shown = await browser.open(size);
    await shown.page.goto(`${demonstration.site.origin}/#code=used`);
    await shown.page.getByRole('heading', { level: 1 }).waitFor();
    await expectAccessible(shown.page, view);
    await expectToFit(shown.page, view);
  }
});
