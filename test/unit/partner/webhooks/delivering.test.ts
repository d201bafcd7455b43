/** Instances that deliver from one queue, to real https receivers on loopback. */
// Turn 8 of 8.
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AT_ONCE_PER_ENDPOINT } from '../../../../src/partner/webhooks/turns.ts';
import { deliverySite, idOf, verifiedAt, type DeliverySite } from '../../../support/delivery-site.ts';
import { OWNER, STORE_KINDS, eventKinds, someCustomer } from '../../../support/partner-store-site.ts';
import { answerWith } from '../../../support/webhook-receiver.ts';

describe.each(STORE_KINDS)('on %s', (kind) => {
  let at: DeliverySite;
  beforeEach(async () => {
    at = await deliverySite(kind);
  });
  afterEach(async () => {
    await at[Symbol.asyncDispose]();
    expect(at.troubles).toEqual([]);
  });

  const allOf = async (endpointId: string) =>
    (await at.stores.deliveries.list(at.partnerId, endpointId, { limit: 1_000 })).items;

  it('an event wakes the instance that stored it, and is found by another one', async () => {
    const { id, secret } = await at.endpoint();
    const { stores, [Symbol.asyncDispose]: stop } = await at.instance({ looks: false });
    await someCustomer(stores, at.partnerId);
    await vi.waitUntil(() => at.receiver.received.length === 1, { timeout: 30_000 });
    await at.quiet();
    await stop();
    await at.instance();
    await someCustomer(at.stores, at.partnerId);
    await vi.waitUntil(() => at.receiver.received.length === 2, { timeout: 30_000 });
    await at.quiet();
    const events = (await stores.events.list(at.partnerId, { limit: 10 })).items.toReversed();
    expect(at.receiver.received.map(idOf)).toEqual(events.map((event) => event.id));
    for (const [index, message] of at.receiver.received.entries()) {
      expect(verifiedAt(at.site.clock.now(), message, secret)).toEqual({
        type: 'customer.created',
        timestamp: new Date(events[index]?.createdAt ?? 0).toISOString(),
        data: events[index]?.data,
      });
    }
    expect(await allOf(id)).toMatchObject(times(2, { status: 'succeeded', attempts: 1 }));
  });

  it('two instances deliver each event once', async () => {
    const { id } = await at.endpoint();
    for (let count = 0; count < 60; count += 1) await someCustomer(at.stores, at.partnerId);
    await Promise.all([at.instance(), at.instance()]);
    await at.quiet();
    expect(at.receiver.received).toHaveLength(60);
    expect(new Set(at.receiver.received.map(idOf)).size).toBe(60);
    expect(await allOf(id)).toMatchObject(times(60, { status: 'succeeded', attempts: 1 }));
  });

  it('a receiver that does not answer has four connections at most, and holds up nobody', async () => {
    const slow = await at.addReceiver();
    slow.answer = () => undefined;
    const endpoints = [await at.endpoint(slow), await at.endpoint()];
    for (let count = 0; count < 30; count += 1) await someCustomer(at.stores, at.partnerId);
    await at.instance({ workers: 6, graceMs: 0 });
    await vi.waitUntil(() => at.receiver.received.length === 30, { timeout: 30_000 });
    await vi.waitUntil(() => slow.received.length >= AT_ONCE_PER_ENDPOINT, { timeout: 30_000 });
    const settled = async (): Promise<boolean> =>
      (await allOf(endpoints[1]?.id ?? '')).every(({ status }) => status === 'succeeded');
    await vi.waitUntil(settled, { timeout: 30_000 });
    expect((await allOf(endpoints[0]?.id ?? '')).every(({ status }) => status === 'pending')).toBe(true);
    expect(slow.connections()).toBe(AT_ONCE_PER_ENDPOINT);
  });

  it('many receivers that fail, each until its time is over, leave room for one that answers', async () => {
    const slow = await at.addReceiver();
    slow.answer = () => undefined;
    const failing = [];
    for (let count = 0; count < 4; count += 1) failing.push((await at.endpoint(slow)).id);
    const { id } = await at.endpoint();
    const { reader } = at.site.database();
    await reader
      .updateTable('webhook_endpoints')
      .set({ failing_since: at.site.clock.now() })
      .where('partner_id', '=', at.partnerId)
      .where('id', 'in', failing)
      .execute();
    for (let count = 0; count < 3; count += 1) await someCustomer(at.stores, at.partnerId);
    await at.instance({ workers: 4, graceMs: 0 });
    await vi.waitUntil(() => at.receiver.received.length === 3, { timeout: 10_000 });
    const settled = async (): Promise<boolean> =>
      (await allOf(id)).every(({ status }) => status === 'succeeded');
    await vi.waitUntil(settled, { timeout: 10_000 });
    expect(slow.connections()).toBe(2);
  });

  it('one that answers with 410 is disabled, and the others are told', async () => {
    at.receiver.answer = answerWith(410);
    const other = await at.addReceiver();
    const gone = await at.endpoint();
    await at.instance();
    await at.endpoint(other);
    await someCustomer(at.stores, at.partnerId);
    await vi.waitUntil(() => other.received.length === 2, { timeout: 30_000 });
    await at.quiet();
    expect(await at.stores.webhooks.get(at.partnerId, gone.id)).toMatchObject({
      status: 'disabled',
      disabledReason: 'gone',
    });
    expect(await eventKinds(at.stores, at.partnerId)).toEqual(['customer.created', 'webhook.disabled']);
    expect(other.received.map(({ body }) => (JSON.parse(body) as { type: string }).type).toSorted()).toEqual([
      'customer.created',
      'webhook.disabled',
    ]);
    // A test may be sent to it nevertheless.
    at.receiver.answer = answerWith(204);
    await at.stores.webhooks.test(at.partnerId, gone.id, OWNER);
    await vi.waitUntil(() => at.receiver.received.length === 2, { timeout: 30_000 });
  });

  it('an instance that stops claims nothing more, and gives back what it could not end', async () => {
    at.receiver.answer = () => undefined;
    const { id } = await at.endpoint();
    for (let count = 0; count < 6; count += 1) await someCustomer(at.stores, at.partnerId);
    const instance = await at.instance({ graceMs: 100 });
    await vi.waitUntil(() => at.receiver.received.length === AT_ONCE_PER_ENDPOINT, {
      timeout: 30_000,
      interval: 5,
    });
    await instance[Symbol.asyncDispose]();
    expect(at.receiver.received).toHaveLength(AT_ONCE_PER_ENDPOINT);
    expect(await allOf(id)).toMatchObject(times(6, { status: 'pending', attempts: 0 }));
    // All can be claimed at once.
    const request = { worker: 'w', partnerId: at.partnerId, endpointId: id, limit: 10, leaseMs: 1 };
    expect(await at.stores.deliveries.claim(request)).toHaveLength(6);
  });

  it('an instance that stops lets attempts come to their end', async () => {
    const { id } = await at.endpoint();
    at.receiver.answer = (_count, response) => void setTimeout(() => response.end('OK'), 200);
    await someCustomer(at.stores, at.partnerId);
    const instance = await at.instance();
    await vi.waitUntil(() => at.receiver.received.length === 1, { timeout: 30_000, interval: 5 });
    await instance[Symbol.asyncDispose]();
    expect(await allOf(id)).toMatchObject([{ status: 'succeeded', attempts: 1 }]);
  });

  it('a secret that the service cannot open costs the receiver no attempt', async () => {
    const { id } = await at.endpoint();
    await someCustomer(at.stores, at.partnerId);
    await at.instance({ sealingKey: randomBytes(32) });
    await vi.waitUntil(() => at.troubles.length > 0, { timeout: 30_000, interval: 5 });
    expect(at.troubles.splice(0)).toMatchObject([{ code: 'STATE_DAMAGED' }]);
    const [delivery] = await allOf(id);
    expect(delivery).toMatchObject({ status: 'pending', attempts: 0 });
    expect(delivery?.nextAttemptAt).toBe(at.site.clock.now() + 30_000);
    expect(at.receiver.connections()).toBe(0);
  });
});

function times<T>(count: number, one: T): readonly T[] {
  return Array.from({ length: count }, () => one);
}
