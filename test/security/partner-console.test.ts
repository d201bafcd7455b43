/** Who gets into the settings page of the Partner service, and what a page of somebody else, or a hostile name, can do. */
// Turn 7 of 8.
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { visible } from '../../src/ui/components/own-text.tsx';
import { totpCode } from '../../src/partner/console/totp.ts';
import type { Partner } from '../../src/partner/store/partners.ts';
import { SESSION_IDLE_MS, SESSION_MS } from '../../src/partner/store/sessions.ts';
import {
  consoleSite,
  hiddenFields,
  PASSWORD,
  type ConsoleSite,
  type ConsoleVisitor,
} from '../support/console-site.ts';
import { auditActions, OWNER, PLAN, someCustomer, someDevice } from '../support/partner-store-site.ts';

let site: ConsoleSite;
let acme: Partner;
beforeEach(async () => {
  site = await consoleSite();
  acme = await site.partner('acme');
});
afterEach(async () => await site.remove());

/** Paths of all pages that need a session, ids filled in. */
function paths(method: 'GET' | 'POST', ids: Readonly<Record<string, string>>): readonly string[] {
  const pages = site.api.routes.pageEntries.filter(
    (one) => one.method === method && one.facts.scope === 'page',
  );
  return pages.map(({ url }) => url.replaceAll(/:(\w+)/g, (_all, name: string) => ids[name] ?? 'none'));
}

describe('signing in', () => {
  test('needs the address and its password, and says the same of both', async () => {
    const visitor = site.visitor();
    const wrong = await visitor.signIn(acme.email, 'wrong password!');
    const unknown = await visitor.signIn('nobody@example.com');
    expect([wrong.status, unknown.status]).toEqual([401, 401]);
    expect(wrong.text).toContain('E-mail or password is wrong');
    expect(unknown.text.replaceAll('nobody', 'acme')).toBe(wrong.text);
    expect(visitor.cookies.size).toBe(0);
    expect(await visitor.signIn('ACME@example.com')).toMatchObject({ status: 303, location: '/settings' });
    expect((await visitor.get('/settings')).text).toContain('acme@example.com');
  });

  test('costs as much for an account that does not exist', async () => {
    /** Of the processor, threads included: unlike time, other work of the machine does not change it much. */
    const cost = async (email: string): Promise<number> => {
      const before = process.cpuUsage();
      for (let count = 0; count < 4; count += 1) await site.visitor().signIn(email, 'wrong password!');
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    // What is made once is made.
    await site.visitor().signIn('first@example.com', 'wrong password!');
    const costs: { unknown: number; known: number }[] = [];
    for (let round = 0; round < 5; round += 1) {
      costs.push({ unknown: await cost('nobody@example.com'), known: await cost(acme.email) });
      // Too many attempts within a minute cost nothing.
      site.clock.jump(60_000);
    }
    // The least of each: what this process did besides is not in it.
    const ratio =
      Math.min(...costs.map(({ unknown }) => unknown)) / Math.min(...costs.map(({ known }) => known));
    expect(ratio).toBeGreaterThan(0.5);
    expect(ratio).toBeLessThan(2);
  });

  test('fails ten times a minute at most, the right password included, and no longer than that', async () => {
    for (let count = 0; count < 10; count += 1)
      expect((await site.visitor().signIn(acme.email, 'wrong password!')).status).toBe(401);
    const refused = await site.visitor().signIn(acme.email);
    expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '60' } });
    expect(refused.text).toContain('Wait 60 seconds');
    site.clock.jump(60_000);
    expect((await site.visitor().signIn(acme.email)).status).toBe(303);
  });

  test('many at once get no more attempts than one after the other', async () => {
    const attempts = Array.from({ length: 40 }, () => site.visitor().signIn(acme.email, 'wrong password!'));
    const statuses = (await Promise.all(attempts)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(10);
  });

  test('fails no more often where the service has several instances, nor in one that was just started', async () => {
    const other = await site.another();
    const attempts = Array.from({ length: 40 }, (_, index) =>
      site.visitor(index % 2 === 0 ? site.api : other).signIn(acme.email, 'wrong password!'),
    );
    const statuses = (await Promise.all(attempts)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(10);
    const started = await site.another();
    expect(await site.visitor(started).signIn(acme.email)).toMatchObject({
      status: 429,
      headers: { 'retry-after': '60' },
    });
    site.clock.jump(60_000);
    const visitor = site.visitor(started);
    expect((await visitor.signIn(acme.email)).status).toBe(303);
    // A browser that one instance knows is known to all.
    const elsewhere = site.visitor(other);
    for (const [name, value] of visitor.cookies) elsewhere.cookies.set(name, value);
    await elsewhere.send('/settings', '/settings/sign-out');
    for (let count = 0; count < 12; count += 1) await site.visitor().signIn(acme.email, 'wrong password!');
    expect((await site.visitor(other).signIn(acme.email)).status).toBe(429);
    expect((await elsewhere.signIn(acme.email)).status).toBe(303);
  });

  test("is open to a browser that signed in before, whatever others' failures", async () => {
    const visitor = await site.signedIn('acme');
    await visitor.send('/settings', '/settings/sign-out');
    for (let count = 0; count < 12; count += 1) await site.visitor().signIn(acme.email, 'wrong password!');
    expect((await site.visitor().signIn(acme.email)).status).toBe(429);
    expect((await visitor.signIn(acme.email)).status).toBe(303);
    // It is no way in for another account, and no endless one.
    await site.partner('other');
    for (let count = 0; count < 12; count += 1)
      await site.visitor().signIn('other@example.com', 'wrong password!');
    expect((await visitor.signIn('other@example.com')).status).toBe(429);
  });

  test('leads back to the page that was asked for, and nowhere else', async () => {
    const visitor = site.visitor();
    const sent = await visitor.get('/settings/usage?days=90');
    expect(sent).toMatchObject({
      status: 303,
      location: '/settings/sign-in?next=%2Fsettings%2Fusage%3Fdays%3D90',
    });
    const next =
      hiddenFields((await visitor.get(sent.location ?? '')).html, '/settings/sign-in')['next'] ?? '';
    const fields = { email: acme.email, password: PASSWORD };
    expect((await visitor.post('/settings/sign-in', { ...fields, next })).location).toBe(
      '/settings/usage?days=90',
    );
    for (const elsewhere of [
      'https://evil.example/settings',
      '//evil.example',
      '/docs',
      '/settings\\@evil',
      '/settingsx',
    ]) {
      const reply = await site.visitor().post('/settings/sign-in', { ...fields, next: elsewhere });
      expect(reply.location, elsewhere).toBe('/settings');
    }
  });
});

