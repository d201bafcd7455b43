/** Lines P01 to P05 and P12 of the security checklist: keys, tenants, bounds, repeated requests, rates, the audit log. */
// Turn 8 of 8.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PARTNER_PREFIX } from '../../src/partner/resources/values.ts';
import { partnerRoutes } from '../support/partner-judge.ts';
import {
  enrolledAgent,
  partnerApiSite,
  type PartnerApiSite,
  type Reply,
} from '../support/partner-api-site.ts';
import { OWNER, auditActions, someCustomer } from '../support/partner-store-site.ts';

let site: PartnerApiSite;
let ask: PartnerApiSite['ask'];

beforeEach(async () => {
  site = await partnerApiSite();
  ({ ask } = site);
});
afterEach(async () => await site[Symbol.asyncDispose]());

type Method = Parameters<PartnerApiSite['ask']>[0];

describe('P01: an API key', () => {
  test('has 180 random bits and a checksum, and is nowhere in the store', async () => {
    const { secret } = (await site.stores.apiKeys.regenerate(site.partnerId, OWNER)) ?? { secret: '' };
    expect(secret).toMatch(/^hfp_[0-9A-Za-z]{36}$/);
    expect((await ask('GET', '/account', { key: secret })).status).toBe(200);
    const stored = await site.store.stored();
    expect(stored.includes(secret)).toBe(false);
    // What is looked for at all is found.
    expect(stored.includes(site.partnerId)).toBe(true);
  });

  test('is void at once, in every instance, when it is replaced or revoked', async () => {
    const other = await site.store.open();
    const first = (await site.stores.apiKeys.regenerate(site.partnerId, OWNER))?.secret ?? '';
    expect((await ask('GET', '/account', { key: first })).status).toBe(200);
    const second = (await other.apiKeys.regenerate(site.partnerId, OWNER))?.secret ?? '';
    expect(await ask('GET', '/account', { key: first })).toMatchObject({ code: 'INVALID_API_KEY' });
    expect((await ask('GET', '/account', { key: second })).status).toBe(200);
    await other.apiKeys.revoke(site.partnerId, OWNER);
    expect(await ask('GET', '/account', { key: second })).toMatchObject({
      status: 401,
      code: 'INVALID_API_KEY',
    });
  });
});

/** Of the first partner: one of everything that has an id. */
async function records(): Promise<Readonly<Record<string, string>>> {
  const device = await enrolledAgent(site);
  const webhook = await ask('POST', '/webhooks', { body: { url: 'https://hooks.example.org/holdfast' } });
  const webhookId = String(webhook.data['id']);
  await ask('POST', `/webhooks/${webhookId}/test`);
  const deliveries = (await ask('GET', `/webhooks/${webhookId}/deliveries`)).data['items'];
  const [delivery] = deliveries as readonly { readonly id: string }[];
  return {
    customers: device.customerId,
    devices: device.id,
    webhooks: webhookId,
    deliveries: delivery?.id ?? '',
  };
}

/** What a route needs to be let through to its record. */
const BODIES: Readonly<Record<string, object>> = {
  'PATCH /customers/{id}': { name: 'Mine now' },
  'PATCH /webhooks/{id}': { description: 'mine now' },
  'POST /devices/{id}/orders': { order: 'report' },
};

const withRecord = partnerRoutes.filter(
  ({ path }) => path.includes('{') && !path.startsWith('/plans') && !path.startsWith('/devices/self'),
);

describe('P02: the records of another partner', () => {
  let ids: Readonly<Record<string, string>>;
  let stranger: string;
  const target = (path: string): string =>
    path
      .replace('{delivery_id}', ids['deliveries'] ?? '')
      .replace(/\{\w+\}/, ids[path.split('/')[1] ?? ''] ?? '');

  beforeEach(async () => {
    ids = await records();
    stranger = await site.otherKey();
  });

  test('there are routes to ask, and the records are there', async () => {
    expect(withRecord.length).toBeGreaterThan(12);
    for (const id of Object.values(ids)) expect(id).not.toBe('');
    for (const path of ['/customers/{id}', '/devices/{id}', '/webhooks/{id}'])
      expect((await ask('GET', target(path))).status).toBe(200);
  });

  test.each(withRecord.map((route) => [`${route.method} ${route.path}`, route] as const))(
    '%s: 404, as for one that never was',
    async (name, { method, path }) => {
      const before = await auditActions(site.stores, site.partnerId);
      const body = BODIES[name];
      const asked = { key: stranger, ...(body === undefined ? {} : { body }) };
      const reply = await ask(method as Method, target(path), asked);
      expect(reply.status).toBe(404);
      const unknown = path.replaceAll(/\{\w+\}/g, 'cus_01HF81RNM0CPX3SKJ8P896964M');
      const never = await ask(method as Method, unknown, asked);
      expect([never.status, never.code]).toEqual([404, reply.code]);
      for (const id of Object.values(ids)) expect(reply.text).not.toContain(id);
      expect(await auditActions(site.stores, site.partnerId)).toEqual(before);
    },
  );

  test('are in no list, and in no figure', async () => {
    const account = await ask('GET', '/account', { key: stranger });
    expect(account.data).toMatchObject({ customers_count: 0 });
    for (const path of ['/customers', '/webhooks', '/events']) {
      const { data } = await ask('GET', path, { key: stranger });
      expect([path, data['items']]).toEqual([path, []]);
    }
  });
});

