/** Devices in the Partner API, from enrollment to removal: every reply is judged by docs/api/partner.yaml. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  LAPTOP,
  SENT_BACKUP,
  enrolledAgent,
  partnerApiSite,
  sentReport,
  type PartnerApiSite,
} from '../support/partner-api-site.ts';
import { OWNER, PLAN, someCustomer } from '../support/partner-store-site.ts';
import { readSigned } from '../support/signed-document.ts';

const NOON = Date.parse('2026-11-21T12:00:00Z');

let site: PartnerApiSite;
let ask: PartnerApiSite['ask'];

beforeEach(async () => {
  site = await partnerApiSite();
  ({ ask } = site);
  site.store.clock.jump(NOON - site.store.clock.now());
});
afterEach(async () => await site[Symbol.asyncDispose]());

describe('enrollment', () => {
  test('takes a token of the customer, and gives a key, the key of the service and a plan', async () => {
    const { id } = await someCustomer(site.stores, site.partnerId);
    const token = await ask('POST', `/customers/${id}/enrollment-tokens`);
    expect(token).toMatchObject({ status: 201, data: { customer_id: id } });
    const times = ['created_at', 'expires_at'].map((name) => Date.parse(String(token.data[name])));
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBe(15 * 60_000);
    const body = { token: token.data['secret'], ...LAPTOP };
    const made = await ask('POST', '/enroll', { key: null, body });
    expect(made).toMatchObject({ status: 201, data: { customer_id: id } });
    const { document, revision } = made.data['plan'] as { document: string; revision: string };
    const claims = readSigned(document, made.data['service_key'], 'holdfast-plan+jwt');
    expect(claims).toMatchObject({ aud: made.data['device_id'], revision, status: 'active' });
    const fetched = await ask('GET', '/devices/self/plan', { key: String(made.data['secret']) });
    expect(fetched.data).toEqual({ document, revision });
  });

  test('is repeated with the same Idempotency-Key without a second device, or a second look at the key', async () => {
    const { id } = await someCustomer(site.stores, site.partnerId);
    const headers = { 'idempotency-key': 'first' };
    const at = `/customers/${id}/enrollment-tokens`;
    const token = await ask('POST', at, { headers });
    const sameToken = await ask('POST', at, { headers });
    expect(sameToken.data).toEqual({ ...token.data, secret: null, secret_shown: true });
    const body = { token: token.data['secret'], ...LAPTOP };
    const made = await ask('POST', '/enroll', { key: null, headers, body });
    const again = await ask('POST', '/enroll', { key: null, headers, body });
    expect(again.data).toEqual({ ...made.data, secret: null, secret_shown: true });
    const named = { ...body, name: 'another' };
    expect(await ask('POST', '/enroll', { key: null, headers, body: named })).toMatchObject({
      status: 422,
      code: 'IDEMPOTENCY_KEY_REUSED',
    });
    expect((await ask('GET', `/customers/${id}/devices`)).data['items']).toHaveLength(1);
  });

  test('with the Idempotency-Key of somebody else is none of theirs', async () => {
    const headers = { 'idempotency-key': 'run-1' };
    for (const name of ['one', 'two']) {
      const { id } = await someCustomer(site.stores, site.partnerId, { name });
      const token = (await ask('POST', `/customers/${id}/enrollment-tokens`)).data['secret'];
      const body = { token, ...LAPTOP };
      expect(await ask('POST', '/enroll', { key: null, headers, body })).toMatchObject({
        status: 201,
        data: { customer_id: id },
      });
    }
  });

  test('is refused in one way for every token that is no good, and refusals are not kept', async () => {
    const headers = { 'idempotency-key': 'first' };
    const body = { token: 'hfe_wrong', ...LAPTOP };
    expect(await ask('POST', '/enroll', { key: null, headers, body })).toMatchObject({
      status: 400,
      code: 'ENROLLMENT_TOKEN_INVALID',
    });
    expect(await site.store.database().reader.selectFrom('idempotency').selectAll().execute()).toEqual([]);
  });

  test('is refused for want of a place in the plan, and goes on with the same token when there is one', async () => {
    const { id } = await someCustomer(site.stores, site.partnerId, { planId: PLAN.trial });
    await enrolledAgent(site, id);
    const headers = { 'idempotency-key': 'second' };
    const token = (await ask('POST', `/customers/${id}/enrollment-tokens`)).data['secret'];
    const asked = { key: null, headers, body: { token, ...LAPTOP } };
    expect(await ask('POST', '/enroll', asked)).toMatchObject({ status: 402, code: 'QUOTA_EXCEEDED' });
    await ask('PATCH', `/customers/${id}`, { body: { plan_id: PLAN.pro } });
    expect((await ask('POST', '/enroll', asked)).status).toBe(201);
  });
});

describe('devices', () => {
  test('are listed newest first, read and removed', async () => {
    const { customerId, id: first } = await enrolledAgent(site);
    site.store.clock.jump(1_000);
    const { id: second } = await enrolledAgent(site, customerId);
    const at = `/customers/${customerId}/devices`;
    const page = await ask('GET', `${at}?limit=1`);
    expect(page.data).toMatchObject({ items: [{ id: second }], has_more: true });
    const next = await ask('GET', `${at}?limit=1&cursor=${String(page.data['next_cursor'])}`);
    expect(next.data).toMatchObject({ items: [{ id: first }], has_more: false });
    expect((await ask('GET', `/devices/${first}`)).data).toMatchObject({
      ...LAPTOP,
      customer_id: customerId,
    });
    expect((await ask('DELETE', `/devices/${first}`)).data).toEqual({ id: first, deleted: true });
    expect(await ask('GET', `/devices/${first}`)).toMatchObject({ status: 404, code: 'DEVICE_NOT_FOUND' });
    expect((await ask('GET', at)).data['items']).toMatchObject([{ id: second }]);
    const other = (await someCustomer(site.stores, site.partnerId)).id;
    expect(
      await ask('GET', `/customers/${other}/devices?limit=1&cursor=${String(page.data['next_cursor'])}`),
    ).toMatchObject({ status: 400, code: 'INVALID_CURSOR' });
  });

  test('of another partner are as if they were not', async () => {
    const { customerId, id } = await enrolledAgent(site);
    const key = await site.otherKey();
    for (const [method, path, code, body] of [
      ['GET', `/customers/${customerId}/devices`, 'CUSTOMER_NOT_FOUND'],
      ['POST', `/customers/${customerId}/enrollment-tokens`, 'CUSTOMER_NOT_FOUND'],
      ['GET', `/devices/${id}`, 'DEVICE_NOT_FOUND'],
      ['DELETE', `/devices/${id}`, 'DEVICE_NOT_FOUND'],
      ['POST', `/devices/${id}/orders`, 'DEVICE_NOT_FOUND', { order: 'report' }],
    ] as const) {
      expect(await ask(method, path, { key, body })).toMatchObject({ status: 404, code });
    }
    expect((await ask('GET', `/devices/${id}`)).status).toBe(200);
  });

  test('have keys that open the routes for agents alone, and these take no other', async () => {
    const { id, key } = await enrolledAgent(site);
    const invalid = { status: 401, code: 'INVALID_API_KEY' };
    for (const path of ['/account', '/customers', `/devices/${id}`])
      expect(await ask('GET', path, { key })).toMatchObject(invalid);
    for (const path of ['/devices/self/plan', `/devices/self/heads?repository_id=${'0'.repeat(32)}`]) {
      expect(await ask('GET', path)).toMatchObject(invalid);
      expect(await ask('GET', path, { key: null })).toMatchObject({ status: 401, code: 'UNAUTHORIZED' });
      expect(await ask('GET', path, { key: null, headers: { 'x-api-key': key } })).toMatchObject(invalid);
      expect(await ask('GET', path, { key: 'hfd_wrong' })).toMatchObject(invalid);
    }
    expect(await ask('POST', '/devices/self/reports', { body: sentReport(1) })).toMatchObject(invalid);
    expect((await ask('GET', '/devices/self/plan', { key })).status).toBe(200);
  });

  test('have routes of their own in what the service says of itself', async () => {
    const { body } = await site.api.app.inject({ url: '/openapi.json' });
    const { paths }: { paths: Record<string, Record<string, { security?: unknown }>> } = JSON.parse(body);
    const forDevices = Object.entries(paths)
      .filter(([, item]) => JSON.stringify(Object.values(item)).includes('"deviceKey"'))
      .map(([path]) => path);
    expect(forDevices.sort()).toEqual(['/devices/self/heads', '/devices/self/plan', '/devices/self/reports']);
    expect(paths['/devices/{id}']?.['get']?.security).toBe(undefined);
    expect(paths['/enroll']?.['post']?.security).toEqual([]);
  });

  test('that were removed, or whose customer was deleted, have a void key at once', async () => {
    const removed = await enrolledAgent(site);
    const orphan = await enrolledAgent(site);
    await ask('DELETE', `/devices/${removed.id}`);
    await ask('DELETE', `/customers/${orphan.customerId}`);
    for (const { key } of [removed, orphan]) {
      const invalid = { status: 401, code: 'INVALID_API_KEY' };
      expect(await ask('GET', '/devices/self/plan', { key })).toMatchObject(invalid);
      expect(await ask('POST', '/devices/self/reports', { key, body: sentReport(1) })).toMatchObject(invalid);
    }
  });

  test('of a customer who is suspended cannot be enrolled, and are told why', async () => {
    const { customerId } = await enrolledAgent(site);
    const token = (await ask('POST', `/customers/${customerId}/enrollment-tokens`)).data['secret'];
    await ask('POST', `/customers/${customerId}/suspend`);
    expect(await ask('POST', `/customers/${customerId}/enrollment-tokens`)).toMatchObject({
      status: 403,
      code: 'FORBIDDEN',
    });
    const enroll = async () => await ask('POST', '/enroll', { key: null, body: { token, ...LAPTOP } });
    const { text, ...refused } = await enroll();
    expect(refused).toMatchObject({ status: 400, code: 'ENROLLMENT_TOKEN_INVALID' });
    expect(JSON.parse(text)).toMatchObject({ error: { details: { reason: 'customer_suspended' } } });
    await ask('POST', `/customers/${customerId}/resume`);
    expect((await enroll()).status).toBe(201);
  });

  test('of a partner who is suspended wait, and report when he is active again', async () => {
    const { key } = await enrolledAgent(site);
    const report = { key, body: sentReport(1, { results: [SENT_BACKUP] }) };
    await site.stores.partners.setStatus(site.partnerId, 'suspended', OWNER);
    const suspended = { status: 403, code: 'PARTNER_SUSPENDED' };
    expect(await ask('POST', '/devices/self/reports', report)).toMatchObject(suspended);
    expect(await ask('GET', '/devices/self/plan', { key })).toMatchObject(suspended);
    await site.stores.partners.setStatus(site.partnerId, 'active', OWNER);
    expect((await ask('POST', '/devices/self/reports', report)).data).toMatchObject({ duplicate: false });
  });

  test('may ask 60 times in any 60 seconds each, which the partner and other devices do not feel', async () => {
    const [one, two] = [await enrolledAgent(site), await enrolledAgent(site)];
    for (let count = 1; count <= 60; count += 1) {
      const { status, headers } = await ask('GET', '/devices/self/plan', { key: one.key });
      expect([status, headers['x-ratelimit-limit'], headers['x-ratelimit-remaining']]).toEqual([
        200,
        '60',
        String(60 - count),
      ]);
    }
    const refused = await ask('POST', '/devices/self/reports', { key: one.key, body: sentReport(1) });
    expect(refused).toMatchObject({ status: 429, code: 'RATE_LIMIT_EXCEEDED' });
    expect(refused.headers['retry-after']).toBe('60');
    expect((await ask('GET', '/devices/self/plan', { key: two.key })).status).toBe(200);
    expect((await ask('GET', '/account')).headers['x-ratelimit-limit']).toBe('120');
    site.store.clock.jump(60_000);
    expect((await ask('GET', '/devices/self/plan', { key: one.key })).status).toBe(200);
  });
});
