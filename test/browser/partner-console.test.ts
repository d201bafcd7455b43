/** The settings page of the Partner service in a real browser, from signing in to a key that is revoked. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endServer, listenAt } from '../../src/api/listening.ts';
import { createPartnerApp, type PartnerApp } from '../../src/partner/http/app.ts';
import { keysFrom } from '../../src/partner/keys.ts';
import { hashPassword } from '../../src/partner/passwords.ts';
import type { PartnerStores } from '../../src/partner/store/store.ts';
import { startBrowser, type Browser } from '../support/browser.ts';
import { OWNER, someCustomer, someDevice, storeSite, type StoreSite } from '../support/partner-store-site.ts';

const PASSWORD = 'correct horse battery';
const WIDE = { width: 1_200, height: 800 };

describe('the settings page in a browser', () => {
  let site: StoreSite;
  let stores: PartnerStores;
  let api: PartnerApp;
  let partnerId: string;
  let address: string;
  beforeAll(async () => {
    site = await storeSite('sqlite');
    stores = await site.open();
    api = await createPartnerApp({
      stores,
      clock: site.clock,
      keys: keysFrom(randomBytes(32)),
      version: '1.0.0',
    });
    const facts = { name: 'Ana', company: null, email: 'ana@example.com' };
    ({ id: partnerId } = await stores.partners.create(
      { ...facts, passwordHash: await hashPassword(PASSWORD) },
      OWNER,
    ));
    address = `http://127.0.0.1:${await listenAt(api.server, '127.0.0.1', 0)}`;
  });
  afterAll(async () => {
    await endServer(api.server, 0);
    await api.close();
    await site.remove();
  });

  async function signIn(browser: Browser): Promise<void> {
    await browser.open(`${address}/settings`);
    expect(await browser.address()).toBe(`${address}/settings/sign-in`);
    await browser.fill('email', 'ana@example.com');
    await browser.fill('password', PASSWORD);
    await browser.click('Sign in');
    expect(await browser.address()).toBe(`${address}/settings`);
  }

  async function accountWith(key: string): Promise<number> {
    const reply = await fetch(`${address}/api/partner/v1/account`, {
      headers: { authorization: `Bearer ${key}` },
    });
    await reply.arrayBuffer();
    return reply.status;
  }

  async function shownKey(browser: Browser): Promise<string> {
    return String(await browser.evaluate("document.querySelector('.secret').textContent")).trim();
  }

  test('a key is generated, seen once, used, regenerated and revoked', async () => {
    await using browser = await startBrowser();
    await browser.configure(WIDE);
    await signIn(browser);
    await browser.click('API');
    await browser.fill('name', 'billing');
    await browser.click('Generate the key');
    const key = await shownKey(browser);
    expect(key).toMatch(/^hfp_\w{36}$/);
    expect(await accountWith(key)).toBe(200);
    // The form is sent again: it is the same one.
    await browser.reload();
    expect(await browser.text()).toContain('nothing was done a second time');
    expect(await browser.evaluate('document.documentElement.outerHTML')).not.toContain(key);
    expect(await accountWith(key)).toBe(200);
    await browser.open(`${address}/settings/api`);
    expect(await browser.text()).toContain('billing');
    expect(await browser.evaluate('document.documentElement.outerHTML')).not.toContain(key);

    await browser.click('Regenerate…', 'nowhere');
    await browser.click('Regenerate the key');
    const next = await shownKey(browser);
    expect(await accountWith(key)).toBe(401);
    expect(await accountWith(next)).toBe(200);
    await browser.click('I have copied it');
    await browser.click('Revoke…', 'nowhere');
    await browser.click('Revoke the key');
    expect(await browser.text()).toContain('The API key was revoked.');
    expect(await accountWith(next)).toBe(401);
    await browser.click('Sign out');
    expect(await browser.text()).toContain('You are signed out.');
    await browser.open(`${address}/settings/api`);
    expect(await browser.address()).toContain('/settings/sign-in');
    // Nothing was missing, and no policy was in the way.
    expect(browser.complaints).toEqual([]);
  });

  test('works without scripts, which it has none of', async () => {
    await using browser = await startBrowser();
    await browser.configure({ ...WIDE, script: false });
    await signIn(browser);
    await browser.open(`${address}/settings/customers/new`);
    await browser.fill('name', 'Bakery Moreau');
    await browser.click('Add the customer');
    expect(await browser.text()).toContain('The customer was added.');
    await browser.click('Enroll a device');
    expect(await browser.text()).toMatch(/holdfast enroll http:\/\/127\.0\.0\.1:\d+ hfe_\w{36}/);
    expect(browser.complaints).toEqual([]);
  });

  test('takes no form of another page, though the browser would send it', async () => {
    await using browser = await startBrowser();
    await browser.configure(WIDE);
    await signIn(browser);
    const before = await stores.audit.list(partnerId, { limit: 100 });
    const form = `<form method="post" action="${address}/settings/sign-out-everywhere"><button>Win</button></form>`;
    await browser.open(`data:text/html,${encodeURIComponent(form)}`);
    await browser.click('Win');
    expect(await browser.text()).toContain('This form came from elsewhere');
    expect((await stores.audit.list(partnerId, { limit: 100 })).items).toEqual(before.items);
  });

  test.each([
    { name: 'a wide one', ...WIDE, dark: false },
    { name: 'a narrow one', width: 360, height: 740, dark: true },
  ])('fits on the screen, every field has a name: $name', async ({ name: _name, ...view }) => {
    const customer = await someCustomer(stores, partnerId, {
      name: 'Donaudampfschifffahrtsgesellschaft'.repeat(5),
    });
    await someDevice(stores, partnerId, customer.id);
    await using browser = await startBrowser();
    await browser.configure(view);
    await signIn(browser);
    const paths = ['', '/second-factor', '/api', '/customers', `/customers/${customer.id}`, '/customers/new'];
    for (const path of [...paths, '/usage', '/webhooks', '/webhooks/new', '/activity']) {
      await browser.open(`${address}/settings${path}`);
      expect(
        await browser.evaluate('document.documentElement.scrollWidth - innerWidth'),
        path,
      ).toBeLessThanOrEqual(0);
      expect(await browser.evaluate(NAMELESS), path).toEqual([]);
      expect(await browser.evaluate("document.querySelectorAll('h1, main').length"), path).toBe(2);
      expect(await browser.evaluate(FAINT), path).toEqual([]);
    }
    expect(browser.complaints).toEqual([]);
  });
});

/** Fields, buttons and links that a screen reader would have no name for. */
const NAMELESS = `[...document.querySelectorAll('input:not([type=hidden]), select, button, a')]
  .filter((one) => (one.labels?.length ?? 0) === 0 && one.textContent.trim() === '' && one.ariaLabel === null)
  .map((one) => one.outerHTML)`;

/** Text with a contrast below 4.5 to 1 (WCAG 2.2, 1.4.3). */
const FAINT = `(() => {
  const parts = (color) => color.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((one) => one / 255).map((one) => one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const ground = (one) => {
    for (let at = one; at !== null; at = at.parentElement) {
      const color = parts(getComputedStyle(at).backgroundColor);
      if (color[3] !== 0) return color;
    }
    return [255, 255, 255];
  };
  const own = (one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== '');
  return [...document.querySelectorAll('body *:not(svg *)')].filter((one) => own(one) && one.checkVisibility()).flatMap((one) => {
    const [a, b] = [light(parts(getComputedStyle(one).color)), light(ground(one))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    return ratio < 4.5 ? [one.textContent.trim() + ' ' + ratio.toFixed(2)] : [];
  });
})()`;
