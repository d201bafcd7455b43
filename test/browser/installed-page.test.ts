/** The page as an app: what Chromium says about installing it, its notifications and badge, and coming back signed in. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectAccessible, expectToFit, type OpenPage, type Page } from '../support/chromium.ts';
import { jsonLines } from '../support/cli.ts';
import { openPageSite, type PageSite } from '../support/page-site.ts';

/** The page asks the agent a second after an event. */
const PATIENT = { timeout: 15_000 };

let site: PageSite;
beforeAll(async () => {
  site = await openPageSite(async ({ directory }) => {
    mkdirSync(join(directory, 'Letters'));
    writeFileSync(join(directory, 'Letters', 'one.txt'), 'one');
  });
  await site.command(['sources', 'add', letters()]);
  await backUp();
});
afterAll(async () => await site[Symbol.asyncDispose]());

const letters = (): string => join(site.place.directory, 'Letters');

async function backUp(): Promise<unknown> {
  return (await site.api('POST', '/backup', { source: letters() })).data['status'];
}

/** What the page has asked the browser to show: notifications, and the badge of its icon. */
interface Shown {
  readonly title: string;
  readonly tag: string;
  readonly body: string;
  click(): void;
}
type Watched = typeof globalThis & { shown: Shown[]; badges: string[] };

/** Notes what is shown before Chromium shows it: nothing is replaced. */
function watch(): void {
  const watched = globalThis as Watched;
  watched.shown = [];
  watched.badges = [];
  const Real = Notification;
  watched.Notification = class extends Real {
    constructor(title: string, options: NotificationOptions = {}) {
      super(title, options);
      const { tag = '', body = '' } = options;
      watched.shown.push({ title, tag, body, click: () => void this.dispatchEvent(new Event('click')) });
    }
  };
  const { setAppBadge, clearAppBadge } = Navigator.prototype;
  Navigator.prototype.setAppBadge = async function set(this: Navigator, ...count: [] | [number]) {
    watched.badges.push(String(count[0] ?? 'dot'));
    await setAppBadge.apply(this, count);
  };
  Navigator.prototype.clearAppBadge = async function clear(this: Navigator) {
    watched.badges.push('none');
    await clearAppBadge.apply(this);
  };
}

const titles = async (page: Page): Promise<readonly string[]> =>
  await page.evaluate(() => (globalThis as Watched).shown.map(({ title }) => title));
const badge = async (page: Page): Promise<string | undefined> =>
  await page.evaluate(() => (globalThis as Watched).badges.at(-1));

async function signedIn(): Promise<OpenPage> {
  const shown = await site.signedIn();
  await shown.context.grantPermissions(['notifications'], { origin: site.origin });
  await shown.context.addInitScript(watch);
  await shown.page.reload();
  await shown.page.getByRole('navigation').first().waitFor();
  return shown;
}

test('Chromium finds no fault with the manifest, and would install the page', async () => {
  const { page, context, complaints } = await site.signedIn();
  const session = await context.newCDPSession(page);
  const found = await session.send('Page.getAppManifest');
  expect(found.errors).toEqual([]);
  expect(found.url).toBe(`${site.origin}/manifest.webmanifest`);
  const { installabilityErrors } = await session.send('Page.getInstallabilityErrors');
  // A window of a test is private.
  expect(installabilityErrors.filter(({ errorId }) => errorId !== 'in-incognito')).toEqual([]);
  expect(complaints).toEqual([]);
});