describe('cookies', () => {
  const session = (line: unknown): string => String([line].flat()[0]);

  test('are seen by no script, and sent by no other site', async () => {
    const reply = await site.visitor().signIn(acme.email);
    expect(session(reply.headers['set-cookie'])).toMatch(
      /^holdfast_session=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/,
    );
  });

  test('are kept from plain http and from other hosts where the page is reached by https', async () => {
    const secure = await consoleSite({ publicUrl: 'https://backup.example.org' });
    try {
      await secure.partner('acme');
      const visitor = secure.visitor();
      const reply = await visitor.signIn('acme@example.com');
      expect(session(reply.headers['set-cookie'])).toMatch(
        /^__Host-holdfast_session=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure$/,
      );
      expect((await visitor.get('/settings')).status).toBe(200);
    } finally {
      await secure.remove();
    }
  });

  test('are not taken when there are two of a name', async () => {
    const visitor = await site.signedIn('acme');
    visitor.cookies.set(' holdfast_session', 'x');
    expect((await visitor.get('/settings')).status).toBe(303);
  });
});

describe('a session', () => {
  test('ends 12 hours after signing in, and 2 hours after its last use', async () => {
    const visitor = await site.signedIn('acme');
    for (let hours = 0; hours < 11; hours += 1) {
      expect((await visitor.get('/settings')).status).toBe(200);
      site.clock.jump(3_600_000);
    }
    expect((await visitor.get('/settings')).status).toBe(200);
    site.clock.jump(SESSION_MS - 11 * 3_600_000);
    expect((await visitor.get('/settings')).status).toBe(303);
    const idle = await site.signedIn('acme');
    site.clock.jump(SESSION_IDLE_MS);
    expect((await idle.get('/settings')).status).toBe(303);
  });

  test('ends when its person signs out; its cookie is worth nothing then', async () => {
    const visitor = await site.signedIn('acme');
    const other = await site.signedIn('acme');
    const stolen = new Map(visitor.cookies);
    const reply = await visitor.send('/settings', '/settings/sign-out');
    expect(reply.location).toBe('/settings/sign-in?out=1');
    expect(visitor.cookies.has('holdfast_session')).toBe(false);
    for (const [name, value] of stolen) visitor.cookies.set(name, value);
    expect((await visitor.get('/settings')).status).toBe(303);
    expect((await other.get('/settings')).status).toBe(200);
    await other.send('/settings', '/settings/sign-out-everywhere');
    expect(await site.stores.sessions.list(acme.id, '')).toEqual([]);
    expect(await auditActions(site.stores, acme.id)).toContain('session.all_ended');
  });

  test('ends when another one changes the password, which needs the old one', async () => {
    const [visitor, other] = [await site.signedIn('acme'), await site.signedIn('acme')];
    const change = async (current: string, next: string, again = next) =>
      await visitor.send('/settings', '/settings/password', { current, next, again });
    expect((await change('wrong password!', 'a new password')).text).toContain('Wrong password.');
    expect((await change(PASSWORD, 'short')).text).toContain('Use 12 to 256');
    expect((await change(PASSWORD, 'a new password', 'a new passwort')).text).toContain(
      'Enter the new password twice',
    );
    expect((await other.get('/settings')).status).toBe(200);
    expect(await change(PASSWORD, 'a new password')).toMatchObject({ location: '/settings?done=password' });
    expect((await visitor.get('/settings?done=password')).text).toContain('The password was changed');
    expect((await other.get('/settings')).status).toBe(303);
    expect((await site.visitor().signIn(acme.email)).status).toBe(401);
    expect((await site.visitor().signIn(acme.email, 'a new password')).status).toBe(303);
  });

  test('does not let its holder guess at the password', async () => {
    const visitor = await site.signedIn('acme');
    const guess = async () =>
      await visitor.send('/settings', '/settings/password', { current: 'guess', next: 'x', again: 'x' });
    for (let count = 0; count < 10; count += 1) expect((await guess()).status).toBe(400);
    expect((await guess()).status).toBe(429);
  });
});

