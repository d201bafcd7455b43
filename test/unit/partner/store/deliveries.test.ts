import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DeliveryClaim } from '../../../../src/partner/store/deliveries.ts';
import type { PartnerStores } from '../../../../src/partner/store/store.ts';
import {
  OWNER,
  STORE_KINDS,
  auditActions,
  eventKinds,
  someCustomer,
  somePartner,
  storeSite,
  type StoreSite,
} from '../../../support/partner-store-site.ts';

const LEASE = 30_000;
const FAILED = { kind: 'failed', status: 500, error: 'HTTP 500' } as const;

describe.each(STORE_KINDS)('deliveries on %s', (kind) => {
  let site: StoreSite;
  let store: PartnerStores;
  let partnerId: string;

  const endpoint = async (
    more: Partial<Parameters<typeof store.webhooks.create>[1]> = {},
  ): Promise<string> => {
    const base = {
      url: 'https://hooks.example.com/a',
      events: [],
      description: null,
      sealedSecret: 'sealed-1',
    };
    return (await store.webhooks.create(partnerId, { ...base, ...more }, OWNER)).id;
  };
  const claimOne = async (worker = 'w1'): Promise<DeliveryClaim> => {
    const [claim] = await store.deliveries.claim(worker, 1, LEASE);
    if (claim === undefined) throw new Error('nothing is due');
    return claim;
  };

  beforeEach(async () => {
    site = await storeSite(kind);
    store = await site.open();
    ({ id: partnerId } = await somePartner(store));
  });
  afterEach(async () => await site.remove());

  it('are made with the event, for each enabled endpoint that asks for its kind', async () => {
    const all = await endpoint();
    const created = await endpoint({ events: ['customer.created'] });
    const deleted = await endpoint({ events: ['customer.deleted'] });
    const off = await endpoint();
    await store.webhooks.patch(partnerId, off, { status: 'disabled' }, OWNER);
    await someCustomer(store, partnerId);
    const { items: events } = await store.events.list(partnerId, { limit: 10 });
    const found = async (id: string): Promise<readonly string[]> =>
      (await store.deliveries.list(partnerId, id, { limit: 10 })).items.map(({ eventId }) => eventId);
    expect(await found(all)).toEqual(events.map(({ id }) => id));
    expect(await found(created)).toEqual(events.map(({ id }) => id));
    expect(await found(deleted)).toEqual([]);
    expect(await found(off)).toEqual([]);
  });

  it('are claimed once each by workers of two instances', async () => {
    const other = await site.open();
    await endpoint();
    for (let count = 0; count < 40; count += 1) await someCustomer(store, partnerId);
    const claims = await Promise.all(
      Array.from(
        { length: 12 },
        async (_, index) => await (index % 2 === 0 ? store : other).deliveries.claim(`w${index}`, 7, LEASE),
      ),
    );
    const ids = claims.flat().map(({ delivery }) => delivery.id);
    expect(new Set(ids).size).toBe(ids.length);
    // One that looked while others held them may have gone away with less: nothing is left out in the end.
    for (let rest = await store.deliveries.claim('w', 7, LEASE); rest.length > 0;) {
      ids.push(...rest.map(({ delivery }) => delivery.id));
      rest = await store.deliveries.claim('w', 7, LEASE);
    }
    expect(new Set(ids).size).toBe(40);
    expect(ids).toHaveLength(40);
  });

  it('can be claimed again when the claim has ended, and then the first worker has nothing to say', async () => {
    await endpoint();
    await someCustomer(store, partnerId);
    const first = await claimOne('w1');
    site.clock.jump(LEASE - 1);
    expect(await store.deliveries.claim('w2', 1, LEASE)).toEqual([]);
    expect(await store.deliveries.nextDueAt()).toBe(first.until);
    site.clock.jump(1);
    const second = await claimOne('w2');
    expect(second.delivery.id).toBe(first.delivery.id);
    expect(await store.deliveries.finish(first, FAILED)).toBeUndefined();
    expect(await store.deliveries.finish(second, { kind: 'delivered', status: 204 })).toMatchObject({
      status: 'succeeded',
      attempts: 1,
      lastStatus: 204,
      nextAttemptAt: null,
    });
    expect(await store.deliveries.finish(second, FAILED)).toBeUndefined();
    expect(await store.deliveries.nextDueAt()).toBeUndefined();
  });

  it('are tried ten times in a little over three days, and have failed then', async () => {
    const id = await endpoint();
    await someCustomer(store, partnerId);
    const start = site.clock.now();
    const times: number[] = [];
    for (;;) {
      const due = await store.deliveries.nextDueAt();
      if (due === undefined) break;
      site.clock.jump(due - site.clock.now() - 1);
      expect(await store.deliveries.claim('w1', 1, LEASE)).toEqual([]);
      site.clock.jump(1);
      times.push(site.clock.now() - start);
      await store.deliveries.finish(await claimOne(), FAILED);
    }
    expect(times).toHaveLength(10);
    expect(times.slice(0, 4)).toEqual([0, 5_000, 305_000, 2_105_000]);
    expect(times.at(-1)).toBeGreaterThan(3 * 86_400_000);
    const { items } = await store.deliveries.list(partnerId, id, { limit: 10 });
    expect(items).toMatchObject([{ status: 'failed', attempts: 10, lastError: 'HTTP 500', lastStatus: 500 }]);
    expect(await store.webhooks.get(partnerId, id)).toMatchObject({ failingSince: start });
  });

  it('wait as long as the receiver asks, and end at once when they are given up', async () => {
    await endpoint();
    await someCustomer(store, partnerId);
    const asked = await store.deliveries.finish(await claimOne(), { ...FAILED, retryAfterMs: 3_000_000 });
    expect(asked).toMatchObject({ status: 'pending', nextAttemptAt: site.clock.now() + 3_000_000 });
    site.clock.jump(3_000_000);
    const gone = { kind: 'given up', status: 410, error: 'HTTP 410' } as const;
    expect(await store.deliveries.finish(await claimOne(), gone)).toMatchObject({
      status: 'failed',
      attempts: 2,
    });
  });

  it('say since when an endpoint fails, until one succeeds', async () => {
    const id = await endpoint();
    await someCustomer(store, partnerId);
    await someCustomer(store, partnerId);
    await store.deliveries.finish(await claimOne(), FAILED);
    expect(await store.webhooks.get(partnerId, id)).toMatchObject({ failingSince: site.clock.now() });
    await store.deliveries.finish(await claimOne(), { kind: 'delivered', status: 200 });
    expect(await store.webhooks.get(partnerId, id)).toMatchObject({ failingSince: null });
  });

  it('are sent again with all attempts, with the same event, when the partner asks', async () => {
    const id = await endpoint();
    await someCustomer(store, partnerId);
    const claim = await claimOne();
    await store.deliveries.finish(claim, { kind: 'delivered', status: 200 });
    const again = await store.deliveries.retry(partnerId, id, claim.delivery.id, OWNER);
    expect(again).toMatchObject({ eventId: claim.delivery.eventId, status: 'pending', attempts: 0 });
    expect((await claimOne()).delivery.id).toBe(claim.delivery.id);
    expect((await auditActions(store, partnerId)).at(-1)).toBe('delivery.retried');
    const stranger = (await somePartner(store, 'umbrella')).id;
    expect(await store.deliveries.retry(stranger, id, claim.delivery.id, OWNER)).toBeUndefined();
    expect(await store.deliveries.get(stranger, claim.delivery.id)).toBeUndefined();
    expect((await store.deliveries.list(stranger, id, { limit: 10 })).items).toEqual([]);
  });

  it('of an endpoint that is disabled have failed, and the others are told', async () => {
    const other = await site.open();
    const [id, watcher] = [await endpoint(), await endpoint({ events: ['webhook.disabled'] })];
    await someCustomer(store, partnerId);
    const claim = await claimOne();
    const done = await Promise.all(
      [store, other].map(async ({ webhooks }) => await webhooks.disable(partnerId, id, 'HTTP 410')),
    );
    expect(done.filter(Boolean)).toHaveLength(1);
    expect(await store.webhooks.get(partnerId, id)).toMatchObject({
      status: 'disabled',
      disabledReason: 'HTTP 410',
    });
    expect(await store.deliveries.finish(claim, FAILED)).toBeUndefined();
    expect((await store.deliveries.list(partnerId, id, { limit: 10 })).items).toMatchObject([
      { status: 'failed' },
    ]);
    expect((await store.deliveries.list(partnerId, watcher, { limit: 10 })).items).toHaveLength(1);
    expect((await eventKinds(store, partnerId)).filter((name) => name === 'webhook.disabled')).toHaveLength(
      1,
    );
    expect(await store.webhooks.patch(partnerId, id, { status: 'enabled' }, OWNER)).toMatchObject({
      status: 'enabled',
      disabledReason: null,
    });
  });

  it('of a test go to that endpoint alone', async () => {
    const [id, other] = [await endpoint({ events: ['customer.created'] }), await endpoint()];
    expect(await store.webhooks.test(partnerId, id, OWNER)).toBe(true);
    expect(await store.webhooks.test(partnerId, 'whk_none', OWNER)).toBe(false);
    expect((await store.deliveries.list(partnerId, id, { limit: 10 })).items).toHaveLength(1);
    expect((await store.deliveries.list(partnerId, other, { limit: 10 })).items).toEqual([]);
  });

  it('go with their endpoint, and with their event when it is past keeping', async () => {
    const [id, kept] = [await endpoint(), await endpoint()];
    await someCustomer(store, partnerId);
    await store.deliveries.finish(await claimOne(), { kind: 'delivered', status: 200 });
    const { reader } = site.database();
    const count = async (): Promise<number> =>
      (await reader.selectFrom('deliveries').select('id').execute()).length;
    expect(await count()).toBe(2);
    site.clock.jump(1);
    // One of its deliveries waits still.
    expect(await store.events.prune(site.clock.now())).toBe(0);
    await store.deliveries.finish(await claimOne(), { kind: 'delivered', status: 200 });
    expect(await store.webhooks.remove(partnerId, id, OWNER)).toBe(true);
    expect(await count()).toBe(1);
    expect(await store.events.prune(site.clock.now())).toBe(1);
    expect(await count()).toBe(0);
    expect(await store.webhooks.get(partnerId, kept)).toMatchObject({ status: 'enabled' });
  });
});

