/** Getting to the agent's page: what is transferred, how it is signed in, and that API clients cannot shut it out. */
import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LANGUAGES } from '../../src/ui/language/language.ts';
import { jsonLines } from '../support/cli.ts';
import { openPageSite, type PageSite } from '../support/page-site.ts';

/** Bytes that the first page may transfer: 100 KB of 1024 bytes. */
const MOST_BYTES = 100 * 1024;
/** Gzipped, of all pages in one language: what there is to say of each situation has its place in them. */
const MOST_OF_ALL = 120 * 1024;

let site: PageSite;
beforeAll(async () => {
  site = await openPageSite();
});
afterAll(async () => await site[Symbol.asyncDispose]());

async function address(): Promise<string> {
  const [said] = jsonLines({ stdout: await site.command(['ui', '--json']) });
  return String(said?.['address']);
}

test('the first page transfers at most 100 KB, and nothing from elsewhere', async () => {
  const { page, complaints } = await site.browser.open();
  const sizes = new Map<string, number>();
  page.on('requestfinished', (request) => {
    const measured = async (): Promise<void> => {
      const { responseBodySize, responseHeadersSize } = await request.sizes();
      sizes.set(request.url(), responseBodySize + responseHeadersSize);
    };
    void measured();
  });
  await page.goto(await address());
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.waitForTimeout(500);
  expect(sizes.size).toBeGreaterThan(3);
  expect([...sizes.keys()].filter((url) => !url.startsWith(`${site.origin}/`))).toEqual([]);
  const total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  console.info(`the first page: ${sizes.size} requests, ${total} bytes`);
  expect(total).toBeLessThanOrEqual(MOST_BYTES);
  expect(complaints).toEqual([]);
});

test.each(Object.keys(LANGUAGES))('a browser that prefers %s shows the page in it', async (code) => {
  const { page, complaints } = await site.browser.open({ locale: code });
  await page.goto(await address());
  await page.getByRole('navigation').first().waitFor();
  expect(await page.locator('html').getAttribute('lang')).toBe(code);
  expect(complaints).toEqual([]);
});

test('all pages in English are at most 110 KB gzipped', () => {
  const assets = new URL('../../dist/page/assets/', import.meta.url);
  const languages = readdirSync(new URL('../../src/ui/language/', import.meta.url));
  const elsewhere = [...languages.filter((name) => name !== 'english'), 'console', 'reference'];
  const shown = readdirSync(assets).filter((name) => !elsewhere.some((one) => name.startsWith(`${one}-`)));
  expect(shown.length).toBeGreaterThan(3);
  const sizes = shown.map((name) => gzipSync(readFileSync(new URL(name, assets))).length);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  console.info(`all pages in English: ${total} bytes`);
  expect(total).toBeLessThanOrEqual(MOST_OF_ALL);
});

test('L05: the code leaves the address and the history before anything else, and is good once', async () => {
  const { page } = await site.browser.open();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(`${request.url()} ${request.headers()['referer'] ?? ''}`));
  const opened = await address();
  const code = opened.split('#code=')[1] ?? '';
  await page.goto(opened);
  await page.getByRole('navigation').first().waitFor();
  expect(page.url()).not.toContain(code);
  expect(asked.filter((line) => line.includes(code))).toEqual([]);
  await page.goto('about:blank');
  await page.goBack();
  expect(page.url()).not.toContain(code);

  const second = await site.browser.open();
  await second.page.goto(opened);
  await second.page.getByText('You are not signed in').waitFor();
  await second.page.getByText('holdfast ui', { exact: true }).waitFor();
  await second.page.getByText('already been used').waitFor();
});

test('L05: without a session the page says how it is opened; signing out ends it', async () => {
  const { page } = await site.browser.open();
  await page.goto(site.origin);
  await page.getByText('You are not signed in').waitFor();

  const shown = await site.signedIn();
  await shown.page.getByRole('button', { name: 'Sign out' }).click();
  await shown.page.getByText('You are not signed in').waitFor();
  await shown.page.reload();
  await shown.page.getByText('You are not signed in').waitFor();
});

test('who could not be signed out is told so, and stays signed in', async () => {
  const { page, context } = await site.signedIn();
  await context.setOffline(true);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page
    .getByRole('main')
    .getByRole('alert')
    .getByText(/is not answering/)
    .first()
    .waitFor();
  await context.setOffline(false);
  await page.reload();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
});

test('the page goes on working when API clients have used up the 100 requests of the hour', async () => {
  const shown = await site.signedIn();
  const [credential] = jsonLines({
    stdout: await site.command(['credentials', 'create', '--name', 'greedy', '--json']),
  });
  const { api_key, secret } = credential as { readonly api_key: string; readonly secret: string };
  const signIn = await fetch(`${site.origin}/v1/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ api_key, secret }),
  });
  const { data } = (await signIn.json()) as { readonly data: { readonly access_token: string } };
  const ask = async (): Promise<number> => {
    const reply = await fetch(`${site.origin}/v1/snapshots`, {
      headers: { authorization: `Bearer ${data.access_token}` },
    });
    await reply.arrayBuffer();
    return reply.status;
  };
  const answers = [];
  for (let count = 0; count < 120; count += 1) answers.push(await ask());
  expect(answers.filter((status) => status === 200)).toHaveLength(100);
  expect(await ask()).toBe(429);
  for (const route of ['/', '/restore', '/jobs', '/settings/access', '/alarms']) {
    await site.visit(shown, route);
    await shown.page.waitForTimeout(300);
  }
  expect(await shown.page.getByRole('alert').count()).toBe(0);
  expect(shown.complaints).toEqual([]);
  // Nobody signs in on the quota either.
  const another = await site.signedIn();
  await another.page.getByRole('heading', { level: 1 }).waitFor();
  expect(await ask()).toBe(429);
});