describe('a second factor', () => {
  async function setUp(visitor: ConsoleVisitor): Promise<string> {
    const page = await visitor.get('/settings/second-factor');
    const secret = /secret=([A-Z2-7]{32})/.exec(page.text)?.[1] ?? '';
    const hidden = hiddenFields(page.html, '/settings/second-factor');
    expect(page.text).toContain(secret.match(/.{4}/g)?.join(' '));
    const wrong = { ...hidden, code: '000000', password: PASSWORD };
    expect((await visitor.post('/settings/second-factor', wrong)).text).toContain(
      'This code is wrong or has expired',
    );
    const noPassword = { ...hidden, code: codeOf(secret), password: 'wrong password!' };
    expect((await visitor.post('/settings/second-factor', noPassword)).status).toBe(400);
    const tampered = { ...hidden, sealed: 'x', code: codeOf(secret), password: PASSWORD };
    expect((await visitor.post('/settings/second-factor', tampered)).status).toBe(400);
    expect(await site.stores.partners.get(acme.id)).toMatchObject({ hasTotp: false });
    const right = { ...hidden, code: codeOf(secret), password: PASSWORD };
    expect((await visitor.post('/settings/second-factor', right)).location).toBe('/settings?done=factor-set');
    return secret;
  }

  function codeOf(secret: string): string {
    return totpCode(secret, Math.floor(site.clock.now() / 30_000));
  }

  async function typeCode(visitor: ConsoleVisitor, code: string) {
    const { html } = await visitor.signIn(acme.email);
    return await visitor.post('/settings/sign-in/code', {
      ...hiddenFields(html, '/settings/sign-in/code'),
      code,
    });
  }

  test('is asked for once it is set up, and its codes are good once', async () => {
    const secret = await setUp(await site.signedIn('acme'));
    const visitor = site.visitor();
    expect(await visitor.signIn(acme.email)).toMatchObject({ status: 200 });
    expect(visitor.cookies.size).toBe(0);
    // The code that confirmed it, and one of another time.
    expect((await typeCode(visitor, codeOf(secret))).text).toContain('was used before');
    site.clock.jump(30_000);
    const code = codeOf(secret);
    expect((await typeCode(visitor, code)).status).toBe(303);
    expect((await typeCode(site.visitor(), code)).status).toBe(401);
    site.clock.jump(30_000);
    expect((await typeCode(site.visitor(), code)).status).toBe(401);
    expect((await typeCode(site.visitor(), codeOf(secret))).status).toBe(303);
  });

  test('of two that type the same code at once lets one in', async () => {
    const secret = await setUp(await site.signedIn('acme'));
    site.clock.jump(30_000);
    const replies = await Promise.all(
      Array.from({ length: 5 }, () => typeCode(site.visitor(), codeOf(secret))),
    );
    expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([303, 401, 401, 401, 401]);
  });

  test('cannot be guessed at, and nothing leads past it', async () => {
    const secret = await setUp(await site.signedIn('acme'));
    site.clock.jump(60_000);
    const statuses: number[] = [];
    for (let count = 0; count < 40; count += 1) {
      site.clock.jump(61_000);
      statuses.push((await typeCode(site.visitor(), '000000')).status);
    }
    expect(statuses.filter((status) => status === 401)).toHaveLength(15);
    expect(statuses.at(-1)).toBe(429);
    site.clock.jump(3_600_000);
    const visitor = site.visitor();
    const { html } = await visitor.signIn(acme.email);
    const hidden = hiddenFields(html, '/settings/sign-in/code');
    for (const ticket of ['', 'x', `${site.clock.now() + 1_000}.x`, `${hidden['ticket']}x`]) {
      const reply = await visitor.post('/settings/sign-in/code', { ...hidden, ticket, code: codeOf(secret) });
      expect(reply.status, ticket).toBe(401);
    }
    // Five minutes are enough to type six digits.
    site.clock.jump(300_000);
    expect((await visitor.post('/settings/sign-in/code', { ...hidden, code: codeOf(secret) })).status).toBe(
      401,
    );
    expect(visitor.cookies.size).toBe(0);
  });

  test('is removed by who knows the password', async () => {
    const visitor = await site.signedIn('acme');
    await setUp(visitor);
    const remove = async (password: string) =>
      await visitor.send('/settings/second-factor', '/settings/second-factor/remove', {
        removing_password: password,
      });
    expect((await remove('wrong password!')).status).toBe(400);
    expect((await remove(PASSWORD)).location).toBe('/settings?done=factor-removed');
    expect((await site.visitor().signIn(acme.email)).status).toBe(303);
  });

  test('is sealed in the store, for that account alone', async () => {
    const secret = await setUp(await site.signedIn('acme'));
    const login = await site.stores.partners.findLogin(acme.email);
    expect(login?.totpSecret).not.toContain(secret);
    expect(site.keys.sealing.open('second factor', acme.id, login?.totpSecret ?? '')).toBe(secret);
  });
});