describe.each(STORE_KINDS)('webhook endpoints on %s', (kind) => {
  let site: StoreSite;
  let store: PartnerStores;
  let partnerId: string;
  const NEW = { url: 'https://hooks.example.com/a', events: [], description: null, sealedSecret: 'sealed-1' };

  beforeEach(async () => {
    site = await storeSite(kind);
    store = await site.open();
    ({ id: partnerId } = await somePartner(store));
  });
  afterEach(async () => await site.remove());

  it('are ten at most, also when they are made at once', async () => {
    const other = await site.open();
    const results = await Promise.allSettled(
      Array.from(
        { length: 14 },
        async (_, index) => await (index % 2 === 0 ? store : other).webhooks.create(partnerId, NEW, OWNER),
      ),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
    expect((await store.webhooks.list(partnerId, { limit: 20 })).items).toHaveLength(10);
  });

  it('sign with both secrets until the old one’s time has come, and tell no record of either', async () => {
    const { id } = await store.webhooks.create(partnerId, NEW, OWNER);
    expect(await store.webhooks.secrets(partnerId, id)).toEqual({ secret: 'sealed-1', previous: null });
    await store.webhooks.rotateSecret(partnerId, id, 'sealed-2', site.clock.now() + 1_000, OWNER);
    expect(await store.webhooks.secrets(partnerId, id)).toEqual({ secret: 'sealed-2', previous: 'sealed-1' });
    site.clock.jump(1_000);
    expect(await store.webhooks.secrets(partnerId, id)).toEqual({ secret: 'sealed-2', previous: null });
    expect(JSON.stringify(await store.audit.list(partnerId, { limit: 10 }))).not.toContain('sealed');
    expect(JSON.stringify(await store.webhooks.get(partnerId, id))).not.toContain('sealed');
  });

  it('of another partner are not there', async () => {
    const { id } = await store.webhooks.create(partnerId, NEW, OWNER);
    const thief = (await somePartner(store, 'umbrella')).id;
    expect(await store.webhooks.get(thief, id)).toBeUndefined();
    expect(await store.webhooks.secrets(thief, id)).toBeUndefined();
    expect(await store.webhooks.patch(thief, id, { url: 'https://evil.example' }, OWNER)).toBeUndefined();
    expect(await store.webhooks.rotateSecret(thief, id, 'mine', 0, OWNER)).toBeUndefined();
    expect(await store.webhooks.test(thief, id, OWNER)).toBe(false);
    expect(await store.webhooks.disable(thief, id, 'x')).toBe(false);
    expect(await store.webhooks.remove(thief, id, OWNER)).toBe(false);
    expect(await store.webhooks.get(partnerId, id)).toMatchObject({ url: NEW.url, status: 'enabled' });
    expect(await auditActions(store, thief)).toEqual(['partner.created']);
  });
});
