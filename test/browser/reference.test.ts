/** The API reference of the agent and of the Partner service in a real browser: found, tried, and read on a small screen. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectAccessible, expectToFit, type OpenPage } from '../support/chromium.ts';
import { startConsoleProgram } from '../support/console-program.ts';
import { openPageSite, type PageSite } from '../support/page-site.ts';

const VIEWS = [
  { view: 'light', width: 1_200, height: 850, dark: false },
  { view: 'dark', width: 1_200, height: 850, dark: true },
  { view: '390 pixels wide', width: 390, height: 844, dark: false },
] as const;

let site: PageSite;
beforeAll(async () => {
  site = await openPageSite();
});
afterAll(async () => await site[Symbol.asyncDispose]());

async function reference(origin: string, view = {}, hash = ''): Promise<OpenPage> {
  const shown = await site.browser.open(view);
  await shown.page.goto(`${origin}/docs${hash}`);
  await shown.page.getByRole('searchbox').waitFor();
  return shown;
}

/** Gets a token for the page with new credentials. */
async function giveAccess(page: OpenPage['page'], name: string): Promise<void> {
  const made: { readonly api_key: string; readonly secret: string } = JSON.parse(
    await site.command(['credentials', 'create', '--name', name, '--json']),
  );
  await page.getByLabel('API key').fill(made.api_key);
  await page.getByLabel('Secret').fill(made.secret);
  await page.getByRole('button', { name: 'Get a token' }).click();
  await page.getByText('The token is ready.').waitFor();
}

/** Opens an operation, and gives its form. */
async function formOf({ page }: OpenPage, operation: string) {
  await page.locator(`#${operation} > summary`).click();
  return page.locator(`#${operation} form`);
}

test.each(VIEWS)('is readable: $view', async ({ view, ...size }) => {
  await using service = await startConsoleProgram();
  for (const origin of [site.origin, service.address]) {
    const shown = await reference(origin, size);
    await shown.page.locator('details.operation > summary').first().click();
    await expectAccessible(shown.page, view);
    await expectToFit(shown.page, view);
    expect(shown.complaints).toEqual([]);
  }
});

test('the search finds fields and errors as well as paths, and says how many', async () => {
  const { page } = await reference(site.origin);
  const visible = page.locator('details.operation:visible');
  const all = await visible.count();
  await page.getByRole('searchbox').fill('stored_by snapshots');
  const some = await visible.count();
  expect(some).toBeGreaterThan(0);
  expect(some).toBeLessThan(all);
  await page.getByText(`${some} requests.`).waitFor();
  await page.getByRole('searchbox').fill('PATH_NOT_IN_SNAPSHOT');
  expect(await page.locator('#errors ~ * tbody tr:visible').count()).toBe(1);
  const requests = page.locator('#error-PATH_NOT_IN_SNAPSHOT td:last-child a');
  await page.getByText(`Found: 1 error code, ${await requests.count()} requests.`).waitFor();
  // Before the requests.
  const [code, request] = await Promise.all([
    page.locator('#errors').boundingBox(),
    visible.first().boundingBox(),
  ]);
  expect(code?.y).toBeLessThan(request?.y ?? 0);
  await requests.first().click();
  await page.locator('#createRestore[open]').waitFor();
  await page.getByRole('searchbox').fill('rate limit');
  await page.getByText(/^Found: \d+ rules/).waitFor();
  await page.locator('#rules p:visible', { hasText: 'Rate limit' }).waitFor();
  await page.getByRole('searchbox').fill('deleted file');
  await page.locator('#rules p:visible', { hasText: 'GET /files/versions' }).waitFor();
  await page.locator('#listFiles').waitFor();
  await page.getByRole('searchbox').fill('keepDaily');
  await page.locator('#settings tr:visible', { hasText: 'retention.keepDaily' }).waitFor();
  await page.getByRole('searchbox').fill('xyzzy');
  await page.getByText('Nothing here has all of these words.').waitFor();
  await page.getByRole('searchbox').fill('');
  expect(await visible.count()).toBe(all);
});

test('a link opens the operation that it names', async () => {
  const { page } = await reference(site.origin, {}, '#getStatus');
  await page.locator('#getStatus[open]').waitFor();
  await page.locator('nav a[href="#createBackup"]').click();
  await page.locator('#createBackup[open]').waitFor();
});

test('a request is sent with the token that an API key gets, and shows the reply and a command', async () => {
  const made: { readonly api_key: string; readonly secret: string } = JSON.parse(
    await site.command(['credentials', 'create', '--name', 'reference', '--json']),
  );
  const shown = await reference(site.origin);
  const { page } = shown;
  const list = await formOf(shown, 'listBackups');
  await list.getByRole('button', { name: 'Send' }).click();
  await page.getByText('This request needs access: enter it here.').waitFor();
  await page.getByLabel('API key').fill(made.api_key);
  await page.getByLabel('Secret').fill('hfs_wrong');
  await page.getByRole('button', { name: 'Get a token' }).click();
  await page
    .locator('[data-access-state]', { hasText: 'do not match' })
    .or(page.locator('[data-access-state]', { hasText: 'secret' }))
    .waitFor();
  await page.getByLabel('Secret').fill(made.secret);
  await page.getByRole('button', { name: 'Get a token' }).click();
  await page.getByText('The token is ready.').waitFor();

  await list.getByLabel('limit').fill('2');
  await list.getByRole('button', { name: 'Send' }).click();
  await list.getByText(/^200 /).waitFor();
  expect(await list.locator('[data-reply] pre').innerText()).toContain('"success": true');
  const command = await list.locator('[data-curl]').innerText();
  expect(command).toContain(`${site.origin}/v1/backup?limit=2`);
  expect(command).toContain('"Authorization: Bearer $TOKEN"');
  expect(await page.content()).not.toContain(made.secret);

  await list.getByLabel('limit').fill('0');
  await list.getByRole('button', { name: 'Send' }).click();
  await list.getByText(/^400 /).waitFor();
});

test('a replacement of the settings begins with those that are there, and its command has the revision', async () => {
  const shown = await reference(site.origin);
  const { page } = shown;
  await giveAccess(page, 'settings');
  const put = await formOf(shown, 'replaceSettings');
  expect(await put.locator('[data-curl]').innerText()).toContain("'if-match: ");
  await put.getByRole('button', { name: 'Fill in what is there now' }).click();
  await put.getByText('This is what is there now.').waitFor();
  const body = put.locator('[data-body]');
  expect(JSON.parse(await body.inputValue())).toMatchObject({ settings: { plan: 'free_trial' } });
  const revision = await put.getByLabel('If-Match').inputValue();
  expect(await put.locator('[data-curl]').innerText()).toContain(`'if-match: ${revision}'`);
  await put.getByRole('button', { name: 'Send' }).click();
  await put.getByText(/^200 /).waitFor();
});

test('what never ends is shown as it comes, and can be stopped', async () => {
  const shown = await reference(site.origin);
  await giveAccess(shown.page, 'stream');
  const events = await formOf(shown, 'streamEvents');
  await events.getByRole('button', { name: 'Send' }).click();
  await events.getByText(/^200 /).waitFor();
  await events.getByRole('button', { name: 'Stop' }).click();
  await events.getByText('(stopped)').waitFor();
});