describe('forms', () => {
  const EVIL = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: '' },
    { origin: 'http://localhost', 'sec-fetch-site': 'cross-site' },
    { origin: 'http://localhost', 'sec-fetch-site': 'same-site' },
    { origin: 'http://localhost', 'sec-fetch-site': 'none' },
    { origin: 'http://localhost:8080' },
    { origin: 'https://localhost' },
  ];

  test.each(EVIL)('that come from elsewhere are refused: %o', async (headers) => {
    const visitor = await site.signedIn('acme');
    const { html } = await visitor.get('/settings');
    const hidden = hiddenFields(html, '/settings/sign-out-everywhere');
    const reply = await visitor.post('/settings/sign-out-everywhere', hidden, headers);
    expect(reply.status).toBe(403);
    expect(reply.text).toContain('This form came from another site');
    expect(
      (await site.visitor().post('/settings/sign-in', { email: acme.email, password: PASSWORD }, headers))
        .status,
    ).toBe(403);
    expect(await site.stores.sessions.list(acme.id, '')).toHaveLength(1);
  });

  test('are refused on every route without the token of their session, and change nothing', async () => {
    const visitor = await site.signedIn('acme');
    const customer = await someCustomer(site.stores, acme.id);
    const { device } = await someDevice(site.stores, acme.id, customer.id);
    const before = await auditActions(site.stores, acme.id);
    const strangers = await site.signedIn('acme');
    const { html } = await strangers.get('/settings');
    const theirs = hiddenFields(html, '/settings/sign-out')['form_token'] ?? '';
    const posts = paths('POST', { id: customer.id, device: device.id });
    expect(posts.length).toBeGreaterThanOrEqual(18);
    for (const path of posts) {
      for (const fields of [
        {},
        { form_token: '' },
        { form_token: theirs },
        { form_token: [theirs, theirs] },
      ]) {
        const reply = await visitor.post(path, { name: 'x', form_id: 'x', ...fields });
        expect(reply.status, path).toBe(403);
      }
      const noBody = await site.api.app.inject({
        method: 'POST',
        url: path,
        headers: {
          host: 'localhost',
          origin: 'http://localhost',
          cookie: `holdfast_session=${visitor.cookies.get('holdfast_session')}`,
        },
      });
      expect(noBody.statusCode, path).toBe(400);
    }
    expect(await auditActions(site.stores, acme.id)).toEqual([...before, 'session.created']);
  });

  test('are refused on every route without a session, and no page is shown', async () => {
    for (const path of paths('POST', {})) {
      const reply = await site.visitor().post(path, {});
      expect(reply, path).toMatchObject({ status: 303, location: '/settings/sign-in' });
    }
    for (const path of paths('GET', {})) {
      const reply = await site.visitor().get(path);
      expect(reply.status, path).toBe(303);
      expect(reply.location, path).toMatch(/^\/settings\/sign-in/);
    }
  });

  test('are forms and nothing else, and not large', async () => {
    const visitor = await site.signedIn('acme');
    const json = await visitor.post('/settings/sign-out', {}, { 'content-type': 'application/json' });
    expect(json.status).toBe(415);
    expect((await visitor.post('/settings/sign-out', {}, { 'content-type': 'text/plain' })).status).toBe(415);
    const multipart = { 'content-type': 'multipart/form-data; boundary=x' };
    expect((await visitor.post('/settings/sign-out', {}, multipart)).status).toBe(415);
    const large = await visitor.send('/settings/api', '/settings/api/generate', { name: 'x'.repeat(65_537) });
    expect(large.status).toBe(413);
    expect(large.text).toContain('64 KiB');
    expect((await visitor.get('/settings')).status).toBe(200);
  });

  test('take no key of the API for a session, nor a session for a key', async () => {
    const { secret } = await site.stores.apiKeys.generate(acme.id, 'key', OWNER);
    const withKey = await site.api.app.inject({
      url: '/settings',
      headers: { authorization: `Bearer ${secret}` },
    });
    expect(withKey.statusCode).toBe(303);
    const visitor = await site.signedIn('acme');
    expect((await visitor.get('/api/partner/v1/account')).status).toBe(401);
    // Nor does the page spend what the partner's programs may ask.
    for (let count = 0; count < 130; count += 1) await visitor.get('/settings/sign-in');
    const asked = await site.api.app.inject({
      url: '/api/partner/v1/account',
      headers: { 'x-api-key': secret },
    });
    expect(asked.headers['x-ratelimit-remaining']).toBe('119');
  });
});

