/** What else a person does on the pages, each by mouse and by keyboard alone, with what the agent makes of it. */
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OpenPage } from '../support/chromium.ts';
import { jsonLines } from '../support/cli.ts';
import { startConsoleProgram, type ConsoleProgram } from '../support/console-program.ts';
import { type Hands, keyboard, mouse } from '../support/hands.ts';
import { openPageSite, type PageSite } from '../support/page-site.ts';

const BY = [
  { by: 'mouse', handsOf: (): Hands => mouse() },
  { by: 'keyboard', handsOf: ({ page }: OpenPage): Hands => keyboard(page) },
] as const;

let site: PageSite;
beforeAll(async () => {
  site = await openPageSite(async ({ directory }) => {
    for (const name of ['Letters', 'Pictures', 'Notes']) mkdirSync(join(directory, name));
    writeFileSync(join(directory, 'Letters', 'one.txt'), 'one');
    writeFileSync(join(directory, 'Pictures', 'two.txt'), 'two');
    writeFileSync(join(directory, 'Notes', 'three.txt'), 'three');
  });
  await site.command(['sources', 'add', join(site.place.directory, 'Letters')]);
  await backUp();
});
afterAll(async () => await site[Symbol.asyncDispose]());

async function backUp(): Promise<unknown> {
  const source = join(site.place.directory, 'Letters');
  return (await site.api('POST', '/backup', { source })).data['status'];
}

const config = (): string => readFileSync(join(site.place.state, 'config.json'), 'utf8');

describe.each(BY)('by $by', ({ by, handsOf }) => {
  test('backups are paused for an hour, and resumed', async () => {
    const shown = await site.signedIn();
    const hands = handsOf(shown);
    const { page } = shown;
    await hands.press(page.getByRole('button', { name: 'Pause…' }));
    await hands.press(page.getByRole('button', { name: 'For an hour' }));
    await page
      .getByText(/Backups are paused until/)
      .first()
      .waitFor();
    expect((await site.api('GET', '/status')).data['status']).toBe('paused');
    await hands.press(page.getByRole('button', { name: 'Resume' }).first());
    await page.getByRole('heading', { level: 1, name: /^Protected/ }).waitFor();
    expect((await site.api('GET', '/status')).data['status']).toBe('ok');
    expect(shown.complaints).toEqual([]);
  });

  test('an alarm is seen from every page, looked at and acknowledged', async () => {
    const letters = join(site.place.directory, 'Letters');
    for (const name of readdirSync(letters)) rmSync(join(letters, name));
    expect(await backUp()).toBe('failed');
    const shown = await site.signedIn();
    const hands = handsOf(shown);
    const { page } = shown;
    await site.visit(shown, '/settings/account');
    await page.getByText('1 alarm needs your attention.').waitFor();
    await hands.press(page.getByRole('link', { name: 'View alarms' }));
    await page.getByRole('heading', { level: 1, name: 'Alarms' }).waitFor();
    await page.getByText('This source had files, and now has none.').waitFor();
    await hands.press(page.getByText('Acknowledge…'));
    await hands.press(page.getByRole('button', { name: 'This is what I intended' }));
    await expect
      .poll(async () => jsonLines({ stdout: await site.command(['alarms', '--json']) }).length)
      .toBe(0);
    writeFileSync(join(letters, 'one.txt'), 'one');
    expect(await backUp()).toBe('completed');
    expect(shown.complaints).toEqual([]);
  });

  test('a source is added in the settings, with what is left out of it, and removed', async () => {
    const shown = await site.signedIn();
    const hands = handsOf(shown);
    const { page } = shown;
    const added = join(site.place.directory, by === 'mouse' ? 'Pictures' : 'Notes');
    await site.visit(shown, '/settings/sources');
    await hands.type(page.getByLabel('Folder or file'), added);
    await hands.press(page.getByRole('button', { name: 'Next', exact: true }));
    await hands.press(page.getByRole('button', { name: 'Save' }));
    await expect.poll(config).toContain(added);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await expect.poll(async () => (await site.api('GET', '/status')).data['sources']).toHaveLength(2);
    const card = page.locator('.card').filter({ hasText: added });
    await hands.press(card.getByText('Remove…'));
    await hands.press(card.getByRole('button', { name: 'Stop backing it up' }));
    await hands.press(page.getByRole('button', { name: 'Save' }));
    await expect.poll(config).not.toContain(added);
    expect(shown.complaints).toEqual([]);
  });

  test('a check is run, and its job looked at', async () => {
    const shown = await site.signedIn();
    const hands = handsOf(shown);
    const { page } = shown;
    await site.visit(shown, '/jobs');
    await hands.press(page.getByRole('button', { name: 'Check…' }));
    const dialog = page.getByRole('dialog');
    await hands.press(dialog.getByRole('button', { name: /^(?!Close|Cancel)/ }).last());
    const wanted = async (): Promise<unknown> => {
      const { items } = (await site.api('GET', '/check')).data as { items: readonly { status: string }[] };
      return items.map(({ status }) => status);
    };
    await expect.poll(wanted, { timeout: 30_000 }).toHaveLength(by === 'mouse' ? 1 : 2);
    await expect.poll(wanted, { timeout: 30_000 }).not.toContain('running');
    expect(shown.complaints).toEqual([]);
  });
});

