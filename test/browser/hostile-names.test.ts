/** Names of files that want to be something else, on every page that shows names. Line L06. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectToFit, type OpenPage } from '../support/chromium.ts';
import { jsonLines } from '../support/cli.ts';
import { HOSTILE_NAMES } from '../support/hostile-names.ts';
import { openPageSite, type PageSite } from '../support/page-site.ts';

/** Bytes of the longest name. */
const LONGEST = 255;
/** So many of the names are those of sources, too. */
const SOURCES = 12;

let site: PageSite;
let sources: readonly string[];
let jobs: readonly string[];

/** As a file can have it: a slash ends a directory, the rest is cut to what a name may be long. */
function pathOf(name: string, index: number): string {
  const parts = `${name} ${index}`
    .replaceAll('\0', '')
    .toWellFormed()
    .split('/')
    .filter((part) => part.trim() !== '');
  return join(
    ...parts.map((part) =>
      Buffer.from(part)
        .subarray(0, LONGEST - 8)
        .toString('utf8')
        .replace(/\ufffd$/, ''),
    ),
  );
}

beforeAll(async () => {
  site = await openPageSite();
  const { source } = site.place;
  for (const [index, name] of HOSTILE_NAMES.entries()) {
    const file = join(source, pathOf(name, index));
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, name);
  }
  // Not UTF-8, and as long as a name can be.
  writeFileSync(Buffer.concat([Buffer.from(`${source}/`), Buffer.from([0xff, 0xfe, 0x3c, 0x62, 0x3e])]), 'x');
  writeFileSync(join(source, `<b>${'W'.repeat(LONGEST - 3)}`), 'x');
  sources = HOSTILE_NAMES.slice(0, SOURCES).map((name, index) => {
    const directory = join(site.place.directory, `s${index}`, pathOf(name, index));
    mkdirSync(directory, { recursive: true });
    for (let count = 0; count < 3; count += 1) writeFileSync(join(directory, `file ${count}`), 'content');
    return directory;
  });
  for (const path of [source, ...sources]) await site.command(['sources', 'add', path]);
  const ended = async (path: string): Promise<string> => {
    const { data } = await site.api('POST', '/backup', { source: path });
    return String(data['status']);
  };
  for (const path of [source, ...sources]) expect(await ended(path)).toBe('completed');
  // One source is empty now: an alarm names it, and so does a job that failed.
  const [first = ''] = sources;
  for (const name of readdirSync(first)) rmSync(join(first, name));
  expect(await ended(first)).toBe('failed');
  jobs = jsonLines({ stdout: await site.command(['jobs', '--json']) }).map(({ id }) => String(id));
});
afterAll(async () => await site[Symbol.asyncDispose]());

async function expectHarmless({ page, complaints }: OpenPage, where: string): Promise<void> {
  // Every payload that runs changes the title.
  expect(await page.title(), where).toMatch(/Holdfast$/);
  const strange = await page.evaluate(() =>
    [...document.querySelectorAll('*')].flatMap((element) => {
      const isForeign = /^(?:iframe|object|embed|base|style|math|template|meta|img|b)$/i.test(
        element.localName,
      );
      const handlers = element.getAttributeNames().filter((name) => name.startsWith('on'));
      const inHead = element.closest('head') !== null;
      return (isForeign && !inHead) || handlers.length > 0 ? [element.outerHTML.slice(0, 200)] : [];
    }),
  );
  expect(strange, where).toEqual([]);
  const text = await page.locator('body').innerText();
  // What would turn or hide text is written out.
  expect(text, where).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u200b\ufeff]|(?![\n\t])\p{Cc}/u);
  await expectToFit(page, where);
  expect(complaints, where).toEqual([]);
}

test.each([
  { view: 'wide', width: 1_200, height: 850 },
  { view: 'narrow', width: 390, height: 844 },
])('L06: 200 hostile names are text on every page: $view', async ({ view: _view, ...size }) => {
  expect(HOSTILE_NAMES).toHaveLength(200);
  const shown = await site.signedIn(size);
  const { page } = shown;
  const routes = ['/', '/jobs', '/alarms', '/start', '/restore'];
  const settings = [
    'overview',
    'sources',
    'destinations',
    'schedule',
    'encryption',
    'performance',
    'notifications',
  ];
  const more = ['access', 'account', 'advanced'].map((name) => `/settings/${name}`);
  const details = jobs.slice(0, 5).map((id) => `/jobs/${id}`);
  for (const route of [...routes, ...settings.map((name) => `/settings/${name}`), ...more, ...details]) {
    await site.visit(shown, route);
    await page.waitForTimeout(500);
    await expectHarmless(shown, route);
  }
  await site.visit(shown, '/');
  await page.locator('main').getByText('<img src=x onerror=').first().waitFor();
  await site.visit(shown, '/alarms');
  await page.locator('main').getByText('<img src=x onerror=').first().waitFor();
});

test('L06: 200 hostile names are text in lists of files, in a search, and in previews', async () => {
  const shown = await site.signedIn();
  const { page } = shown;
  const { source } = site.place;
  const query = new URLSearchParams({ source, path: source });
  await site.visit(shown, `/restore?${query}`);
  await page.getByText('<svg onload=').first().waitFor();
  await expectHarmless(shown, 'the list of files');
  for (const q of ['svg', 'script', 'b>']) {
    await site.visit(shown, `/restore?${new URLSearchParams({ q })}`);
    await page.waitForTimeout(1_000);
    await expectHarmless(shown, `a search for ${q}`);
  }
});
