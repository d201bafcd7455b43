/** What partners do on the settings page: the API key as the contract has it, and all else that the page is for. */
// Turn 4 of 8.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { totpCode } from '../../src/partner/console/totp.ts';
import { PARTNER_PREFIX } from '../../src/partner/resources/values.ts';
import type { AuditRecord } from '../../src/partner/store/audit-log.ts';
import type { Partner } from '../../src/partner/store/partners.ts';
import {
  consoleSite,
  hiddenFields,
  PASSWORD,
  type ConsoleSite,
  type ConsoleVisitor,
  type Fields,
  type PageReply,
} from '../support/console-site.ts';
import { backup, OWNER, PLAN, report, someCustomer, someDevice } from '../support/partner-store-site.ts';

let site: ConsoleSite;
let acme: Partner;
let visitor: ConsoleVisitor;
beforeEach(async () => {
  site = await consoleSite();
  acme = await site.partner('acme');
  visitor = await site.signedIn('acme');
});
afterEach(async () => await site.remove());

/** Sends a form, and gives the reply with the audit records that it left. */
async function recorded(
  page: string,
  action: string,
  fields: Fields = {},
): Promise<{ readonly reply: PageReply; readonly records: readonly AuditRecord[] }> {
  const before = new Set((await records()).map(({ id }) => id));
  const reply = await visitor.send(page, action, fields);
  return { reply, records: (await records()).filter(({ id }) => !before.has(id)) };
}

async function records(): Promise<readonly AuditRecord[]> {
  return (await site.stores.audit.list(acme.id, { limit: 100 })).items;
}

/** One record, of the page. */
function expectOne(found: readonly AuditRecord[], action: string): void {
  const actor = { name: 'settings page', keyId: null, ip: '127.0.0.1' };
  expect(found).toMatchObject([{ action, actor }]);
}

function secretIn(text: string, prefix: string): string {
  const found = new Set(text.match(new RegExp(`${prefix}[A-Za-z0-9+/=]{30,}`, 'g')));
  expect(found.size).toBe(1);
  return [...found][0] ?? '';
}

async function accountWith(
  key: string,
): Promise<{ readonly status: number; readonly code: string | undefined }> {
  const reply = await site.api.app.inject({
    url: `${PARTNER_PREFIX}/account`,
    headers: { authorization: `Bearer ${key}` },
  });
  const { error }: { error?: { code: string } } = reply.json();
  return { status: reply.statusCode, code: error?.code };
}

test('a form or an address with a NUL in it is refused', async () => {
  const { reply, records: found } = await recorded('/settings/customers/new', '/settings/customers/new', {
    name: 'Bakery\0Moreau',
  });
  expect([reply.status, found]).toEqual([400, []]);
  expect((await visitor.get('/settings/customers?before=%00')).status).toBe(400);
});