describe('pages', () => {
  test('have no script, nothing from elsewhere, and stand in no frame', async () => {
    const visitor = await site.signedIn('acme');
    const customer = await someCustomer(site.stores, acme.id);
    const pages = [...paths('GET', { id: customer.id }), '/settings/nowhere', '/settings/', '/settings//x'];
    for (const path of pages.filter((one) => !one.includes('.csv'))) {
      const { headers, html } = await visitor.get(path);
      expect(headers['content-type'], path).toBe('text/html; charset=utf-8');
      expect(headers['content-security-policy'], path).toMatch(
        /^default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'/,
      );
      expect(headers, path).toMatchObject({
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      });
      expect(html, path).not.toMatch(/<script|<style|\sstyle=|\son\w+=|https?:\/\/(?!localhost)/i);
    }
  });

  test('that are not there say so in words, whether or not somebody is signed in', async () => {
    for (const visitor of [site.visitor(), await site.signedIn('acme')]) {
      for (const path of ['/settings/nowhere', '/settings/', '/settings/a/b/c', '/settings/%ff']) {
        const reply = await visitor.get(path);
        expect([400, 404], path).toContain(reply.status);
        expect(reply.html, path).toContain('<title>');
        expect(reply.text, path).toContain('Go to the settings page');
      }
      expect(await visitor.post('/settings/usage', {})).toMatchObject({ status: 405 });
    }
    expect((await (await site.signedIn('acme')).get('/settings/customers/cus_x')).text).toContain(
      'Customer not found',
    );
  });

  test('are no part of the API description', async () => {
    const { body } = await site.api.app.inject('/openapi.json');
    const { paths }: { paths: object } = JSON.parse(body);
    expect(Object.keys(paths).filter((path) => path.startsWith('/settings'))).toEqual([]);
  });

  test("show nothing of another partner's, and change nothing of it", async () => {
    const other = await site.partner('other');
    const customer = await someCustomer(site.stores, other.id, { name: 'Their customer' });
    const { device } = await someDevice(site.stores, other.id, customer.id);
    const seal = (id: string): string => site.keys.sealing.seal('webhook secret', id, 'whsec_x');
    const webhook = await site.stores.webhooks.create(
      other.id,
      { url: 'https://hooks.example.com/', events: [], description: null, sealSecret: seal },
      OWNER,
    );
    await site.stores.webhooks.test(other.id, webhook.id, OWNER);
    const { items } = await site.stores.deliveries.list(other.id, webhook.id, { limit: 1 });
    const before = await auditActions(site.stores, other.id);
    const visitor = await site.signedIn('acme');
    const { html } = await visitor.get('/settings');
    const token = hiddenFields(html, '/settings/sign-out');
    for (const id of [customer.id, webhook.id]) {
      const ids = { id, device: device.id, delivery: items[0]?.id ?? '' };
      const gets = paths('GET', ids).filter((path) => path.includes(id));
      const posts = paths('POST', ids).filter((path) => path.includes(id));
      expect(gets.length + posts.length).toBeGreaterThanOrEqual(12);
      for (const path of gets) expect((await visitor.get(path)).status, path).toBe(404);
      for (const path of posts) {
        const fields = { ...token, form_id: randomUUID(), plan_id: PLAN.pro };
        expect((await visitor.post(path, fields)).status, path).toBe(404);
      }
    }
    expect((await visitor.get('/settings/customers')).text).not.toContain('Their customer');
    expect(await auditActions(site.stores, other.id)).toEqual(before);
  });

  test('of an account that is suspended: its own alone', async () => {
    const visitor = await site.signedIn('acme');
    await site.stores.partners.setStatus(acme.id, 'suspended', OWNER);
    const page = await visitor.get('/settings');
    expect(page.text).toContain('This account is suspended');
    for (const path of ['/settings/customers', '/settings/api', '/settings/usage', '/settings/usage.csv'])
      expect((await visitor.get(path)).status, path).toBe(403);
    const token = hiddenFields(page.html, '/settings/sign-out');
    expect((await visitor.post('/settings/api/generate', { ...token, form_id: 'a', name: 'x' })).status).toBe(
      403,
    );
    expect((await visitor.post('/settings/sign-out', token)).status).toBe(303);
    expect((await visitor.signIn(acme.email)).status).toBe(303);
  });
});