describe.each(BY)('the console of the Partner service by $by', ({ handsOf }) => {
  let service: ConsoleProgram;
  beforeAll(async () => {
    service = await startConsoleProgram();
  });
  afterAll(async () => await service[Symbol.asyncDispose]());

  test('a key is generated, regenerated and revoked', async () => {
    const shown = await site.browser.open();
    const hands = handsOf(shown);
    const { page } = shown;
    await service.signIn(shown);
    await hands.press(page.getByRole('link', { name: 'API', exact: true }));
    await hands.type(page.getByLabel('Name'), 'billing');
    await hands.press(page.getByRole('button', { name: 'Generate the key' }));
    const first = (await page.locator('.secret').innerText()).trim();
    await hands.press(page.getByRole('link', { name: 'I have copied it' }));
    await hands.press(page.getByText('Regenerate…'));
    await hands.press(page.getByRole('button', { name: 'Regenerate the key' }));
    await page.getByText('Copy it now').waitFor();
    const second = (await page.locator('.secret').innerText()).trim();
    expect([first, second]).toEqual([expect.stringMatching(/^hfp_/), expect.not.stringMatching(first)]);
    await hands.press(page.getByRole('link', { name: 'I have copied it' }));
    await hands.press(page.getByText('Revoke…'));
    await hands.press(page.getByRole('button', { name: 'Revoke the key' }));
    await page.getByText('The API key was revoked.').waitFor();
    for (const key of [first, second]) {
      const reply = await fetch(`${service.address}/api/partner/v1/account`, {
        headers: { 'x-api-key': key },
      });
      expect(reply.status).toBe(401);
    }
    expect(shown.complaints).toEqual([]);
  });
});

test('what is opened before the search for the last letter began stays open', async () => {
  const shown = await site.signedIn();
  await site.visit(shown, '/restore');
  const { page } = shown;
  const field = page.getByRole('searchbox');
  await field.fill('one.tx');
  const found = page.getByRole('grid', { name: 'Files found' }).getByRole('link', { name: 'one.txt' });
  await found.waitFor();
  await field.evaluate(
    async (input: HTMLInputElement, link) => {
      const type = (text: string): void => {
        input.value = text;
        input.dispatchEvent(new InputEvent('input', { bubbles: true }));
      };
      // The same search once more, so that the next letter has to wait for its own.
      type('one.tx ');
      await new Promise((resolve) => setTimeout(resolve, 20));
      type('one.txt');
      (link as HTMLElement).click();
    },
    await found.elementHandle(),
  );
  await page.waitForURL(/[?&]q=one\.txt&/);
  await page.getByRole('dialog').getByText('one', { exact: true }).waitFor();
  expect(page.url()).toMatch(/[?&]file=/);
  expect(await field.inputValue()).toBe('one.txt');
});

test('who goes to another page while settings are being saved is not asked, and gets there once they are', async () => {
  const shown = await site.signedIn();
  const { page } = shown;
  await site.visit(shown, '/settings/schedule');
  const { promise: mayGo, resolve: letGo } = Promise.withResolvers<void>();
  let saves = 0;
  await page.route('**/settings', async (route) => {
    if (route.request().method() === 'PUT') {
      saves += 1;
      await mayGo;
    }
    await route.continue();
  });
  await page.getByLabel('Days to keep').fill('21');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect.poll(() => saves).toBe(1);
  await page.getByRole('link', { name: 'API access' }).click();
  await expect.poll(() => page.url()).toMatch(/settings\/schedule$/);
  expect(await page.getByRole('dialog').count()).toBe(0);
  letGo();
  await page.getByLabel('What it is for').waitFor();
  await expect.poll(config).toContain('"keepDaily": 21');
  expect(shown.complaints).toEqual([]);
});

test('a second destination gets what goes to the first as well, which is asked in words that name the first', async () => {
  const shown = await site.signedIn();
  const hands = keyboard(shown.page);
  const { page } = shown;
  const place = join(site.place.directory, 'second');
  mkdirSync(place);
  await site.visit(shown, '/settings/destinations');
  await hands.press(page.getByRole('button', { name: 'Add a destination' }));
  await page.getByText('New backups go here as well as to On this computer').waitFor();
  await page.getByText('New backups go here instead of On this computer').waitFor();
  await hands.type(page.getByLabel('Name'), 'second');
  await hands.type(page.getByLabel('Folder', { exact: true }), place);
  await hands.press(page.getByRole('button', { name: 'Next', exact: true }));
  await page.getByText('not saved').first().waitFor();
  expect(config()).not.toContain(place);
  await hands.press(page.getByRole('button', { name: 'Save' }));
  await expect.poll(config).toContain(place);
  expect(config()).toMatch(/"destinations": \[\s*"default",\s*"second"\s*\]/);
  expect(config()).not.toContain('defaultDestination');
  await expect.poll(() => readdirSync(place), { timeout: 20_000 }).toContain('snapshots');
  expect(shown.complaints).toEqual([]);
});