describe('the API key', () => {
  const PAGE = '/settings/api';
  const REFUSED = { status: 401, code: 'INVALID_API_KEY' };

  test('is none at first; generating one makes it active, and shows its secret once', async () => {
    expect((await visitor.get(PAGE)).text).not.toMatch(/Active|Revoked/);
    const { reply, records } = await recorded(PAGE, `${PAGE}/generate`, { name: 'billing' });
    expect(reply).toMatchObject({ status: 200, headers: { 'cache-control': 'no-store' } });
    expectOne(records, 'api_key.generated');
    const key = secretIn(reply.text, 'hfp_');
    expect(await accountWith(key)).toMatchObject({ status: 200 });
    for (const path of [PAGE, '/settings', '/settings/activity']) {
      const page = await visitor.get(path);
      expect(page.html, path).not.toContain(key);
    }
    expect((await visitor.get(PAGE)).text).toContain('billing Active');
    expect((await visitor.get(PAGE)).text).toContain(`${key.slice(0, 10)}…`);
  });

  test('is made once by a form, however often that is sent', async () => {
    const hidden = hiddenFields((await visitor.get(PAGE)).html, `${PAGE}/generate`);
    const send = async () => await visitor.post(`${PAGE}/generate`, { ...hidden, name: 'billing' });
    const replies = await Promise.all([send(), send(), send()]);
    const shown = replies.filter(({ html }) => html.includes('hfp_'));
    expect(shown).toHaveLength(1);
    const again = await send();
    expect(again).toMatchObject({ status: 303, location: `${PAGE}?done=once` });
    expect((await visitor.get(again.location ?? '')).text).toContain('nothing was done a second time');
    const key = secretIn(shown[0]?.text ?? '', 'hfp_');
    const regenerate = hiddenFields((await visitor.get(PAGE)).html, `${PAGE}/regenerate`);
    const next = secretIn((await visitor.post(`${PAGE}/regenerate`, regenerate)).text, 'hfp_');
    // The page loaded again: what it shows stays good.
    expect((await visitor.post(`${PAGE}/regenerate`, regenerate)).html).not.toContain('hfp_');
    expect(await accountWith(key)).toEqual(REFUSED);
    expect(await accountWith(next)).toMatchObject({ status: 200 });
  });

  test('needs a name, and there is one at a time', async () => {
    const unnamed = await recorded(PAGE, `${PAGE}/generate`, { name: ' ' });
    expect(unnamed.reply).toMatchObject({ status: 400 });
    expect(unnamed.reply.text).toContain('Enter a name');
    expect(unnamed.reply.html).toContain('aria-invalid="true"');
    const { html } = await visitor.get(PAGE);
    await visitor.send(PAGE, `${PAGE}/generate`, { name: 'first' });
    const hidden = hiddenFields(html, `${PAGE}/generate`);
    const second = await visitor.post(`${PAGE}/generate`, { ...hidden, name: 'second' });
    expect(second).toMatchObject({ status: 409 });
    expect(second.text).toContain('There is already an active API key. Regenerate it, or revoke it first.');
  });

  test('is replaced at once when it is regenerated, under the same name', async () => {
    const made = await visitor.send(PAGE, `${PAGE}/generate`, { name: 'billing' });
    const old = secretIn(made.text, 'hfp_');
    const { reply, records } = await recorded(PAGE, `${PAGE}/regenerate`);
    expectOne(records, 'api_key.regenerated');
    const next = secretIn(reply.text, 'hfp_');
    expect(next).not.toBe(old);
    expect(await accountWith(old)).toEqual(REFUSED);
    expect(await accountWith(next)).toMatchObject({ status: 200 });
    expect((await visitor.get(PAGE)).text).toContain('billing Active');
  });

  test('is refused once it is revoked; then there can be another one', async () => {
    const made = await visitor.send(PAGE, `${PAGE}/generate`, { name: 'billing' });
    const stale = await visitor.get(PAGE);
    const { reply, records } = await recorded(PAGE, `${PAGE}/revoke`);
    expect(reply.location).toBe(`${PAGE}?done=revoked`);
    expectOne(records, 'api_key.revoked');
    expect(await accountWith(secretIn(made.text, 'hfp_'))).toEqual(REFUSED);
    expect((await visitor.get(PAGE)).text).toContain('billing Revoked');
    // From a page of before.
    for (const action of [`${PAGE}/revoke`, `${PAGE}/regenerate`]) {
      const late = await visitor.post(action, hiddenFields(stale.html, action));
      expect(late.status, action).toBe(409);
      expect(late.html).not.toMatch(/hfp_\w{30}/);
    }
    const next = await visitor.send(PAGE, `${PAGE}/generate`, { name: 'again' });
    expect(await accountWith(secretIn(next.text, 'hfp_'))).toMatchObject({ status: 200 });
  });
});

describe('the account', () => {
  const PAGE = '/settings/second-factor';

  test('leaves one record of a changed password, and of a second factor that is set up or removed', async () => {
    const next = 'another long password';
    const password = { current: PASSWORD, next, again: next };
    expectOne(
      (await recorded('/settings', '/settings/password', password)).records,
      'partner.password_changed',
    );
    const page = await visitor.get(PAGE);
    const secret = /secret=([A-Z2-7]{32})/.exec(page.text)?.[1] ?? '';
    const code = totpCode(secret, Math.floor(site.clock.now() / 30_000));
    const before = (await records()).length;
    await visitor.post(PAGE, { ...hiddenFields(page.html, PAGE), code, password: next });
    const after = await records();
    expectOne(after.slice(0, after.length - before), 'partner.totp_set');
    const removed = await recorded(PAGE, `${PAGE}/remove`, { removing_password: next });
    expectOne(removed.records, 'partner.totp_removed');
    expect(JSON.stringify(await records())).not.toContain(secret);
  });
});