test('an alarm is shown once, leads to its page, and its end is shown', async () => {
  const shown = await signedIn();
  const { page, context } = shown;
  await site.visit(shown, '/settings/notifications');
  const box = page.getByRole('checkbox', { name: 'Show notifications in this browser' });
  expect(await box.isChecked()).toBe(false);
  await box.check();
  await expect.poll(async () => await titles(page), PATIENT).toEqual(['Notifications are on']);
  expect(await badge(page)).toBe('none');
  await expectAccessible(page, 'the settings of notifications');
  await expectToFit(page, 'the settings of notifications');

  rmSync(join(letters(), 'one.txt'));
  expect(await backUp()).toBe('failed');
  const alarm = `Empty: ${letters()}`;
  await expect.poll(async () => await titles(page), PATIENT).toEqual(['Notifications are on', alarm]);
  await expect.poll(async () => await badge(page), PATIENT).toBe('1');
  await page.evaluate(() => (globalThis as Watched).shown.at(-1)?.click());
  await page.getByRole('heading', { level: 1, name: 'Alarms' }).waitFor();

  await page.reload();
  await page.getByText('This source had files, and now has none.').waitFor();
  const other = await context.newPage();
  await other.goto(site.origin);
  await other.getByText('1 alarm needs your attention.').waitFor();
  await other.waitForTimeout(1_000);
  expect([await titles(page), await titles(other)]).toEqual([[], []]);
  await other.close();

  writeFileSync(join(letters(), 'one.txt'), 'one');
  expect(await backUp()).toBe('completed');
  await expect.poll(async () => await titles(page), PATIENT).toEqual(['Holdfast']);
  await expect.poll(async () => await badge(page), PATIENT).toBe('none');
  expect(await page.evaluate(() => (globalThis as Watched).shown[0]?.body)).toMatch(/^Protected/);
  expect(shown.complaints).toEqual([]);
});

test('who refuses notifications in the browser is told how to allow them', async () => {
  const shown = await site.signedIn();
  // What is not granted is refused.
  await shown.context.grantPermissions(['geolocation'], { origin: site.origin });
  await site.visit(shown, '/settings/notifications');
  await shown.page.getByText('This browser blocks notifications of this page.').waitFor();
  const box = shown.page.getByRole('checkbox', { name: 'Show notifications in this browser' });
  expect([await box.isDisabled(), await box.isChecked()]).toEqual([true, false]);
});

test('what the agent cannot do on the desktop stands beside the setting', async () => {
  const shown = await site.signedIn();
  await site.visit(shown, '/settings/notifications');
  const { data } = (await shown.page.evaluate(
    async () => await (await fetch('/internal/v1/about')).json(),
  )) as { readonly data: { readonly desktop: string } };
  const box = shown.page.getByRole('checkbox', { name: 'Show notifications on the desktop' });
  await box.waitFor();
  const isUseless = data.desktop === 'service' || data.desktop === 'no_program';
  expect(await box.isDisabled()).toBe(isUseless);
  if (data.desktop === 'service')
    await shown.page.getByText('Holdfast runs here as a service of the computer').waitFor();
});

test('a code put into the address of an open page signs it in, and others of the browser follow', async () => {
  const { page, context } = await site.browser.open();
  await page.goto(site.origin);
  await page.getByText('You are not signed in').waitFor();
  await expect.poll(async () => await page.title(), PATIENT).toBe('! Holdfast');
  const other = await context.newPage();
  await other.goto(site.origin);
  await other.getByText('You are not signed in').waitFor();

  const [said] = jsonLines({ stdout: await site.command(['ui', '--json']) });
  const address = String(said?.['address']);
  await page.evaluate((hash) => {
    location.hash = hash;
  }, new URL(address).hash);
  await page.getByRole('navigation').first().waitFor();
  expect(page.url()).not.toContain('code=');

  await other.evaluate(() => dispatchEvent(new Event('focus')));
  await other.getByRole('navigation').first().waitFor();
});

test('a tab whose agent has ended says so within seconds, and no longer Protected', async () => {
  const { page } = await signedIn();
  await expect.poll(async () => await page.title(), PATIENT).toMatch(/^Protected/);
  // At another port: nobody answers at this one.
  await site.restart();
  await expect.poll(async () => await page.title(), PATIENT).toMatch(/^! The agent is not answering/);
  expect(await badge(page)).toBe('dot');
});
