/** The Partner API as docs/api/partner.yaml says: every reply is judged by it. */
// Turn 4 of 8.
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createPartnerApp, type PartnerApp } from '../../src/partner/http/app.ts';
import { PARTNER_PREFIX } from '../../src/partner/resources/values.ts';
import { keysFrom } from '../../src/partner/secrets/keys.ts';
import type { Partner } from '../../src/partner/store/partners.ts';
import type { PartnerStores } from '../../src/partner/store/store.ts';
import { judgePartner } from '../support/partner-judge.ts';
import { OWNER, PLAN, somePartner, storeSite, type StoreSite } from '../support/partner-store-site.ts';

let site: StoreSite;
let stores: PartnerStores;
let api: PartnerApp;
let acme: Partner;
let key: string;

beforeEach(async () => {
  site = await storeSite();
  stores = await site.open();
  api = await createPartnerApp({
    stores,
    clock: site.clock,
    keys: keysFrom(randomBytes(32)),
    version: '1.0.0',
  });
  acme = await somePartner(stores);
  key = (await stores.apiKeys.generate(acme.id, 'billing', OWNER)).secret;
});
afterEach(async () => {
  await api.close();
  await site.remove();
});

interface Asked {
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly data: Readonly<Record<string, unknown>>;
  readonly code: string | undefined;
}