describe('customers', () => {
  const PAGE = '/settings/customers';
  const NEW = { name: 'Bakery Moreau', email: 'jo@moreau.example', external_id: 'K-1', plan_id: PLAN.pro };

  test('are added under the rules of the API, with what is wrong beside its field', async () => {
    const { reply, records } = await recorded(`${PAGE}/new`, `${PAGE}/new`, NEW);
    expectOne(records, 'customer.created');
    const path = reply.location ?? '';
    expect(path).toMatch(/^\/settings\/customers\/cus_\w+\?done=added$/);
    const page = await visitor.get(path);
    for (const shown of ['The customer was added.', NEW.name, NEW.email, NEW.external_id, 'Pro', 'Active'])
      expect(page.text).toContain(shown);
    expect((await visitor.get(PAGE)).text).toContain('1 customer. All');

    const wrong: Fields = { name: ' ', email: 'jo', external_id: 'x'.repeat(256), plan_id: 'plan_none' };
    const refused = await recorded(`${PAGE}/new`, `${PAGE}/new`, wrong);
    expect(refused.reply.status).toBe(400);
    expect(refused.records).toEqual([]);
    expect(refused.reply.html.match(/class="problem"/g)).toHaveLength(4);
    expect(refused.reply.html).toContain('value="jo"');
    const taken = await visitor.send(`${PAGE}/new`, `${PAGE}/new`, { ...NEW, name: 'Another' });
    expect(taken.status).toBe(409);
    expect(taken.text).toContain('Another customer already has this number');
    const nul = await visitor.send(`${PAGE}/new`, `${PAGE}/new`, { ...NEW, name: 'a\u0000b' });
    expect(nul.status).toBe(400);
  });

  test('are suspended, resumed, and given another plan', async () => {
    const { id } = await someCustomer(site.stores, acme.id);
    const path = `${PAGE}/${id}`;
    const suspended = await recorded(path, `${path}/suspend`);
    expectOne(suspended.records, 'customer.suspended');
    expect((await visitor.get(suspended.reply.location ?? '')).text).toContain('The customer is suspended.');
    expectOne((await recorded(path, `${path}/resume`)).records, 'customer.resumed');
    expectOne((await recorded(path, `${path}/plan`, { plan_id: PLAN.pro })).records, 'customer.plan_changed');
    expect(await site.stores.customers.get(acme.id, id)).toMatchObject({
      planId: PLAN.pro,
      status: 'active',
    });
    expect((await visitor.send(path, `${path}/plan`, { plan_id: 'plan_none' })).status).toBe(404);
  });

  test('get a token that is shown once, with the command that takes it', async () => {
    const { id } = await someCustomer(site.stores, acme.id);
    const path = `${PAGE}/${id}`;
    const { reply, records } = await recorded(path, `${path}/enroll`);
    expectOne(records, 'enrollment_token.created');
    expect(reply.headers['cache-control']).toBe('no-store');
    const [, address = '', token = ''] = /holdfast enroll (\S+) (hfe_\w+)/.exec(reply.text) ?? [];
    expect(address).toBe('http://localhost');
    expect((await visitor.get(path)).html).not.toContain(token);
    const facts = { name: 'front desk', platform: 'linux', agentVersion: '1.0.0' };
    const { device } = await site.stores.enrollment.enroll(token, facts, null);
    expect((await visitor.get(path)).text).toContain('Holdfast 1.0.0 None yet never');
    const outcome = backup(site.clock.now(), { status: 'failed', errorCode: 'DESTINATION_UNREACHABLE' });
    await site.stores.reports.accept(acme.id, device.id, report(1, { results: [outcome] }));
    expect((await visitor.get(path)).text).toContain('Failed 14 Nov 2023, 22:13 DESTINATION_UNREACHABLE');
    const removed = await recorded(path, `${path}/devices/${device.id}/remove`);
    expectOne(removed.records, 'device.removed');
    expect((await visitor.get(path)).text).not.toContain('front desk');
  });

  test('and their devices: one of another customer is not removed under this one', async () => {
    const [one, two] = [await someCustomer(site.stores, acme.id), await someCustomer(site.stores, acme.id)];
    const { device } = await someDevice(site.stores, acme.id, two.id);
    const hidden = hiddenFields((await visitor.get(`${PAGE}/${one.id}`)).html, `${PAGE}/${one.id}/enroll`);
    const reply = await visitor.post(`${PAGE}/${one.id}/devices/${device.id}/remove`, hidden);
    expect(reply.status).toBe(404);
    expect(await site.stores.devices.get(acme.id, device.id)).toBeDefined();
  });

  test('are listed fifty at a time', async () => {
    for (let count = 0; count < 60; count += 1)
      await someCustomer(site.stores, acme.id, { name: `Customer ${count}` });
    const first = await visitor.get(PAGE);
    const older = /href="([^"]*\?before=[^"]*)"/.exec(first.html)?.[1] ?? '';
    const second = await visitor.get(older);
    const names = [first, second].flatMap(({ html }) =>
      [...html.matchAll(/<bdi>(Customer \d+)</g)].map(([, name]) => name),
    );
    expect(new Set(names).size).toBe(60);
    expect(second.html).not.toContain('?before=');
  });
});

