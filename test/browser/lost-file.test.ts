/** Deleted, spoiled and encrypted files: what brings them back is in sight on a wide screen, and on a phone. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectAccessible, expectToFit } from '../support/chromium.ts';
import { openPageSite, type PageSite } from '../support/page-site.ts';

const VIEWS = [
  { view: 'wide', width: 1_200, height: 850, dark: false },
  { view: '390 pixels wide', width: 390, height: 844, dark: false },
] as const;

let site: PageSite;
const home = (...names: string[]): string => join(site.place.directory, ...names);
const FOLDER = [
  'Documents',
  'Correspondence with the insurance company',
  'Letters of the first half of the year',
];
const letter = (n: number): string => `letters-${String(n).padStart(2, '0')}-to-the-bank.txt`;

beforeAll(async () => {
  site = await openPageSite(({ directory, state }) => {
    mkdirSync(state, { recursive: true, mode: 0o700 });
    const sources = ['etc', 'Documents'].map((name) => ({
      path: join(directory, name),
      schedule: 'off',
      watch: false,
    }));
    writeFileSync(join(state, 'config.json'), JSON.stringify({ sources }), { mode: 0o600 });
    for (const { path } of sources) mkdirSync(path, { recursive: true });
    mkdirSync(join(directory, ...FOLDER), { recursive: true });
    for (let n = 0; n < 40; n += 1)
      writeFileSync(join(directory, ...FOLDER, letter(n)), `Dear company, this is letter ${n}.\n`.repeat(30));
    writeFileSync(join(directory, 'etc', 'hosts'), 'localhost');
    return Promise.resolve();
  });
  await backUp('Documents');
  for (const text of ['second', 'third']) {
    // In another second, and of the same minute most of the time.
    await delay(1_100);
    writeFileSync(home(...FOLDER, letter(7)), text.repeat(50));
    await backUp('Documents');
  }
  rmSync(home(...FOLDER, letter(1)));
  await backUp('Documents');
  await backUp('etc');
});
afterAll(async () => await site[Symbol.asyncDispose]());

async function backUp(name: string): Promise<void> {
  const { data } = await site.api('POST', '/backup', { source: home(name) });
  expect(data['status']).toBe('completed');
}

/** Whether all of it can be seen without moving anything sideways. */
async function expectInSight(locator: Locator, width: number): Promise<void> {
  await locator.waitFor();
  const box = await locator.boundingBox();
  expect(box).not.toBeNull();
  expect(box?.x).toBeGreaterThanOrEqual(0);
  expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(width);
}

async function isCut(locator: Locator): Promise<boolean> {
  return await locator.evaluate((element) => element.scrollWidth > element.clientWidth);
}

describe.each(VIEWS)('$view', ({ view: _view, ...size }) => {
  test('the page begins with the largest source, and a deleted file is put back in four steps', async () => {
    const shown = await site.signedIn(size);
    const { page } = shown;
    await site.visit(shown, '/');
    await page.getByRole('link', { name: 'Get a file back' }).click();
    await page.getByLabel('Source').waitFor();
    expect(await page.getByLabel('Source').locator('option:checked').innerText()).toBe('Documents');
    await page.getByRole('button', { name: 'Deleted files' }).click();
    await page.getByRole('link', { name: 'open its folder in the backup' }).waitFor();
    const button = page.getByRole('button', { name: 'Put it back' });
    await expectInSight(button, size.width);
    await expectToFit(page, 'deleted files');
    await expectAccessible(page, 'deleted files');
    await button.click();
    await page.getByRole('button', { name: 'Restore now' }).click();
    await page.getByRole('heading', { name: 'Restored' }).waitFor();
    expect(existsSync(home(...FOLDER, letter(1)))).toBe(true);
    rmSync(home(...FOLDER, letter(1)));
  });

  test('a deleted file that a search finds can be read like the others', async () => {
    const shown = await site.signedIn(size);
    const { page } = shown;
    await site.visit(shown, `/restore?${new URLSearchParams({ q: 'letters-0' })}`);
    const row = page.getByRole('row').filter({ hasText: letter(1) });
    await row.getByText('deleted', { exact: true }).waitFor();
    const name = row.getByRole('link', { name: letter(1) });
    expect((await name.boundingBox())?.width).toBeGreaterThan(130);
    if (size.width > 1_000) expect(await isCut(name)).toBe(false);
    expect(await row.locator('.cut-front').innerText()).toContain(FOLDER.at(-1));
    await expectToFit(page, 'a search');
  });

  test('versions are told apart, and one of them takes the place of the present one', async () => {
    const shown = await site.signedIn(size);
    const { page } = shown;
    const query = new URLSearchParams({ path: home(...FOLDER, letter(7)), source: home('Documents') });
    await site.visit(shown, `/restore/versions?${query}`);
    const buttons = page.getByRole('button', { name: /^Restore the version of/ });
    await buttons.first().waitFor();
    const times = await page.locator('tbody tr td:nth-child(3) time').allInnerTexts();
    expect(times).toHaveLength(3);
    expect(new Set(times).size).toBe(3);
    await expectInSight(buttons.first(), size.width);
    await buttons.last().click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByRole('radio', { name: 'Replace if different' }).isChecked()).toBe(true);
    await dialog.getByRole('button', { name: 'Next' }).click();
    await dialog.getByText('1 existing file would be replaced.').waitFor();
    await dialog.getByRole('button', { name: 'Restore now' }).click();
    await page.getByRole('heading', { name: 'Restored' }).waitFor();
    expect(readFileSync(home(...FOLDER, letter(7)), 'utf8')).toContain('this is letter 7');
    writeFileSync(home(...FOLDER, letter(7)), 'third'.repeat(50));
  });
});

describe('after ransomware', () => {
  beforeAll(async () => {
    for (let n = 2; n < 40; n += 1) writeFileSync(home(...FOLDER, letter(n)), randomBytes(900));
    await backUp('Documents');
  });

  test.each(VIEWS)(
    '$view: the snapshot to restore is marked, and nothing is called good',
    async ({ view: _view, ...size }) => {
      const shown = await site.signedIn(size);
      const { page } = shown;
      await site.visit(shown, '/');
      await page.getByText('looks damaged').waitFor();
      await page.getByText('The newest backups were made after what the alarm is about').waitFor();
      await expectToFit(page, 'the overview');
      await site.visit(shown, '/alarms');
      const marked = page.getByRole('row').filter({ hasText: 'Last one before the damage' });
      await marked.waitFor();
      // All backups of this hour but the last one are good.
      expect(await page.locator('tbody tr').first().innerText()).toContain('Last one before the damage');
      expect(await marked.innerText()).toContain('39');
      const button = page.getByRole('button', { name: /^Restore/ });
      await expectInSight(button, size.width);
      await expectToFit(page, 'the alarm');
      await expectAccessible(page, 'the alarm');
      await button.click();
      const dialog = page.getByRole('dialog');
      expect(await dialog.getByRole('radio', { name: 'Replace if different' }).isChecked()).toBe(true);
      await dialog.getByRole('button', { name: 'Next' }).click();
      await dialog.getByText('38 existing files would be replaced.').waitFor();
    },
  );
});
