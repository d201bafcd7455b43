/** Getting files back: a folder at any time, files that fill the window, and the result of a restore to hand on. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectAccessible, expectToFit, type OpenPage, tabTo } from '../support/chromium.ts';
import { openPageSite, type PageSite } from '../support/page-site.ts';
import { lakePicture } from '../support/small-picture.ts';

const VIEWS = [
  { view: 'wide', width: 1_280, height: 850, dark: false },
  { view: '390 pixels wide, dark', width: 390, height: 844, dark: true },
] as const;

let site: PageSite;
/** From the oldest on. */
const snapshots: string[] = [];
const home = (...names: string[]): string => join(site.place.directory, ...names);

beforeAll(async () => {
  site = await openPageSite();
  for (const name of ['Documents', 'Single']) mkdirSync(home(name));
  writeFileSync(home('Single', 'only.txt'), 'only');
  writeFileSync(home('Documents', 'letter.txt'), 'first');
  // Neither is in the settings, so there are no backups but those of this test.
  await backUp('Single');
  await backUp();
  mkdirSync(home('Documents', 'Pictures', 'more'), { recursive: true });
  for (const name of ['a.png', 'b.png']) writeFileSync(home('Documents', 'Pictures', name), lakePicture(3));
  writeFileSync(home('Documents', 'Pictures', 'notes.txt'), 'a line of notes\n'.repeat(2_000));
  await backUp();
  writeFileSync(home('Documents', 'letter.txt'), 'second');
  rmSync(home('Documents', 'Pictures', 'b.png'));
  await backUp();
  rmSync(home('Documents', 'Pictures'), { recursive: true });
  await backUp();
});
afterAll(async () => await site[Symbol.asyncDispose]());

async function backUp(name = 'Documents'): Promise<void> {
  const { data } = await site.api('POST', '/backup', { source: home(name) });
  expect(data['status']).toBe('completed');
  if (name === 'Documents') snapshots.push(String(data['snapshot_id']));
}

async function openFolder(shown: OpenPage, path: string, more: Record<string, string> = {}): Promise<void> {
  const query = new URLSearchParams({ source: home('Documents'), path, ...more });
  await site.visit(shown, `/restore?${query}`);
  await shown.page.getByRole('slider').waitFor();
}

const names = async ({ page }: OpenPage): Promise<readonly string[]> =>
  await page.locator('.browse-main [role=gridcell].cell-name').allInnerTexts();