test('plans are shown with their limits and their price', async () => {
  const { text } = await visitor.get('/settings/plans');
  for (const plan of await site.stores.plans.list()) {
    expect(text).toContain(plan.name);
    expect(text).toContain(plan.id);
    if (plan.price.cents > 0) expect(text).toContain((plan.price.cents / 100).toFixed(2));
  }
  expect(text).toContain('1,000 requests per hour');
});

describe('usage', () => {
  test('is shown by day for 30 or 90 days, and given out as a file', async () => {
    const customer = await someCustomer(site.stores, acme.id);
    const { device } = await someDevice(site.stores, acme.id, customer.id);
    const now = site.clock.now();
    const storage = { bytes: 3 * 2 ** 30, at: now };
    const results = [backup(now, { uploadedBytes: 2 ** 20 }), backup(now, { status: 'failed' })];
    await site.stores.reports.accept(acme.id, device.id, report(1, { storage, results }));
    const page = await visitor.get('/settings/usage');
    expect(page.text).toContain('16 Oct 2023 to 14 Nov 2023');
    for (const shown of ['Stored now 3.0 GiB', 'Uploaded 1.0 MiB', 'Backups 1 1 failed'])
      expect(page.text).toContain(shown);
    // Each of the two charts once for wide pages and once for narrow ones, with a bar for every day.
    for (const width of ['wide', 'narrow'])
      expect(page.html.match(new RegExp(`<svg class="chart ${width}"`, 'g'))).toHaveLength(2);
    expect(page.html.match(/class="bar-good"/g)).toHaveLength(2 * 30);
    const quarter = await visitor.get('/settings/usage?days=90');
    expect(quarter.html.match(/class="bar-good"/g)).toHaveLength(2 * 90);
    expect((await visitor.get('/settings/usage?days=31')).status).toBe(400);
    const file = await visitor.get('/settings/usage.csv?days=30');
    expect(file.headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-disposition': 'attachment; filename="usage-2023-10-16-2023-11-14.csv"',
    });
    const lines = file.html.split('\r\n');
    expect(lines).toHaveLength(32);
    expect(lines[0]).toBe(
      'period,storage_bytes,uploaded_bytes,restored_bytes,backups_completed,backups_failed,active_customers,api_requests',
    );
    expect(lines[30]).toBe('2023-11-14,3221225472,1048676,0,1,1,1,0');
    expect(lines[31]).toBe('');
  });
});

