/** The whole way of a person through the real agent's page, from the first start to a token: by mouse, and by keyboard alone. */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { expectAccessible, type OpenPage } from '../support/chromium.ts';
import { type Hands, keyboard, mouse } from '../support/hands.ts';
import { openPageSite, type PageSite } from '../support/page-site.ts';

const run = promisify(execFile);
const CHANGED = 'Dear Ana,\nnothing is well.\n';

async function home(): Promise<PageSite> {
  return await openPageSite(async ({ directory, state }) => {
    const documents = join(directory, 'Documents');
    mkdirSync(join(documents, 'letters'), { recursive: true });
    mkdirSync(join(directory, 'Pictures'));
    writeFileSync(join(documents, 'letters', 'to-ana.txt'), 'Dear Ana,\nall is well.\n');
    writeFileSync(join(documents, 'budget.csv'), 'month,euro\n1,20\n');
    writeFileSync(join(directory, 'Pictures', 'holiday.raw'), Buffer.alloc(200_000, 7));
    mkdirSync(state, { recursive: true, mode: 0o700 });
    writeFileSync(join(state, 'config.json'), '{\n  // Mine: keep this remark.\n  "version": 1\n}\n', {
      mode: 0o600,
    });
  });
}

async function firstRun({ page }: OpenPage, hands: Hands): Promise<void> {
  await page.waitForURL(/#\/start/);
  await page.getByRole('heading', { name: 'What do you want to protect?' }).waitFor();
  for (const box of await page.getByRole('checkbox').all()) if (await box.isChecked()) await box.uncheck();
  await hands.tick(page.getByRole('checkbox', { name: /Documents/ }));
  await hands.press(page.getByRole('button', { name: 'Next' }));
  await page.getByRole('heading', { name: 'Where should backups go?' }).waitFor();
  await hands.tick(page.getByRole('radio', { name: /On this computer/ }));
  await hands.press(page.getByRole('button', { name: 'Next' }));
  await page.getByRole('heading', { name: 'Save your recovery kit' }).waitFor();
  await hands.tick(page.getByRole('checkbox', { name: /saved it somewhere else/ }));
  await hands.press(page.getByRole('button', { name: 'Next' }));
  await hands.press(page.getByRole('button', { name: 'Start the first backup' }));
  await page.getByRole('heading', { name: /^Protected/ }).waitFor({ timeout: 60_000 });
}

async function changeAndBackUp({ page }: OpenPage, hands: Hands, site: PageSite): Promise<void> {
  const file = join(site.place.directory, 'Documents', 'letters', 'to-ana.txt');
  writeFileSync(file, CHANGED);
  await hands.press(page.getByRole('link', { name: 'Overview', exact: true }));
  await page.getByRole('heading', { level: 1, name: /Protected/ }).waitFor();
  await hands.press(page.getByRole('button', { name: /Back up now/ }).first());
  const newest = async (): Promise<unknown> => {
    const { data } = await site.api('GET', `/files?${new URLSearchParams({ q: 'to-ana.txt' })}`);
    return (data['items'] as readonly { readonly size_bytes: number }[])[0]?.size_bytes;
  };
  await expect.poll(newest, { timeout: 60_000, interval: 2_000 }).toBe(CHANGED.length);
}

async function browse({ page }: OpenPage, hands: Hands): Promise<void> {
  await hands.press(page.getByRole('link', { name: 'Restore', exact: true }));
  await page.getByRole('heading', { level: 1, name: 'Restore' }).waitFor();
  await page.getByText('budget.csv').first().waitFor();
}

async function search({ page }: OpenPage, hands: Hands): Promise<void> {
  await hands.type(page.getByRole('searchbox'), 'to-ana');
  await page.getByText('1 match').waitFor();
}

async function restore({ page }: OpenPage, hands: Hands, site: PageSite): Promise<void> {
  const target = join(site.place.directory, 'back');
  const found = page.getByRole('grid', { name: 'Files found' });
  await hands.open(found, 'to-ana.txt');
  await page.getByText('nothing is well').waitFor();
  await hands.press(page.getByRole('link', { name: 'Show in its folder' }).last());
  await hands.choose(page.getByRole('grid', { name: /Contents of/ }), 'to-ana.txt');
  await hands.press(page.getByRole('button', { name: 'Restore…' }));
  await hands.press(page.getByRole('button', { name: 'Next' }));
  await hands.tick(page.getByRole('radio', { name: /Another folder/ }));
  await hands.type(page.getByLabel('Folder on this computer'), target);
  await hands.press(page.getByRole('button', { name: 'Next' }));
  await hands.press(page.getByRole('button', { name: 'Restore now' }));
  await page.getByText('Done: 1 file is back.').waitFor({ timeout: 60_000 });
  const file = join(site.place.directory, 'Documents', 'letters', 'to-ana.txt');
  expect(readFileSync(join(target, file), 'utf8')).toBe(CHANGED);
  rmSync(target, { recursive: true });
}

async function changeSettings({ page }: OpenPage, hands: Hands, site: PageSite): Promise<void> {
  await hands.press(page.getByRole('link', { name: 'Settings', exact: true }));
  await hands.press(page.getByRole('link', { name: 'Schedule and retention' }).first());
  await hands.type(page.getByLabel('Days to keep'), '0');
  await page.getByText('Enter a number from 1 to 100,000').first().waitFor();
  await hands.type(page.getByLabel('Days to keep'), '14');
  await hands.press(page.getByRole('button', { name: 'Save' }));
  const file = join(site.place.state, 'config.json');
  await expect.poll(() => readFileSync(file, 'utf8'), { timeout: 20_000 }).toMatch(/"keepDaily": 14/);
  expect(readFileSync(file, 'utf8')).toContain('// Mine: keep this remark.');
}

/** A credential that is made on the page gives a token to curl, and none any more once it is revoked. */
async function apiAccess({ page }: OpenPage, hands: Hands, site: PageSite): Promise<void> {
  await hands.press(page.getByRole('link', { name: 'API access' }));
  await hands.type(page.getByLabel('What it is for'), 'monitoring');
  await hands.press(page.getByRole('button', { name: 'Create', exact: true }));
  await page.getByText('This secret is shown only once.').waitFor();
  const text = await page.locator('main').innerText();
  const key = /hfk_\w{36}/.exec(text)?.[0] ?? '';
  const secret = /hfs_\w{36}/.exec(text)?.[0] ?? '';
  const curl = async (
    words: readonly string[],
  ): Promise<{ readonly data?: Readonly<Record<string, unknown>> }> =>
    JSON.parse((await run('curl', ['--silent', ...words])).stdout) as { data?: Record<string, unknown> };
  const credentials = JSON.stringify({ api_key: key, secret });
  const signIn = ['--json', credentials, `${site.origin}/v1/auth/token`];
  const { data } = await curl(signIn);
  const token = String(data?.['access_token']);
  const asked = ['--header', `Authorization: Bearer ${token}`, `${site.origin}/v1/backup`];
  expect((await curl(asked)).data?.['items']).not.toHaveLength(0);
  await hands.press(page.getByRole('button', { name: 'I have saved it' }));
  expect(await page.content()).not.toContain(secret);
  const row = page.getByRole('listitem').filter({ hasText: 'monitoring' });
  await hands.press(row.getByText('Revoke…'));
  await hands.press(row.getByRole('button', { name: 'Revoke the key' }));
  await expect.poll(async () => (await curl(signIn)).data, { timeout: 20_000 }).toBeUndefined();
  expect((await curl(asked)).data).toBeUndefined();
}

test.each([
  { by: 'mouse', handsOf: () => mouse() },
  { by: 'keyboard alone', handsOf: ({ page }: OpenPage) => keyboard(page) },
])(
  'first run, backup, change, browse, search, restore, settings, API access: by $by',
  { timeout: 300_000 },
  async ({ handsOf }) => {
    await using site = await home();
    const shown = await site.signedIn();
    const hands = handsOf(shown);
    await firstRun(shown, hands);
    await expectAccessible(shown.page, 'the end of the first run');
    await changeAndBackUp(shown, hands, site);
    await browse(shown, hands);
    await search(shown, hands);
    await restore(shown, hands, site);
    await changeSettings(shown, hands, site);
    await apiAccess(shown, hands, site);
    // The preview of a rule that is out of bounds is refused, and says so.
    expect(shown.complaints.filter((one) => !one.includes('/retention-preview'))).toEqual([]);
  },
);

test('a deleted file is back in four clicks', { timeout: 300_000 }, async () => {
  await using site = await home();
  const shown = await site.signedIn();
  const { page } = shown;
  const hands = mouse();
  await firstRun(shown, hands);
  const file = join(site.place.directory, 'Documents', 'budget.csv');
  const before = readFileSync(file, 'utf8');
  rmSync(file);
  await hands.press(page.getByRole('link', { name: 'Overview', exact: true }));
  await hands.press(page.getByRole('button', { name: /Back up now/ }).first());
  const found = async (): Promise<unknown> => {
    const { data } = await site.api('GET', `/files?${new URLSearchParams({ q: 'budget.csv' })}`);
    return (data['items'] as readonly unknown[]).length;
  };
  await expect.poll(found, { timeout: 60_000, interval: 2_000 }).toBe(0);

  await hands.press(page.getByRole('link', { name: 'Get a file back' }));
  await hands.press(page.getByRole('button', { name: 'Deleted files' }));
  await page.getByText('1 deleted file or folder').waitFor();
  await expectAccessible(page, 'the deleted files');
  await hands.press(page.getByRole('button', { name: 'Put it back' }));
  await hands.press(page.getByRole('button', { name: 'Restore now' }));
  await page.getByText('Done: 1 file is back.').waitFor({ timeout: 60_000 });
  expect(readFileSync(file, 'utf8')).toBe(before);
});

test(
  'a file that was deleted just now joins the list by itself, and the check names it',
  { timeout: 300_000 },
  async () => {
    await using site = await home();
    const shown = await site.signedIn();
    const { page } = shown;
    const hands = mouse();
    await firstRun(shown, hands);
    // The agent backs up a new source by itself, and the page must not ask for it a second time.
    const made = await site.api('GET', '/backup');
    expect(made.data['items']).toHaveLength(1);
    const folder = join(site.place.directory, 'Documents');
    await hands.press(page.getByRole('link', { name: 'Overview', exact: true }));
    await hands.press(page.getByRole('link', { name: 'Get a file back' }));
    await hands.press(page.getByRole('button', { name: 'Deleted files' }));
    await page.getByText('Deleted a moment ago? It is listed after the next backup.').waitFor();
    await page.getByText('0 deleted files and folders').waitFor();
    rmSync(join(folder, 'budget.csv'));
    await page.getByText('1 deleted file or folder').waitFor({ timeout: 180_000 });
    await hands.press(page.getByRole('button', { name: 'Put it back' }));
    const check = page.getByRole('dialog');
    await check.getByRole('heading', { name: 'What will happen' }).waitFor();
    expect(await check.locator('dl').first().innerText()).toBe(
      ['What', join(folder, 'budget.csv'), 'Where', folder].join('\n'),
    );
  },
);
