/**
 * A POST whose instance is killed when the work is done and nothing is answered yet: repeated with its `Idempotency-Key`
 * it has no second effect, and the reply shows the first one. Every reply is judged by docs/api/partner.yaml.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createPartnerApp, type PartnerApp } from '../../src/partner/http/app.ts';
import { PARTNER_PREFIX } from '../../src/partner/resources/values.ts';
import { RUNNING_MS } from '../../src/partner/store/idempotency.ts';
import { partnerApiSite, type PartnerApiSite, type Reply } from '../support/partner-api-site.ts';
import {
  OWNER,
  auditActions,
  someCustomer,
  someDevice,
  someEndpoint,
} from '../support/partner-store-site.ts';

const ONCE = { 'idempotency-key': 'once' };
const TARGET = 'https://hooks.example.org/holdfast';

let site: PartnerApiSite;
let ask: PartnerApiSite['ask'];
let key: string;
let killed: PartnerApp;
/** Resolves when an instance has done what it was asked for, and is killed. */
let death: PromiseWithResolvers<undefined>;

beforeEach(async () => {
  site = await partnerApiSite();
  ({ ask } = site);
  const { stores, keys, partnerId, store } = site;
  key = (await stores.apiKeys.regenerate(partnerId, OWNER))?.secret ?? '';
  death = Promise.withResolvers();
  const finish = async (): Promise<void> => {
    death.resolve(undefined);
    await new Promise(() => undefined);
  };
  const dying = { ...stores, idempotency: { ...stores.idempotency, finish } };
  killed = await createPartnerApp({ stores: dying, clock: store.clock, keys, version: '1.0.0' });
});
afterEach(async () => await site[Symbol.asyncDispose]());

interface Repeated {
  /** What the audit log tells of both requests. */
  readonly actions: readonly string[];
  readonly reply: Reply;
}

/** Asks an instance that is killed over it, and then another one until there is a reply. */
async function repeat(path: string, body?: object): Promise<Repeated> {
  const before = (await auditActions(site.stores, site.partnerId)).length;
  const headers = { ...ONCE, authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const payload = body === undefined ? {} : { payload: JSON.stringify(body) };
  void killed.app.inject({ method: 'POST', url: `${PARTNER_PREFIX}${path}`, headers, ...payload });
  await death.promise;
  const again = async (): Promise<Reply> =>
    await ask('POST', path, { key, headers: ONCE, ...(body === undefined ? {} : { body }) });
  expect(await again()).toMatchObject({ code: 'IDEMPOTENCY_IN_PROGRESS' });
  site.store.clock.jump(RUNNING_MS);
  const reply = await again();
  expect(reply.headers['idempotent-replayed']).toBe('true');
  const actions = (await auditActions(site.stores, site.partnerId)).slice(before);
  // From then on it is a repeated request like any other.
  const { secret, ...kept } = reply.data;
  expect((await again()).data).toEqual(
    secret === undefined ? kept : { ...kept, secret: null, secret_shown: true },
  );
  return { reply, actions };
}

test('a customer is added once', async () => {
  const body = { name: 'Bakery Moreau', external_id: 'crm-7' };
  const { reply, actions } = await repeat('/customers', body);
  expect(actions).toEqual(['customer.created']);
  expect(reply).toMatchObject({ status: 201, data: body });
  const { items } = await site.stores.customers.list(site.partnerId, { limit: 10 });
  expect(items.map(({ id }) => id)).toEqual([reply.data['id']]);
});

test('an endpoint is added once, and its secret is shown, which it was to nobody', async () => {
  const { reply, actions } = await repeat('/webhooks', { url: TARGET });
  expect(actions).toEqual(['webhook.created', 'webhook.secret_rotated']);
  expect(reply).toMatchObject({ status: 201, data: { secret: expect.stringMatching(/^whsec_/) } });
  const { items } = await site.stores.webhooks.list(site.partnerId, { limit: 10 });
  expect(items.map(({ id }) => id)).toEqual([reply.data['id']]);
  const target = await site.stores.webhooks.target(site.partnerId, items[0]?.id ?? '');
  expect(target?.sealedSecrets).toHaveLength(1);
});

test('a secret that nobody was shown does not take the place of the one that is known', async () => {
  const { id } = await someEndpoint(site.stores, site.partnerId, { sealSecret: () => 'known' });
  const { reply } = await repeat(`/webhooks/${id}/rotate-secret`);
  expect(reply).toMatchObject({ status: 200, data: { secret: expect.stringMatching(/^whsec_/) } });
  const target = await site.stores.webhooks.target(site.partnerId, id);
  expect(target?.sealedSecrets).toEqual([expect.any(String), 'known']);
});

test('a test event is sent once, and so is a delivery that is asked for again', async () => {
  const { id } = await someEndpoint(site.stores, site.partnerId);
  const { reply, actions } = await repeat(`/webhooks/${id}/test`);
  expect(actions).toEqual(['webhook.tested']);
  const { items } = await site.stores.deliveries.list(site.partnerId, id, { limit: 10 });
  expect(items.map((delivery) => delivery.id)).toEqual([reply.data['id']]);
  expect(reply.status).toBe(202);

  death = Promise.withResolvers();
  const retried = await repeat(`/webhooks/${id}/deliveries/${items[0]?.id}/retry`);
  expect(retried.actions).toEqual(['delivery.retried']);
  expect(retried.reply).toMatchObject({ status: 202, data: { id: items[0]?.id } });
});

test('a device is enrolled once, and gets a key that nobody was told before', async () => {
  const customer = await someCustomer(site.stores, site.partnerId);
  const made = await site.stores.enrollment.createToken(site.partnerId, customer.id, OWNER);
  const body = { token: made?.token, name: 'laptop', platform: 'linux-x64', agent_version: '1.0.0' };
  const { reply, actions } = await repeat('/enroll', body);
  expect(actions).toEqual(['device.enrolled']);
  expect(reply).toMatchObject({ status: 201, data: { secret: expect.stringMatching(/^hfd_/) } });
  const { items } = await site.stores.devices.list(site.partnerId, customer.id, { limit: 10 });
  expect(items.map(({ id }) => id)).toEqual([reply.data['device_id']]);
  const device = await site.stores.devices.verify(String(reply.data['secret']));
  expect(device?.device.id).toBe(reply.data['device_id']);
});

test('a customer is suspended once: who was resumed since stays so', async () => {
  const { id } = await someCustomer(site.stores, site.partnerId);
  const resumed = death.promise.then(
    async () => await site.stores.customers.resume(site.partnerId, id, OWNER),
  );
  const { reply, actions } = await repeat(`/customers/${id}/suspend`);
  await resumed;
  expect(actions).toEqual(['customer.suspended', 'customer.resumed']);
  expect(reply).toMatchObject({ status: 200, data: { status: 'active' } });
});

test('an order is given once', async () => {
  const customer = await someCustomer(site.stores, site.partnerId);
  const { id } = (await someDevice(site.stores, site.partnerId, customer.id)).device;
  const { reply, actions } = await repeat(`/devices/${id}/orders`, { order: 'report' });
  expect(actions).toEqual(['order.created']);
  const open = await site.stores.orders.open(site.partnerId, id);
  expect(open.map((order) => order.id)).toEqual([reply.data['id']]);
  expect(reply.status).toBe(201);
});