/** Fifty that would be something else than text on a page that took them for markup. */
const HOSTILE_NAMES: readonly string[] = [
  '<script>alert(1)</script>',
  '</td><script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '"><img src=x onerror=alert(1)>',
  "'><svg onload=alert(1)>",
  '" onmouseover="alert(1)" x="',
  "' onfocus='alert(1)' autofocus='",
  '<iframe src="javascript:alert(1)">',
  '<a href="javascript:alert(1)">x</a>',
  '</title><script>alert(1)</script>',
  '</textarea><script>alert(1)</script>',
  '<!--',
  '-->',
  '<!--><script>alert(1)</script>',
  '<![CDATA[',
  ']]>',
  '<?xml',
  '<!doctype html>',
  '&lt;script&gt;',
  '&#60;script&#62;',
  '&amp;',
  '&nbsp;',
  '&#x3C;b&#x3E;',
  '&',
  '<',
  '>',
  '"',
  "'",
  '`',
  '=',
  '${7*7}',
  '{{7*7}}',
  '<%= 7*7 %>',
  '\\',
  '\\u003cscript>',
  '%3Cscript%3E',
  '+ADw-script+AD4-',
  '<style>*{display:none}</style>',
  '<base href="https://evil.example/">',
  '<meta http-equiv=refresh content=0>',
  '<form action="https://evil.example">',
  '<input type=hidden name=form_token value=x>',
  '</form>',
  '<bdi>',
  '</bdi>',
  '\u202Egnp.exe',
  '\u2066x\u2069',
  'Bakery \u{1F9C1}',
  'مخبز',
  '=HYPERLINK("https://evil.example")',
];