describe('webhooks', () => {
  const PAGE = '/settings/webhooks';
  const NEW = {
    url: 'https://hooks.example.com/x',
    description: 'tickets',
    events: ['backup.failed', 'backup.missed'],
  };

  async function added(): Promise<{ readonly id: string; readonly path: string; readonly secret: string }> {
    const { reply, records } = await recorded(`${PAGE}/new`, `${PAGE}/new`, NEW);
    expectOne(records, 'webhook.created');
    const secret = secretIn(reply.text, 'whsec_');
    const { items } = await site.stores.webhooks.list(acme.id, { limit: 1 });
    const id = items[0]?.id ?? '';
    return { id, path: `${PAGE}/${id}`, secret };
  }

  test('are added with a secret that is shown once and is sealed for them', async () => {
    const { id, path, secret } = await added();
    for (const page of [PAGE, path, '/settings/activity'])
      expect((await visitor.get(page)).html).not.toContain(secret);
    expect(await site.stores.webhooks.get(acme.id, id)).toMatchObject({ url: NEW.url, events: NEW.events });
    const target = await site.stores.webhooks.target(acme.id, id);
    const opened = target?.sealedSecrets.map((sealed) =>
      site.keys.sealing.open('webhook secret', id, sealed),
    );
    expect(opened).toEqual([secret]);
  });

  test.each(['http://hooks.example.com/', 'https://10.0.0.1/', 'https://localhost/', 'hooks', ''])(
    'are not added for an address that may not be used: %s',
    async (url) => {
      const { reply, records } = await recorded(`${PAGE}/new`, `${PAGE}/new`, { ...NEW, url });
      expect(reply.status).toBe(400);
      expect(reply.html).toContain('id="url-problem"');
      expect(reply.html).toMatch(/value="backup\.missed"\s+checked/);
      expect(records).toEqual([]);
    },
  );

  test('are ten at most', async () => {
    for (let count = 0; count < 10; count += 1) await visitor.send(`${PAGE}/new`, `${PAGE}/new`, NEW);
    const reply = await visitor.send(`${PAGE}/new`, `${PAGE}/new`, NEW);
    expect(reply.status).toBe(409);
    expect(reply.text).toContain('There are already 10 webhooks. Delete one first.');
    expect(reply.html).not.toContain('whsec_');
  });

  test('sign with the old and the new secret for a day after a rotation', async () => {
    const { id, path, secret } = await added();
    const { reply, records } = await recorded(path, `${path}/rotate-secret`);
    expectOne(records, 'webhook.secret_rotated');
    const next = secretIn(reply.text, 'whsec_');
    expect(next).not.toBe(secret);
    const signing = async () => {
      const target = await site.stores.webhooks.target(acme.id, id);
      return target?.sealedSecrets.map((sealed) => site.keys.sealing.open('webhook secret', id, sealed));
    };
    expect(await signing()).toEqual([next, secret]);
    site.clock.jump(24 * 3_600_000);
    expect(await signing()).toEqual([next]);
  });

  test('are tested, disabled, enabled and deleted; what was sent is listed, and sent again', async () => {
    const { id, path } = await added();
    const tested = await recorded(path, `${path}/test`);
    expectOne(tested.records, 'webhook.tested');
    expect((await visitor.get(tested.reply.location ?? '')).text).toContain('webhook.test');
    expectOne((await recorded(path, `${path}/disable`)).records, 'webhook.updated');
    const page = await visitor.get(path);
    expect(page.text).toContain('Webhook Disabled');
    const [delivery] = (await site.stores.deliveries.list(acme.id, id, { limit: 10 })).items;
    expect(delivery).toMatchObject({ status: 'failed' });
    expectOne((await recorded(path, `${path}/enable`)).records, 'webhook.updated');
    const resend = `${path}/deliveries/${delivery?.id}/resend`;
    expectOne((await recorded(path, resend)).records, 'delivery.retried');
    expect((await site.stores.deliveries.list(acme.id, id, { limit: 10 })).items).toMatchObject([
      { status: 'pending', attempts: 0 },
    ]);
    const deleted = await recorded(path, `${path}/delete`);
    expectOne(deleted.records, 'webhook.deleted');
    expect((await visitor.get(deleted.reply.location ?? '')).text).toContain('The webhook was deleted.');
    expect((await visitor.get(path)).status).toBe(404);
  });
});

describe('activity', () => {
  test('names what was done, by whom, and what changed; no secret is in it', async () => {
    const made = await visitor.send('/settings/api', '/settings/api/generate', { name: 'billing' });
    const customer = await someCustomer(site.stores, acme.id);
    await site.stores.customers.suspend(acme.id, customer.id, {
      name: 'api',
      keyId: null,
      ip: '203.0.113.7',
    });
    const { text, html } = await visitor.get('/settings/activity');
    for (const shown of [
      'Signed in',
      'API key generated',
      'Customer suspended',
      'API key 203.0.113.7',
      'Settings page',
    ])
      expect(text).toContain(shown);
    expect(text).toContain('"status": "suspended"');
    expect(html).not.toContain(secretIn(made.text, 'hfp_'));
    expect(text).not.toContain(OWNER.keyId ?? 'argon2');
  });
});