async function ask(
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path: string,
  asked: Asked = {},
): Promise<Reply> {
  const url = `${PARTNER_PREFIX}${path}`;
  const secret = asked.key === undefined ? key : asked.key;
  const reply = await api.app.inject({
    method,
    url,
    headers: {
      ...(secret === null ? {} : { authorization: `Bearer ${secret}` }),
      ...(asked.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...asked.headers,
    },
    ...(asked.body === undefined
      ? {}
      : { payload: typeof asked.body === 'string' ? asked.body : JSON.stringify(asked.body) }),
  });
  judgePartner(method, url, {
    status: reply.statusCode,
    headers: reply.headers,
    text: reply.body,
  });
  const { data = {}, error }: { data?: Record<string, unknown>; error?: { code: string } } = reply.json();
  return { status: reply.statusCode, headers: reply.headers, data, code: error?.code };
}

describe('a key', () => {
  test('is taken from Authorization, or from X-API-Key when there is none', async () => {
    const bearer = await ask('GET', '/account');
    expect(bearer).toMatchObject({ status: 200, data: { id: acme.id, object: 'account', status: 'active' } });
    const header = await ask('GET', '/account', { key: null, headers: { 'x-api-key': key } });
    expect(header).toMatchObject({ status: 200, data: { id: acme.id } });
    const both = { 'x-api-key': key };
    expect((await ask('GET', '/account', { key: 'hfp_wrong', headers: both })).code).toBe('INVALID_API_KEY');
    expect((await ask('GET', '/account', { headers: { 'x-api-key': 'hfp_wrong' } })).status).toBe(200);
  });

  test('that is missing or malformed is told from one that is not valid', async () => {
    expect(await ask('GET', '/account', { key: null })).toMatchObject({ status: 401, code: 'UNAUTHORIZED' });
    const basic = { authorization: 'Basic abc' };
    expect((await ask('GET', '/account', { key: null, headers: basic })).code).toBe('UNAUTHORIZED');
    expect(await ask('GET', '/account', { key: 'hfp_x' })).toMatchObject({
      status: 401,
      code: 'INVALID_API_KEY',
    });
  });

  test('that is replaced or revoked is void at once', async () => {
    const next = await stores.apiKeys.regenerate(acme.id, OWNER);
    expect(await ask('GET', '/account')).toMatchObject({ status: 401, code: 'INVALID_API_KEY' });
    expect((await ask('GET', '/account', { key: next?.secret ?? '' })).status).toBe(200);
    await stores.apiKeys.revoke(acme.id, OWNER);
    expect(await ask('GET', '/account', { key: next?.secret ?? '' })).toMatchObject({
      status: 401,
      code: 'INVALID_API_KEY',
    });
  });

  test('of an account that is suspended reads the account and nothing else', async () => {
    await stores.partners.setStatus(acme.id, 'suspended', OWNER);
    expect(await ask('GET', '/account')).toMatchObject({ status: 200, data: { status: 'suspended' } });
    expect(await ask('GET', '/customers')).toMatchObject({ status: 403, code: 'PARTNER_SUSPENDED' });
  });
});

describe('the rate limit', () => {
  test('lets 120 requests through in any 60 seconds, and says exactly when the next one will be', async () => {
    for (let count = 1; count <= 120; count += 1) {
      const { status, headers } = await ask('GET', '/plans');
      expect([status, headers['x-ratelimit-remaining']]).toEqual([200, String(120 - count)]);
      site.clock.jump(100);
    }
    const refused = await ask('GET', '/plans');
    expect(refused).toMatchObject({ status: 429, code: 'RATE_LIMIT_EXCEEDED' });
    const wait = Number(refused.headers['retry-after']);
    expect(wait).toBe(48);
    site.clock.jump((wait - 1) * 1_000 - 1);
    expect((await ask('GET', '/plans')).status).toBe(429);
    site.clock.jump(1_001);
    expect((await ask('GET', '/plans')).status).toBe(200);
  });

  test('is of the partner: another key does not begin it anew, and others have their own', async () => {
    for (let count = 0; count < 120; count += 1) await ask('GET', '/error-codes');
    const next = await stores.apiKeys.regenerate(acme.id, OWNER);
    expect((await ask('GET', '/plans', { key: next?.secret ?? '' })).status).toBe(429);
    const other = await somePartner(stores, 'other');
    const { secret } = await stores.apiKeys.generate(other.id, 'key', OWNER);
    expect((await ask('GET', '/plans', { key: secret })).status).toBe(200);
  });

  test('of requests without a valid key is by address', async () => {
    await api.close();
    const anonymous = { requests: 2, windowMs: 60_000 };
    const keys = keysFrom(randomBytes(32));
    api = await createPartnerApp({
      stores,
      clock: site.clock,
      keys,
      version: '1.0.0',
      limits: { anonymous },
    });
    expect((await ask('GET', '/changelog', { key: null })).status).toBe(200);
    expect((await ask('GET', '/account', { key: 'hfp_wrong' })).status).toBe(401);
    expect(await ask('GET', '/changelog', { key: null })).toMatchObject({ status: 429 });
    expect((await ask('GET', '/account')).status).toBe(200);
  });
});

describe('customers', () => {
  const body = { name: 'Bakery', email: 'a@b.test', external_id: 'crm-1', metadata: { branch: 'lyon' } };

  test('are added on the free trial, changed, suspended, resumed and deleted', async () => {
    const made = await ask('POST', '/customers', { body });
    expect(made).toMatchObject({ status: 201, data: { ...body, plan_id: PLAN.trial, status: 'active' } });
    expect(made.data['trial_ends_at']).not.toBe(null);
    const at = `/customers/${String(made.data['id'])}`;
    expect((await ask('GET', at)).data).toEqual(made.data);
    const plan = { plan_id: PLAN.pro, email: null };
    expect((await ask('PATCH', at, { body: plan })).data).toMatchObject({ ...plan, trial_ends_at: null });
    expect((await ask('POST', `${at}/suspend`)).data).toMatchObject({ status: 'suspended' });
    expect((await ask('POST', `${at}/resume`)).data).toMatchObject({ status: 'active' });
    expect((await ask('GET', '/account')).data).toMatchObject({ customers_count: 1 });
    expect((await ask('DELETE', at)).data).toEqual({ id: made.data['id'], deleted: true });
    expect(await ask('GET', at)).toMatchObject({ status: 404, code: 'CUSTOMER_NOT_FOUND' });
    const { data } = await ask('GET', '/events');
    expect((data['items'] as readonly { type: string }[]).map(({ type }) => type)).toEqual([
      'customer.deleted',
      'customer.resumed',
      'customer.suspended',
      'customer.plan_changed',
      'customer.created',
    ]);
  });

  test('have one trial, however often they come back to it', async () => {
    const made = await ask('POST', '/customers', { body });
    const at = `/customers/${String(made.data['id'])}`;
    site.clock.jump(5 * 86_400_000);
    expect((await ask('PATCH', at, { body: { plan_id: PLAN.pro } })).data).toMatchObject({
      trial_ends_at: null,
    });
    site.clock.jump(20 * 86_400_000);
    const back = await ask('PATCH', at, { body: { plan_id: PLAN.trial } });
    expect(back.data['trial_ends_at']).toBe(made.data['trial_ends_at']);
  });

  test.each([' ', '\t', 'two\nlines'])('are not called %j', async (text) => {
    for (const fields of [{ name: text }, { name: 'B', external_id: text }])
      expect(await ask('POST', '/customers', { body: fields })).toMatchObject({
        status: 400,
        code: 'INVALID_REQUEST',
      });
    const { data } = await ask('POST', '/customers', { body });
    const changed = await ask('PATCH', `/customers/${String(data['id'])}`, { body: { name: text } });
    expect(changed).toMatchObject({ status: 400, code: 'INVALID_REQUEST' });
  });

  test('have an external id of their own, and a plan that there is', async () => {
    await ask('POST', '/customers', { body });
    expect(await ask('POST', '/customers', { body })).toMatchObject({ status: 409, code: 'CUSTOMER_EXISTS' });
    const elsewhere = { name: 'B', plan_id: 'plan_none' };
    expect(await ask('POST', '/customers', { body: elsewhere })).toMatchObject({
      status: 404,
      code: 'PLAN_NOT_FOUND',
    });
  });

  test('are listed newest first, in pages whose cursors belong to their filters', async () => {
    for (let count = 0; count < 5; count += 1) {
      await ask('POST', '/customers', { body: { name: `c${count}` } });
      site.clock.jump(1_000);
    }
    const names: string[] = [];
    let next = '';
    for (let pages = 1; pages <= 3; pages += 1) {
      const { data } = await ask('GET', `/customers?limit=2${next}`);
      names.push(...(data['items'] as readonly { name: string }[]).map(({ name }) => name));
      expect(data['has_more']).toBe(pages < 3);
      next = `&cursor=${String(data['next_cursor'])}`;
    }
    expect(names).toEqual(['c4', 'c3', 'c2', 'c1', 'c0']);
    const { data } = await ask('GET', '/customers?limit=2');
    const cursor = String(data['next_cursor']);
    expect(await ask('GET', `/customers?limit=2&status=active&cursor=${cursor}`)).toMatchObject({
      status: 400,
      code: 'INVALID_CURSOR',
    });
  });

  test('of another partner are as if they were not', async () => {
    const { data } = await ask('POST', '/customers', { body });
    const other = await somePartner(stores, 'other');
    const { secret } = await stores.apiKeys.generate(other.id, 'key', OWNER);
    const at = `/customers/${String(data['id'])}`;
    for (const [method, path, sent] of [
      ['GET', at, undefined],
      ['PATCH', at, { name: 'mine' }],
      ['DELETE', at, undefined],
      ['POST', `${at}/suspend`, undefined],
      ['POST', `${at}/resume`, undefined],
      ['GET', `${at}/usage`, undefined],
      ['GET', `/usage?customer_id=${String(data['id'])}`, undefined],
    ] as const) {
      expect(await ask(method, path, { key: secret, body: sent })).toMatchObject({
        status: 404,
        code: 'CUSTOMER_NOT_FOUND',
      });
    }
    expect((await ask('GET', '/customers', { key: secret })).data['items']).toEqual([]);
    expect((await ask('GET', '/events', { key: secret })).data['items']).toEqual([]);
    expect((await ask('GET', at)).data).toMatchObject({ name: 'Bakery', status: 'active' });
  });
});

describe('a POST with an Idempotency-Key', () => {
  const headers = { 'idempotency-key': 'run-1' };

  test('has one effect and one response, however often it is sent', async () => {
    const first = await ask('POST', '/customers', { headers, body: { name: 'A' } });
    const again = await ask('POST', '/customers', { headers, body: { name: 'A' } });
    expect(again.data).toEqual(first.data);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.headers['x-request-id']).toBe(first.headers['x-request-id']);
    expect((await ask('GET', '/account')).data).toMatchObject({ customers_count: 1 });
  });

  test('is taken for an id of any length', async () => {
    const path = `/customers/${'Ab0'.repeat(3_000)}/suspend`;
    const headers = { 'idempotency-key': 'long' };
    for (let time = 1; time <= 2; time += 1)
      expect(await ask('POST', path, { headers })).toMatchObject({ status: 404, code: 'CUSTOMER_NOT_FOUND' });
    const other = `/customers/${'Ab0'.repeat(2_999)}Ab1/suspend`;
    expect((await ask('POST', other, { headers })).headers['idempotent-replayed']).toBeUndefined();
  });

  test('is refused for another body, and is of one partner', async () => {
    await ask('POST', '/customers', { headers, body: { name: 'A' } });
    expect(await ask('POST', '/customers', { headers, body: { name: 'B' } })).toMatchObject({
      status: 422,
      code: 'IDEMPOTENCY_KEY_REUSED',
    });
    const other = await somePartner(stores, 'other');
    const { secret } = await stores.apiKeys.generate(other.id, 'key', OWNER);
    expect((await ask('POST', '/customers', { key: secret, headers, body: { name: 'B' } })).status).toBe(201);
  });

  test('of ten at the same moment carries out one', async () => {
    const replies = await Promise.all(
      Array.from(
        { length: 10 },
        async () => await ask('POST', '/customers', { headers, body: { name: 'A' } }),
      ),
    );
    expect(replies.filter(({ status }) => status === 201).length).toBeGreaterThan(0);
    for (const { status, code } of replies)
      expect(status === 201 || code === 'IDEMPOTENCY_IN_PROGRESS').toBe(true);
    expect((await ask('GET', '/account')).data).toMatchObject({ customers_count: 1 });
  });
});

