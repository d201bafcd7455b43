/** The settings page of the Partner service in a real browser, from signing in to a key that is revoked. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  expectAccessible,
  expectToFit,
  type OpenBrowser,
  type OpenPage,
  startChromium,
  tabTo,
} from '../support/chromium.ts';
import { startConsoleProgram, type ConsoleProgram } from '../support/console-program.ts';

describe('the settings page in a browser', () => {
  let service: ConsoleProgram;
  let browser: OpenBrowser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([startConsoleProgram(), startChromium()]);
  });
  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
    await service[Symbol.asyncDispose]();
  });

  async function accountWith(key: string): Promise<number> {
    const reply = await fetch(`${service.address}/api/partner/v1/account`, {
      headers: { authorization: `Bearer ${key}` },
    });
    await reply.arrayBuffer();
    return reply.status;
  }

  async function shownKey({ page }: OpenPage): Promise<string> {
    return (await page.locator('.secret').innerText()).trim();
  }

  test('a key is generated, seen once, used, regenerated and revoked', async () => {
    const shown = await browser.open();
    const { page } = shown;
    await service.signIn(shown);
    await page.getByRole('link', { name: 'API', exact: true }).click();
    await page.getByLabel('Name').fill('billing');
    await page.getByRole('button', { name: 'Generate the key' }).click();
    const key = await shownKey(shown);
    expect(key).toMatch(/^hfp_\w{36}$/);
    expect(await accountWith(key)).toBe(200);
    // The form is sent again: it is the same one.
    await page.reload();
    await page.getByText('nothing was done a second time').waitFor();
    expect(await page.content()).not.toContain(key);
    expect(await accountWith(key)).toBe(200);
    await service.visit(shown, '/api');
    await page.getByText('billing').first().waitFor();
    expect(await page.content()).not.toContain(key);

    await page.getByText('Regenerate…').click();
    await page.getByRole('button', { name: 'Regenerate the key' }).click();
    const next = await shownKey(shown);
    expect(await accountWith(key)).toBe(401);
    expect(await accountWith(next)).toBe(200);
    await page.getByRole('link', { name: 'I have copied it' }).click();
    await page.getByText('Revoke…').click();
    await page.getByRole('button', { name: 'Revoke the key' }).click();
    await page.getByText('The API key was revoked.').waitFor();
    expect(await accountWith(next)).toBe(401);
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.getByText('You are signed out.').waitFor();
    await service.visit(shown, '/api');
    expect(page.url()).toContain('/settings/sign-in');
    // Nothing was missing, and no policy was in the way.
    expect(shown.complaints).toEqual([]);
  });

  test('works without scripts, which it has none of', async () => {
    const shown = await browser.open({ script: false });
    const { page } = shown;
    await service.signIn(shown);
    await service.visit(shown, '/customers/new');
    await page.getByLabel('Name').fill('Bakery Moreau');
    await page.getByRole('button', { name: 'Add the customer' }).click();
    await page.getByText('The customer was added.').waitFor();
    await page.getByRole('button', { name: 'Enroll a device' }).click();
    expect(await page.locator('main').innerText()).toMatch(
      /holdfast enroll http:\/\/127\.0\.0\.1:\d+ hfe_\w{36}/,
    );
    expect(shown.complaints).toEqual([]);
  });

  test('a customer is added by keyboard alone', async () => {
    const shown = await browser.open();
    const { page } = shown;
    await service.signIn(shown);
    await tabTo(page, page.getByRole('link', { name: 'Customers' }));
    await page.keyboard.press('Enter');
    await page.waitForURL(/customers$/);
    await tabTo(page, page.getByRole('link', { name: 'Add a customer' }));
    await page.keyboard.press('Enter');
    await page.waitForURL(/new$/);
    await tabTo(page, page.getByLabel('Name'));
    await page.keyboard.type('Florist Okafor');
    await page.keyboard.press('Enter');
    await page.getByText('The customer was added.').waitFor();
  });

  test('takes no form of another page, though the browser would send it', async () => {
    const shown = await browser.open();
    const { page } = shown;
    await service.signIn(shown);
    const form = `<form method="post" action="${service.address}/settings/sign-out-everywhere"><button>Win</button></form>`;
    await page.goto(`data:text/html,${encodeURIComponent(form)}`);
    await page.getByRole('button', { name: 'Win' }).click();
    await page.getByText('This form came from another site').waitFor();
    // The session is still there.
    await service.visit(shown, '/api');
    expect(page.url()).toContain('/settings/api');
  });

  test.each([
    { name: 'a wide one', width: 1_200, height: 800, dark: false },
    { name: 'a narrow one', width: 360, height: 740, dark: true },
  ])('fits on the screen and is accessible: $name', async ({ name: _name, ...view }) => {
    const shown = await browser.open(view);
    const { page } = shown;
    await expectAccessibleSignIn(shown);
    await service.signIn(shown);
    await service.visit(shown, '/customers/new');
    await page.getByLabel('Name').fill('Donaudampfschifffahrtsgesellschaft'.repeat(5));
    await page.getByRole('button', { name: 'Add the customer' }).click();
    await page.getByText('The customer was added.').waitFor();
    const customer = new URL(page.url()).pathname.replace('/settings', '');
    const paths = ['', '/second-factor', '/api', '/customers', customer, '/customers/new'];
    for (const path of [...paths, '/plans', '/usage', '/webhooks', '/webhooks/new', '/activity']) {
      await service.visit(shown, path);
      await expectToFit(page, path);
      await expectAccessible(page, path);
      expect(await page.locator('h1, main').count(), path).toBe(2);
    }
    expect(shown.complaints).toEqual([]);
  });

  async function expectAccessibleSignIn(shown: OpenPage): Promise<void> {
    await service.visit(shown, '/sign-in');
    await expectAccessible(shown.page, 'signing in');
  }
});