describe.each(VIEWS)('$view', ({ view: _view, ...size }) => {
  test('a folder is gone through in time by keyboard alone', async () => {
    const shown = await site.signedIn(size);
    const { page } = shown;
    await openFolder(shown, home('Documents', 'Pictures'));
    await page.getByText(/^This folder was already gone on \d+ \w+ \d{4}\.$/).waitFor();
    const slider = page.getByRole('slider', { name: 'Point in time' });
    expect([await slider.getAttribute('max'), await slider.inputValue()]).toEqual(['3', '3']);
    expect(await slider.getAttribute('aria-valuetext')).toMatch(/^\d+ \w+ \d{4}, \d\d:\d\d, newest$/);
    await tabTo(page, slider);
    await page.keyboard.press('ArrowLeft');
    await page.getByRole('link', { name: 'a.png' }).waitFor();
    expect(await names(shown)).toEqual([
      expect.stringMatching(/^a\.png\s+deleted since$/),
      expect.stringMatching(/^Folder:\s+more\s+deleted since$/),
      expect.stringMatching(/^notes\.txt\s+deleted since$/),
    ]);
    // The list beside it and the address follow.
    await page.locator(`.days a[aria-current][href*="${snapshots[2]}"]`).waitFor();
    expect(page.url()).toContain(`snapshot=${snapshots[2]}`);
    expect(await slider.evaluate((element) => element === document.activeElement)).toBe(true);
    await expectAccessible(page, 'an older snapshot');
    await expectToFit(page, 'an older snapshot');
    await page.keyboard.press('ArrowLeft');
    await page.getByRole('link', { name: 'b.png' }).waitFor();
    await page.keyboard.press('Home');
    await page.getByText(/^This folder did not exist yet on/).waitFor();
    await expectAccessible(page, 'before the folder');
    await page.keyboard.press('End');
    await page.getByText(/^This folder was already gone on/).waitFor();
    expect(shown.complaints.filter((text) => !text.includes('/entries'))).toEqual([]);
  });

  test('the buttons beside the slider go one snapshot on, and stay when there is none', async () => {
    const shown = await site.signedIn(size);
    const { page } = shown;
    await openFolder(shown, home('Documents'), { snapshot: snapshots[1] ?? '' });
    await page.getByRole('gridcell').getByText('letter.txt').waitFor();
    expect(await names(shown)).toContainEqual(expect.stringMatching(/letter\.txt\s+changed since/));
    const earlier = page.getByRole('button', { name: '‹ Earlier' });
    const later = page.getByRole('button', { name: 'Later ›' });
    await tabTo(page, later);
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toContain(`snapshot=${snapshots[2]}`);
    await expect.poll(async () => (await names(shown)).join()).not.toContain('changed since');
    // The row that is looked at stays, and another folder begins with its first one.
    const grid = page.getByRole('grid');
    await tabTo(page, grid);
    await page.keyboard.press('End');
    await page.keyboard.press('Shift+Tab');
    await tabTo(page, earlier);
    await page.keyboard.press('Enter');
    await expect.poll(async () => (await names(shown)).join()).toContain('changed since');
    expect(await page.locator('.virtual-row.current').innerText()).toContain('letter.txt');
    await tabTo(page, grid);
    await page.keyboard.press('Home');
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'notes.txt' }).waitFor();
    expect(await page.locator('.virtual-row.current').innerText()).toContain('a.png');
    await page.keyboard.press('Backspace');
    await page.getByRole('link', { name: 'letter.txt' }).waitFor();
    expect(await page.locator('.virtual-row.current').innerText()).toContain('Pictures');
    await later.focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toContain(`snapshot=${snapshots[2]}`);
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toContain(`snapshot=${snapshots[3]}`);
    expect(await later.getAttribute('aria-disabled')).toBe('true');
    expect(await later.evaluate((element) => element === document.activeElement)).toBe(true);
    await earlier.click();
    await expect.poll(() => page.url()).toContain(`snapshot=${snapshots[2]}`);
    // A snapshot of the list takes the slider with it.
    await page.locator(`.days a[href*="${snapshots[0]}"]`).click();
    await expect.poll(async () => await page.getByRole('slider').inputValue()).toBe('0');
    expect(shown.complaints).toEqual([]);
  });

  test('files fill the window one after the other, with every button in sight', async () => {
    const shown = await site.signedIn(size);
    const { page } = shown;
    await openFolder(shown, home('Documents', 'Pictures'), { snapshot: snapshots[1] ?? '' });
    await tabTo(page, page.getByRole('grid'));
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.locator('img').waitFor();
    await tabTo(page, dialog.getByRole('button', { name: 'Fill the window' }));
    await page.keyboard.press('Enter');
    const fills = async (what: string): Promise<void> => {
      await expectAccessible(page, what);
      const box = await dialog.boundingBox();
      expect(box?.width, what).toBeGreaterThan(size.width - 40);
      expect(box?.height, what).toBeGreaterThan(size.height - 40);
      for (const one of await dialog.locator('button, a.button').all()) {
        const { x = -1, y = -1, width = 0, height = 0 } = (await one.boundingBox()) ?? {};
        const label = `${what}: ${await one.innerText()}`;
        expect(x >= 0 && x + width <= size.width, label).toBe(true);
        expect(y >= 0 && y + height <= size.height, label).toBe(true);
      }
    };
    await fills('a picture');
    await page.keyboard.press('ArrowRight');
    await dialog.getByRole('heading', { name: 'b.png' }).waitFor();
    await page.keyboard.press('ArrowRight');
    await dialog.getByText('a line of notes').waitFor();
    await fills('a long text');
    expect(await dialog.getByRole('button', { name: 'Next file' }).getAttribute('aria-disabled')).toBe(
      'true',
    );
    await page.keyboard.press('ArrowLeft');
    await dialog.getByRole('heading', { name: 'b.png' }).waitFor();
    await dialog.locator('img').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    // The list goes on where the last file is.
    expect(await page.locator('.virtual-row.current').innerText()).toContain('b.png');
    expect(await page.getByRole('grid').evaluate((element) => element === document.activeElement)).toBe(true);
    expect(shown.complaints).toEqual([]);
  });
});