describe('hostile names', () => {
  test('are fifty', () => {
    expect(new Set(HOSTILE_NAMES).size).toBe(50);
  });

  test('are text on every page that shows them', async () => {
    const visitor = await site.signedIn('acme');
    for (const name of HOSTILE_NAMES) {
      const added = await visitor.send('/settings/customers/new', '/settings/customers/new', {
        name,
        external_id: name,
        email: '',
        plan_id: PLAN.business,
      });
      expect(added.status, name).toBe(303);
      const page = await visitor.get(added.location ?? '');
      expect(page.text, name).toContain(visible(name).replaceAll(/\s+/g, ' '));
      expectOnlyOurs(page.html);
    }
    for (const path of ['/settings/customers', '/settings/activity'])
      expectOnlyOurs((await visitor.get(path)).html);
    const list = await visitor.get('/settings/customers');
    for (const name of HOSTILE_NAMES) expect(list.text).toContain(visible(name));
  });

  test('are text in fields that are shown again, and in names of keys, devices and webhooks', async () => {
    const visitor = await site.signedIn('acme');
    const customer = await someCustomer(site.stores, acme.id);
    for (const name of HOSTILE_NAMES) {
      const refused = await visitor.send('/settings/customers/new', '/settings/customers/new', {
        name,
        external_id: name,
        email: name,
        plan_id: name,
      });
      expect(refused.status, name).toBe(400);
      expectOnlyOurs(refused.html);
      expectOnlyOurs((await visitor.signIn(name, name)).html);
      site.clock.jump(60_000);
      const key = await visitor.send('/settings/api', '/settings/api/generate', { name });
      expect(key.text).toContain(visible(name).replaceAll(/\s+/g, ' '));
      expectOnlyOurs(key.html);
      await visitor.send('/settings/api', '/settings/api/revoke');
      const token = await site.stores.enrollment.createToken(acme.id, customer.id, OWNER);
      const facts = { name, platform: name, agentVersion: name };
      await site.stores.enrollment.enroll(token?.token ?? '', facts, null);
      const webhook = await visitor.send('/settings/webhooks/new', '/settings/webhooks/new', {
        url: name,
        description: name,
        events: [name],
      });
      expect(webhook.status).toBe(400);
      expectOnlyOurs(webhook.html);
    }
    const page = await visitor.get(`/settings/customers/${customer.id}`);
    expectOnlyOurs(page.html);
    for (const name of HOSTILE_NAMES) expect(page.text).toContain(visible(name));
  });

  /** Each tag is one that our templates have, with attributes of ours. */
  function expectOnlyOurs(page: string): void {
    const tags = [...page.matchAll(/<(?:[^>"]|"[^"]*")*>?/g)].map(([tag]) => tag);
    const known =
      /^<(?:!doctype html|\/?(?:html|head|meta|title|link|body|a|header|div|svg|path|span|small|form|input|button|nav|ul|li|main|section|h[123]|p|dl|dt|dd|label|select|option|table|thead|tbody|tr|th|td|time|code|bdi|details|summary|pre|meter|br|footer|fieldset|legend|strong)(?:\s+[a-zA-Z-]+(?:="[^"<]*")?)*)\s*\/?>$/;
    expect(tags.filter((tag) => !known.test(tag))).toEqual([]);
    const names = tags.map((tag) => tag.replaceAll(/"[^"]*"/g, '""'));
    expect(names.filter((tag) => /\son\w+=/i.test(tag))).toEqual([]);
    expect(tags.filter((tag) => /\s(?:href|src|action)="(?!\/settings|\/docs|#main)/i.test(tag))).toEqual([]);
    expect(page.match(/<form/g)?.length ?? 0).toBe(page.match(/<\/form>/g)?.length ?? 0);
  }
});
