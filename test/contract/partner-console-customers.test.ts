/** What a partner with many customers does on the settings page: sees who needs attention, finds, changes and deletes them, and bills. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Partner } from '../../src/partner/store/partners.ts';
import { consoleSite, type ConsoleSite, type ConsoleVisitor } from '../support/console-site.ts';
import { backup, OWNER, PLAN, report, someCustomer, someDevice } from '../support/partner-store-site.ts';

const PAGE = '/settings/customers';
const DAY = 86_400_000;

let site: ConsoleSite;
let acme: Partner;
let visitor: ConsoleVisitor;
beforeEach(async () => {
  site = await consoleSite();
  acme = await site.partner('acme');
  visitor = await site.signedIn('acme');
});
afterEach(async () => await site.remove());

/** The session does not last as long as the time that passes. */
async function later(ms: number): Promise<void> {
  site.clock.jump(ms);
  visitor = await site.signedIn('acme');
}

const lastAction = async (): Promise<string | undefined> =>
  (await site.stores.audit.list(acme.id, { limit: 1 })).items[0]?.action;

describe('the end of a trial', () => {
  test('is shown before and after it, in the list and on the page of the customer', async () => {
    const { id } = await someCustomer(site.stores, acme.id, { name: 'Moreau', planId: PLAN.trial });
    await someCustomer(site.stores, acme.id, { name: 'Ada' });
    const path = `${PAGE}/${id}`;
    expect((await visitor.get(path)).text).toContain('trial ends in 14 days:');
    const early = await visitor.get(PAGE);
    expect(early.text).toContain('Trials at their end: 0');
    expect(early.text).not.toContain('Trial ends');

    await later(8.5 * DAY);
    const before = await visitor.get(PAGE);
    expect(before.text).toContain('Trials at their end: 1');
    expect(before.text).toContain('Trial ends in 5 days');
    expect((await visitor.get('/settings')).text).toContain(
      'In all 2 Need attention 1 Trials that end this week or have ended 1',
    );
    expect((await visitor.get(path)).text).toContain('From a week after the end');
    expect((await visitor.get(`${PAGE}?show=trials`)).text).not.toContain('Ada');

    await later(5 * DAY);
    expect((await visitor.get(PAGE)).text).toContain('Trial ends within a day');
    await later(DAY);
    expect((await visitor.get(PAGE)).text).toContain('Trial ended');
    expect((await visitor.get(path)).text).toContain('trial ended: 28 Nov 2023');
    await site.stores.customers.patch(acme.id, id, { planId: PLAN.pro }, OWNER);
    expect((await visitor.get(PAGE)).text).not.toContain('Trial ended');
  });
});

describe('customers among many', () => {
  test('are found by a search, and by what needs attention', async () => {
    const [ada, bob] = [
      await someCustomer(site.stores, acme.id, { name: 'Ada', externalId: 'K-1' }),
      await someCustomer(site.stores, acme.id, { name: 'Bob & Sons', email: 'bob@sons.example' }),
    ];
    for (const { id, storageLimitBytes } of [ada, bob]) {
      const { device } = await someDevice(site.stores, acme.id, id);
      const isBad = id === bob.id;
      const outcome = backup(
        site.clock.now(),
        isBad ? { status: 'failed', errorCode: 'DESTINATION_UNREACHABLE' } : {},
      );
      const storage = { bytes: storageLimitBytes + (isBad ? 1 : 0), at: site.clock.now() };
      await site.stores.reports.accept(acme.id, device.id, report(1, { storage, results: [outcome] }));
    }
    const names = async (query: string): Promise<readonly string[]> =>
      ['Ada', 'Bob & Sons'].filter((name) => all.get(query)?.includes(`> ${name} <`) === true);
    const all = new Map<string, string>();
    for (const query of [
      '',
      '?q=k-1',
      '?q=SONS.example',
      '?show=attention',
      '?show=attention&q=ada',
      '?q=nobody',
    ])
      all.set(
        query,
        (await visitor.get(`${PAGE}${query}`)).html.replaceAll(
          /<bdi>([^<]*)<\/bdi>/g,
          (_, name: string) => `> ${name.replace('&amp;', '&')} <`,
        ),
      );
    expect(await names('')).toEqual(['Ada', 'Bob & Sons']);
    expect(await names('?q=k-1')).toEqual(['Ada']);
    expect(await names('?q=SONS.example')).toEqual(['Bob & Sons']);
    expect(await names('?show=attention')).toEqual(['Bob & Sons']);
    expect(await names('?show=attention&q=ada')).toEqual([]);
    const { text } = await visitor.get(PAGE);
    for (const shown of ['Needs attention: 1', 'Backup failed', 'Over its storage'])
      expect(text).toContain(shown);
    expect((await visitor.get(`${PAGE}?q=nobody`)).text).toContain('No customer is shown with this choice.');
    expect((await visitor.get(`${PAGE}?show=all`)).status).toBe(400);
    expect((await visitor.get(`${PAGE}/${bob.id}`)).text).toContain('Nothing is held back');
  });

  test('keep the choice from page to page', async () => {
    for (let count = 0; count < 51; count += 1)
      await someCustomer(site.stores, acme.id, { name: `Customer ${count}`, planId: PLAN.trial });
    await later(8 * DAY);
    const { html } = await visitor.get(`${PAGE}?show=trials&q=customer`);
    const older = /href="([^"]*before=[^"]*)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect(older).toMatch(/^\/settings\/customers\?show=trials&q=customer&before=cus_/);
    expect((await visitor.get(older)).html).toContain('<bdi>Customer 0</bdi>');
  });

  test('are named in the activity, with their devices', async () => {
    const { id } = await someCustomer(site.stores, acme.id, { name: 'Bakery Moreau' });
    await someDevice(site.stores, acme.id, id);
    const { text } = await visitor.get('/settings/activity');
    expect(text).toContain(`Customer added Bakery Moreau ${id}`);
    expect(text).toMatch(/Device enrolled laptop, Bakery Moreau dev_/);
    await site.stores.customers.remove(acme.id, id, OWNER);
    expect((await visitor.get('/settings/activity')).text).toContain(`Customer deleted Bakery Moreau ${id}`);
  });
});