describe('what is wrong with a request', () => {
  test('is said with a code, whatever it is', async () => {
    const wrong: readonly (readonly [Promise<Reply>, number, string])[] = [
      [ask('GET', '/nothing'), 404, 'NOT_FOUND'],
      // No text of PostgreSQL has it.
      [ask('GET', '/customers/%00'), 404, 'NOT_FOUND'],
      [ask('POST', '/customers/a%00b/enrollment-tokens'), 404, 'NOT_FOUND'],
      [ask('POST', '/account'), 405, 'METHOD_NOT_ALLOWED'],
      [ask('POST', '/customers', { body: '{"name":' }), 400, 'INVALID_JSON'],
      [ask('POST', '/customers', { body: {} }), 400, 'MISSING_FIELD'],
      [ask('POST', '/customers', { body: { name: 'A', nmae: 'B' } }), 400, 'UNKNOWN_FIELD'],
      [ask('POST', '/customers', { body: { name: 7 } }), 400, 'INVALID_REQUEST'],
      [ask('GET', '/customers?limit=101'), 400, 'INVALID_REQUEST'],
      [ask('GET', '/usage?from=2026-02-30'), 400, 'INVALID_REQUEST'],
      [ask('GET', '/usage?from=2025-01-01&to=2026-06-01'), 400, 'INVALID_REQUEST'],
      [ask('GET', '/plans/plan_none'), 404, 'PLAN_NOT_FOUND'],
      [ask('POST', '/customers', { body: { name: 'a\0b' } }), 400, 'INVALID_REQUEST'],
      [ask('POST', '/customers', { body: { name: 'a', metadata: { 'a\0b': 'c' } } }), 400, 'INVALID_REQUEST'],
      [ask('GET', '/customers?external_id=%00'), 400, 'INVALID_REQUEST'],
      [ask('GET', '/events?customer_id=a%00'), 400, 'INVALID_REQUEST'],
      [ask('POST', '/customers', { body: { name: 'A', metadata: { 'a\nb': {} } } }), 400, 'INVALID_REQUEST'],
    ];
    for (const [reply, status, code] of wrong) expect(await reply).toMatchObject({ status, code });
  });
});