test('the last snapshot before an alarm is marked', async () => {
  const shown = await site.signedIn();
  const { page } = shown;
  await page.route('**/internal/v1/overview', async (route) => {
    const reply = await route.fetch();
    const { data } = (await reply.json()) as { readonly data: object };
    await route.fulfill({ json: { success: true, data: { ...data, alarms: 1 } } });
  });
  await page.route('**/internal/v1/alarms', async (route) => {
    const items = [{ id: 'a', kind: 'source_empty', snapshot_before: snapshots[1], facts: {} }];
    await route.fulfill({ json: { success: true, data: { items } } });
  });
  await page.reload();
  await openFolder(shown, home('Documents'), { snapshot: snapshots[2] ?? '' });
  // Between that snapshot and the next one.
  await page.locator('.time-track .alarm[d="M1.5 0v1"]').waitFor({ state: 'attached' });
  const slider = page.getByRole('slider');
  expect(await slider.getAttribute('aria-valuetext')).not.toContain('alarm');
  await slider.focus();
  await page.keyboard.press('ArrowLeft');
  await page.getByText('last before an alarm').waitFor();
  expect(await slider.getAttribute('aria-valuetext')).toContain('last before an alarm');
  await expectAccessible(page, 'before an alarm');
  // The page goes on asking for its overview until it is closed.
  await page.unrouteAll({ behavior: 'ignoreErrors' });
});

test('with one snapshot there is no slider', async () => {
  const shown = await site.signedIn();
  await site.visit(shown, `/restore?${new URLSearchParams({ source: home('Single') })}`);
  await shown.page.getByRole('gridcell').getByText('only.txt').waitFor();
  expect(await shown.page.getByRole('slider').count()).toBe(0);
});

test('the last move wins, and nobody waits for the folder of an earlier one', async () => {
  const shown = await site.signedIn();
  const { page } = shown;
  await openFolder(shown, home('Documents', 'Pictures'));
  const given: string[] = [];
  const dropped: string[] = [];
  page.on('requestfailed', (request) => dropped.push(request.url()));
  await page.route('**/entries?*', async (route) => {
    const of = new URL(route.request().url()).searchParams.get('snapshot') ?? '';
    given.push(of);
    if (of === snapshots[2]) await delay(1_500);
    // What was dropped meanwhile cannot be answered.
    await route.continue().catch(() => undefined);
  });
  await page.getByRole('slider').focus();
  await page.keyboard.press('ArrowLeft');
  await expect.poll(() => given).toContain(snapshots[2]);
  await page.keyboard.press('ArrowLeft');
  await page.getByRole('link', { name: 'b.png' }).waitFor();
  await delay(1_800);
  expect(await names(shown)).toContainEqual(expect.stringContaining('b.png'));
  expect(dropped.filter((url) => url.includes(snapshots[2] ?? ''))).toHaveLength(1);
  // Who goes all the way at once loads no folder on the way.
  given.length = 0;
  await page.getByRole('slider').evaluate((input: HTMLInputElement) => {
    for (const value of ['2', '3', '2', '1', '0']) {
      input.value = value;
      input.dispatchEvent(new InputEvent('input', { bubbles: true }));
    }
  });
  await page.getByText(/^This folder did not exist yet on/).waitFor();
  expect(new Set(given)).toEqual(new Set([snapshots[0]]));
});