describe('a customer', () => {
  test('is changed under the rules of the API', async () => {
    const { id } = await someCustomer(site.stores, acme.id, { name: 'Ada', metadata: { team: 'north' } });
    await someCustomer(site.stores, acme.id, { externalId: 'K-1' });
    const path = `${PAGE}/${id}/edit`;
    const fields = { name: 'Ada Moreau', email: 'ada@moreau.example', external_id: 'K-2' };
    expect((await visitor.send(path, path, fields)).location).toBe(`${PAGE}/${id}?done=changed`);
    expect(await site.stores.customers.get(acme.id, id)).toMatchObject({
      name: 'Ada Moreau',
      email: 'ada@moreau.example',
      externalId: 'K-2',
      metadata: { team: 'north' },
    });
    expect(await lastAction()).toBe('customer.updated');
    const wrong = await visitor.send(path, path, { name: ' ', email: 'ada', external_id: '' });
    expect(wrong.status).toBe(400);
    expect(wrong.html.match(/class="problem"/g)).toHaveLength(2);
    const taken = await visitor.send(path, path, { ...fields, external_id: 'K-1' });
    expect(taken.status).toBe(409);
    expect(taken.text).toContain('Another customer already has this number');
    expect((await visitor.get(`${PAGE}/cus_none/edit`)).status).toBe(404);
  });

  test('who is suspended gets no token, and is told so before one is asked for', async () => {
    const { id } = await someCustomer(site.stores, acme.id);
    const path = `${PAGE}/${id}`;
    const form = (await visitor.get(path)).html;
    await visitor.send(path, `${path}/suspend`);
    const page = await visitor.get(path);
    expect(page.html).not.toContain(`action="${path}/enroll"`);
    expect(page.html).toMatch(/<button[^>]*disabled[^>]*>Enroll a device/);
    expect(page.text).toContain('Resume them to enroll a device.');
    // Whoever still has the page from before is told, too.
    const fields = [...form.matchAll(/name="(form_id|form_token)" value="([^"]*)"/g)];
    const late = await visitor.post(
      `${path}/enroll`,
      Object.fromEntries(fields.map(([, name = '', value = '']) => [name, value])),
    );
    expect(late.status).toBe(403);
    expect(late.text).toContain('Resume the customer first.');
    expect(late.html).not.toContain('hfe_');
  });

  test('is deleted after a question, and its usage stays', async () => {
    const { id } = await someCustomer(site.stores, acme.id, { name: 'Moreau' });
    const { device } = await someDevice(site.stores, acme.id, id);
    const results = [backup(site.clock.now(), { uploadedBytes: 2 ** 20 })];
    await site.stores.reports.accept(acme.id, device.id, report(1, { results }));
    const path = `${PAGE}/${id}`;
    expect((await visitor.get(path)).text).toContain('This cannot be undone.');
    const deleted = await visitor.send(path, `${path}/delete`);
    expect((await visitor.get(deleted.location ?? '')).text).toContain('The customer was deleted.');
    expect(await lastAction()).toBe('customer.deleted');
    expect((await visitor.get(path)).status).toBe(404);
    const usage = await visitor.get(`/settings/usage?customer=${id}`);
    expect(usage.text).toContain('Usage of Moreau');
    expect(usage.text).toContain('Uploaded 1.0 MiB');
    expect((await visitor.get('/settings/usage?customer=cus_none')).status).toBe(404);
  });
});

test('a month is billed with one file, with a line for each customer', async () => {
  const ids: string[] = [];
  for (const name of ['=Ada', 'Bob']) {
    const { id } = await someCustomer(site.stores, acme.id, { name });
    const { device } = await someDevice(site.stores, acme.id, id);
    const storage = { bytes: 700, at: site.clock.now() };
    await site.stores.reports.accept(
      acme.id,
      device.id,
      report(1, { storage, results: [backup(site.clock.now())] }),
    );
    ids.unshift(id);
  }
  const page = await visitor.get('/settings/usage');
  const link = '/settings/usage-by-customer.csv?month=2023-11';
  expect(page.html).toContain(`href="${link}"`);
  expect(page.html).toContain('usage-by-customer.csv?month=2023-10');
  const file = await visitor.get(link);
  expect(file.headers).toMatchObject({
    'content-type': 'text/csv; charset=utf-8; header=present',
    'content-disposition': 'attachment; filename="customers-2023-11.csv"',
  });
  expect(file.html.split('\r\n').slice(1)).toEqual([
    `${ids[0]},Bob,,${PLAN.business},,700,100,0,1,0`,
    `${ids[1]},'=Ada,,${PLAN.business},,700,100,0,1,0`,
    '',
  ]);
  expect((await visitor.get('/settings/usage-by-customer.csv?month=2023-13')).status).toBe(400);
});