describe('a store that does not answer', () => {
  const gone = [
    ['the server refuses connections', { code: 'ECONNREFUSED' }],
    ['the server is ending', { code: '57P01' }],
    ['a connection broke', { message: 'Connection terminated unexpectedly' }],
    ['others hold it all the time', { code: 'STATE_BUSY' }],
    ['its disk is full', { code: 'SQLITE_FULL' }],
    ['the disk of the server is full', { code: '53100' }],
    ['a statement took too long', { code: '57014' }],
  ] as const;

  test.each(gone)('is said as something that passes, with the rate headers: %s', async (_, facts) => {
    vi.spyOn(stores.apiKeys, 'verify').mockRejectedValue(Object.assign(new Error(), facts));
    const unknown = await ask('GET', '/account');
    expect(unknown).toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE' });
    expect(unknown.headers['x-ratelimit-limit']).toBe('600');
    vi.restoreAllMocks();
    vi.spyOn(stores.customers, 'list').mockRejectedValue(Object.assign(new Error(), facts));
    const known = await ask('GET', '/customers');
    expect(known).toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE' });
    expect(known.headers['x-ratelimit-limit']).toBe('120');
  });

  test('is not taken for a fault of the service', async () => {
    vi.spyOn(stores.customers, 'list').mockRejectedValue(Object.assign(new Error(), { code: '42P01' }));
    expect(await ask('GET', '/customers')).toMatchObject({ status: 500, code: 'INTERNAL_ERROR' });
  });
});

test('plans, usage, error codes and the changelog are there', async () => {
  const plans = (await ask('GET', '/plans')).data['items'] as readonly { id: string; slug: string }[];
  expect(plans.map(({ slug }) => slug)).toEqual(['free_trial', 'pro', 'business']);
  expect((await ask('GET', `/plans/${plans[1]?.id}`)).data).toMatchObject({
    desktop_requests_per_hour: 1_000,
  });
  const usage = await ask('GET', '/usage?from=2026-11-01&to=2026-11-30&granularity=month');
  expect(usage.data).toMatchObject({ totals: { backups_completed: 0 }, items: [{ period: '2026-11' }] });
  const codes = (await ask('GET', '/error-codes', { key: null })).data['items'] as readonly unknown[];
  expect(codes.length).toBeGreaterThan(50);
  expect((await ask('GET', '/changelog', { key: null })).data['has_more']).toBe(false);
});