test('thousands of snapshots are reached, and only some of them listed', async () => {
  const shown = await site.signedIn();
  const { page } = shown;
  const { data } = await site.api('GET', `/snapshots/${snapshots[3]}`);
  const all = Array.from({ length: 2_345 }, (_, i) => ({
    ...data,
    id: i === 0 ? snapshots[3] : i.toString(16).padStart(64, '0'),
    created_at: new Date(Date.parse(String(data['created_at'])) - i * 3_600_000).toISOString(),
  }));
  await page.route('**/snapshots?*', async (route) => {
    const { searchParams } = new URL(route.request().url());
    const from = Number(searchParams.get('cursor') ?? 0);
    const to = from + Number(searchParams.get('limit'));
    const next = to < all.length ? String(to) : null;
    await route.fulfill({ json: { success: true, data: { items: all.slice(from, to), next_cursor: next } } });
  });
  await page.route('**/entries?*', async (route) => {
    await route.fulfill({ json: { success: true, data: { items: [], total: 0 } } });
  });
  await openFolder(shown, home('Documents'));
  const slider = page.getByRole('slider');
  await expect.poll(async () => await slider.getAttribute('max'), { timeout: 60_000 }).toBe('2344');
  expect(await slider.inputValue()).toBe('2344');
  expect(await page.locator('.days li').count()).toBe(100);
  await slider.focus();
  await page.keyboard.press('Home');
  const current = page.locator('.days a[aria-current]');
  const oldest = String(all.at(-1)?.id);
  await expect.poll(async () => await current.getAttribute('href')).toContain(oldest);
  expect(await page.locator('.days li').count()).toBeLessThanOrEqual(100);
  const isInView = async (): Promise<boolean> =>
    await current.evaluate((element) => {
      const box = element.closest('.days')?.getBoundingClientRect();
      const { top, bottom } = element.getBoundingClientRect();
      return box !== undefined && top >= box.top && bottom <= box.bottom;
    });
  expect(await isInView()).toBe(true);
  await page.getByRole('button', { name: 'Newer snapshots' }).click();
  await expect.poll(async () => await page.locator('.days li').count()).toBeGreaterThan(100);
});

test('the result of a restore is copied as text, and what failed is downloaded as a table', async () => {
  const target = home('back');
  // A folder with something in it is where the letter should go.
  mkdirSync(join(target, home('Documents'), 'letter.txt'), { recursive: true });
  writeFileSync(join(target, home('Documents'), 'letter.txt', 'in the way'), '');
  const { data } = await site.api('POST', '/restore', {
    snapshot_id: snapshots[1],
    paths: [home('Documents')],
    target,
    options: { overwrite: 'always' },
  });
  const shown = await site.signedIn();
  const { page, context } = shown;
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await site.visit(shown, `/restore/${String(data['id'])}`);
  const copy = page.getByRole('button', { name: 'Copy as text' });
  await copy.waitFor();
  await expectAccessible(page, 'the result');
  await tabTo(page, copy);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  const text = await page.evaluate(async () => await navigator.clipboard.readText());
  expect(text).toMatch(/Restored: 3 files, /);
  expect(text).toMatch(/From the snapshot of \d+ \w+ \d{4}/);
  expect(text).toContain(`Restored to: ${target}\n`);
  expect(text).toMatch(/Not restored:\n- .*letter\.txt: .+/);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download what failed as CSV' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe(`${String(data['id'])}.csv`);
  const csv = readFileSync(await download.path(), 'utf8');
  expect(csv).toMatch(/^\u{FEFF}"Path","Reason","Code"\r\n".*letter\.txt",".+","\w+"\r\n$/u);
  expect(shown.complaints).toEqual([]);
});
