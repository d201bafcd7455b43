/** Chromium without a window, driven by Playwright: that of this machine, or what the suite has unpacked. */
import { existsSync } from 'node:fs';
import axe from 'axe-core';
import { chromium, type Browser, type BrowserContext, type Locator, type Page } from 'playwright-core';
import { expect } from 'vitest';

export type { BrowserContext, Locator, Page } from 'playwright-core';

/** Undefined where none is installed. */
export const INSTALLED_BROWSER = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((file) => existsSync(file));

export interface View {
  readonly width?: number;
  readonly height?: number;
  readonly dark?: boolean;
  /** Without scripts, which the console has none of. */
  readonly script?: boolean;
  readonly locale?: string;
}

export interface OpenBrowser extends AsyncDisposable {
  /** A window of its own, with its own cookies. */
  open(view?: View): Promise<OpenPage>;
}

export interface OpenPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What the browser had to complain about: scripts that failed, what a policy forbids, what was not found. */
  readonly complaints: readonly string[];
}

export async function startChromium(): Promise<OpenBrowser> {
  const libraries = process.env['HOLDFAST_TEST_BROWSER_LIBRARIES'];
  const browser: Browser = await chromium.launch({
    executablePath: process.env['HOLDFAST_TEST_BROWSER'] ?? INSTALLED_BROWSER ?? 'chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
    env: {
      ...withoutUndefined(process.env),
      ...(libraries === undefined ? {} : { LD_LIBRARY_PATH: libraries }),
    },
  });
  return {
    async open({ width = 1_200, height = 850, dark = false, script = true, locale = 'en-GB' } = {}) {
      const context = await browser.newContext({
        viewport: { width, height },
        colorScheme: dark ? 'dark' : 'light',
        javaScriptEnabled: script,
        reducedMotion: 'reduce',
        timezoneId: 'Europe/Berlin',
        locale,
      });
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on('pageerror', ({ message }) => complaints.push(message));
      page.on('console', (said) => {
        if (said.type() === 'error') complaints.push(`${said.text()} ${said.location().url}`);
      });
      return { page, context, complaints };
    },
    [Symbol.asyncDispose]: async () => await browser.close(),
  };
}

/** What axe-core finds wrong with the page as it is now: nothing, or the test fails and says where. */
export async function expectAccessible(page: Page, where: string): Promise<void> {
  await page.evaluate(axe.source);
  const violations = await page.evaluate(async () => {
    const { axe: judge } = globalThis as unknown as { readonly axe: typeof axe };
    const found = await judge.run(document, { resultTypes: ['violations'] });
    return found.violations.map(({ id, help, nodes }) => ({
      id,
      help,
      at: nodes.slice(0, 5).map(({ target, failureSummary }) => `${target.join(' ')}: ${failureSummary}`),
    }));
  });
  expect(violations, where).toEqual([]);
}

/** No part of the page is wider than the screen. */
export async function expectToFit(page: Page, where: string): Promise<void> {
  const { over, wide } = await page.evaluate(() => ({
    over: document.documentElement.scrollWidth - innerWidth,
    wide: [...document.body.querySelectorAll('*')]
      .filter((element) => element.closest('.scroll, .listing') === null)
      .filter((element) => element.getBoundingClientRect().right > innerWidth)
      .map((element) => `${element.tagName}.${element.className}: ${element.textContent.slice(0, 60)}`),
  }));
  expect(over, `${where} is too wide: ${wide.join(', ')}`).toBeLessThanOrEqual(0);
  const beyond = await page.evaluate(() =>
    [
      ...document.querySelectorAll<HTMLElement>(
        '.card :is(button, .button), dialog[open] :is(button, .button)',
      ),
    ]
      // What can be moved sideways has room for all of it.
      .filter((button) => button.offsetParent !== null && button.closest('.scroll, .listing') === null)
      .filter((button) => {
        const around = button.closest('.card, dialog')?.getBoundingClientRect();
        return around !== undefined && button.getBoundingClientRect().right > around.right;
      })
      .map((button) => button.textContent),
  );
  expect(beyond, `${where}: buttons beyond their card`).toEqual([]);
}

/** Presses Tab until the element has the focus, as somebody without a mouse does. */
export async function tabTo(page: Page, wanted: Locator, most = 200): Promise<void> {
  for (let count = 0; count < most; count += 1) {
    if (await wanted.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`${String(wanted)} cannot be reached with the Tab key`);
}

function withoutUndefined(values: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