describe('P03: what is asked and answered is bounded', () => {
  test.each([
    ['a list of more than 100', 'GET', '/customers?limit=101', undefined, 'INVALID_REQUEST'],
    ['a cursor of another list', 'GET', '/events?cursor=abc', undefined, 'INVALID_CURSOR'],
    ['a field that there is not', 'POST', '/customers', { name: 'A', plan: 'pro' }, 'UNKNOWN_FIELD'],
    ['a text in the place of a number', 'POST', '/customers', { name: 5 }, 'INVALID_REQUEST'],
  ] as const)('%s is refused', async (_what, method, path, body, code) => {
    const reply = await ask(method, path, body === undefined ? {} : { body });
    expect([reply.status, reply.code]).toEqual([400, code]);
  });

  test('a body above 1 MiB is refused', async () => {
    const reply = await ask('POST', '/customers', { body: { name: 'x'.repeat(1_048_576) } });
    expect([reply.status, reply.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
  });
});

describe('P04: a request that is repeated', () => {
  test('a thousand times in any order has one effect for each key', async () => {
    await site[Symbol.asyncDispose]();
    const many = { requests: 10_000, windowMs: 60_000 };
    site = await partnerApiSite({ partner: many });
    ({ ask } = site);
    const send = async (number: number): Promise<Reply> =>
      await ask('POST', '/customers', {
        headers: { 'idempotency-key': `key-${number % 50}` },
        body: { name: `Customer ${number % 50}` },
      });
    const first = await Promise.all(Array.from({ length: 500 }, async (_, number) => await send(number)));
    const second = await Promise.all(
      Array.from({ length: 500 }, async (_, number) => await send(499 - number)),
    );
    for (const { status } of first) expect([201, 409]).toContain(status);
    for (const { status } of second) expect(status).toBe(201);
    const ids = new Set(second.map(({ data }) => data['id']));
    expect(ids.size).toBe(50);
    expect((await ask('GET', '/account')).data).toMatchObject({ customers_count: 50 });
  });
});

describe('P05: the rate', () => {
  test('is exact for each partner, whatever key is used, and says when to come back', async () => {
    const key = (await site.stores.apiKeys.regenerate(site.partnerId, OWNER))?.secret ?? '';
    const replies = await Promise.all(
      Array.from({ length: 150 }, async () => await ask('GET', '/plans', { key })),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(120);
    const refused = replies.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(30);
    for (const { headers } of refused) expect(Number(headers['retry-after'])).toBe(60);
    const next = (await site.stores.apiKeys.regenerate(site.partnerId, OWNER))?.secret ?? '';
    expect((await ask('GET', '/plans', { key: next })).status).toBe(429);
    site.store.clock.jump(60_000);
    expect((await ask('GET', '/plans', { key: next })).status).toBe(200);
  });
});

describe('P12: every change', () => {
  test('leaves one record of who made it, from where, and of what was before and after', async () => {
    const { id } = await someCustomer(site.stores, site.partnerId);
    const count = async (): Promise<number> => (await auditActions(site.stores, site.partnerId)).length;
    const webhook = await ask('POST', '/webhooks', { body: { url: 'https://hooks.example.org/a' } });
    const device = await enrolledAgent(site, id);
    const changes: readonly (readonly [Method, string, object?])[] = [
      ['POST', '/customers', { name: 'Two' }],
      ['PATCH', `/customers/${id}`, { name: 'Three' }],
      ['POST', `/customers/${id}/suspend`],
      ['POST', `/customers/${id}/resume`],
      ['POST', `/customers/${id}/enrollment-tokens`],
      ['POST', `/devices/${device.id}/orders`, { order: 'report' }],
      ['DELETE', `/devices/${device.id}`],
      ['PATCH', `/webhooks/${String(webhook.data['id'])}`, { description: 'x' }],
      ['POST', `/webhooks/${String(webhook.data['id'])}/rotate-secret`],
      ['POST', `/webhooks/${String(webhook.data['id'])}/test`],
      ['DELETE', `/webhooks/${String(webhook.data['id'])}`],
      ['DELETE', `/customers/${id}`],
    ];
    for (const [method, path, body] of changes) {
      const before = await count();
      const reply = await ask(method, path, body === undefined ? {} : { body });
      expect([path, reply.status < 300]).toEqual([path, true]);
      expect([method, path, await count()]).toEqual([method, path, before + 1]);
    }
    const { items } = await site.stores.audit.list(site.partnerId, { limit: 100 });
    const made = items.filter(({ actor }) => actor.name === 'api');
    expect(made.length).toBeGreaterThanOrEqual(changes.length);
    for (const { actor } of made) expect(actor).toMatchObject({ keyId: expect.any(String), ip: '127.0.0.1' });
    expect(items.find(({ action }) => action === 'customer.updated')).toMatchObject({
      before: { name: 'Ada' },
      after: { name: 'Three' },
    });
  });

  test('no route reaches the records to change them', () => {
    expect(partnerRoutes.filter(({ path }) => path.includes('audit'))).toEqual([]);
    expect(PARTNER_PREFIX).toBe('/api/partner/v1');
  });
});
