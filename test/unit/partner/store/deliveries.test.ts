// Turn 1 of 8.
import { CompiledQuery } from 'kysely';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isDueAt, type DeliveryClaim } from '../../../../src/partner/store/deliveries.ts';
import type { PartnerStores } from '../../../../src/partner/store/store.ts';
import {
  OWNER,
  STORE_KINDS,
  auditActions,
  eventKinds,
  nextDueAt,
  someCustomer,
  someEndpoint,
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

  const endpoint = async (more: Parameters<typeof someEndpoint>[2] = {}): Promise<string> =>
    (await someEndpoint(store, partnerId, more)).id;
  const claim = async (worker: string, limit: number, stores = store): Promise<readonly DeliveryClaim[]> => {
    const [due] = await stores.deliveries.dueEndpoints();
    if (due === undefined) return [];
    return await stores.deliveries.claim({ ...due, worker, limit, leaseMs: LEASE });
  };
  const claimOne = async (worker = 'w1'): Promise<DeliveryClaim> => {
    const [first] = await claim(worker, 1);
    if (first === undefined) throw new Error('nothing is due');
    return first;
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
        async (_, index) => await claim(`w${index}`, 7, index % 2 === 0 ? store : other),
      ),
    );
    const ids = claims.flat().map(({ delivery }) => delivery.id);
    expect(new Set(ids).size).toBe(ids.length);
    // One that looked while others held them may have gone away with less: nothing is left out in the end.
    for (let rest = await claim('w', 7); rest.length > 0;) {
      ids.push(...rest.map(({ delivery }) => delivery.id));
      rest = await claim('w', 7);
    }
    expect(new Set(ids).size).toBe(40);
    expect(ids).toHaveLength(40);
  });

  it('can be claimed again when the claim has ended, and then the first worker has nothing to say', async () => {
    await endpoint();
    await someCustomer(store, partnerId);
    const first = await claimOne('w1');
    site.clock.jump(LEASE - 1);
    expect(await claim('w2', 1)).toEqual([]);
    expect(await nextDueAt(site.database())).toBe(first.until);
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
    expect(await nextDueAt(site.database())).toBeUndefined();
  });

  it('are tried ten times in a little over three days, and have failed then', async () => {
    const id = await endpoint();
    await someCustomer(store, partnerId);
    const start = site.clock.now();
    const times: number[] = [];
    for (;;) {
      const due = await nextDueAt(site.database());
      if (due === undefined) break;
      site.clock.jump(due - site.clock.now() - 1);
      expect(await claim('w1', 1)).toEqual([]);
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
    const gone = { kind: 'gone', status: 410 } as const;
    expect(await store.deliveries.finish(await claimOne(), gone)).toMatchObject({
      status: 'failed',
      attempts: 2,
    });
  });

  it('all wait when the receiver wants to hear nothing, which is no attempt, and are told one by one then', async () => {
    const id = await endpoint();
    for (let count = 0; count < 5; count += 1) await someCustomer(store, partnerId);
    const silent = { ...FAILED, status: 429, silenceMs: 600_000 };
    const [one, two] = await claim('w1', 2);
    if (one === undefined || two === undefined) throw new Error('nothing is due');
    expect(await store.deliveries.finish(one, silent)).toMatchObject({ status: 'pending', attempts: 0 });
    const due = async () => await store.deliveries.dueEndpoints();
    expect([await due(), await claim('w2', 10)]).toEqual([[], []]);
    // What was under way may arrive, and changes nothing of what was asked for.
    await store.deliveries.finish(two, { kind: 'delivered', status: 200 });
    site.clock.jump(599_999);
    expect([await due(), await claim('w2', 10)]).toEqual([[], []]);
    const { items } = await store.deliveries.list(partnerId, id, { limit: 10, status: 'pending' });
    for (const { nextAttemptAt } of items) expect(nextAttemptAt).toBeGreaterThan(site.clock.now());
    site.clock.jump(1);
    expect(await due()).toMatchObject([{ endpointId: id, isTrial: true }]);
    await store.deliveries.finish(await claimOne(), { kind: 'delivered', status: 200 });
    expect(await due()).toMatchObject([{ isTrial: false }]);
  });

  it('are heard again at once when somebody asks for one, and given up for silence after three days', async () => {
    const id = await endpoint();
    await someCustomer(store, partnerId);
    const silent = { ...FAILED, status: 503, silenceMs: 3_600_000 };
    const claimed = await claimOne();
    await store.deliveries.finish(claimed, silent);
    await store.deliveries.retry(partnerId, id, claimed.delivery.id, OWNER);
    let tries = 0;
    for (;;) {
      const [next] = await claim('w1', 1);
      if (next !== undefined) {
        tries += 1;
        await store.deliveries.finish(next, silent);
      }
      const { items } = await store.deliveries.list(partnerId, id, { limit: 10 });
      if (items.some(({ status }) => status === 'failed')) break;
      site.clock.jump(1_800_000);
    }
    expect(tries).toBeGreaterThan(40);
    expect(tries).toBeLessThan(80);
    expect(await store.webhooks.get(partnerId, id)).toMatchObject({ disabledReason: 'failing' });
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
    const claimed = await claimOne();
    await store.deliveries.finish(claimed, { kind: 'delivered', status: 200 });
    const again = await store.deliveries.retry(partnerId, id, claimed.delivery.id, OWNER);
    expect(again).toMatchObject({ eventId: claimed.delivery.eventId, status: 'pending', attempts: 0 });
    expect((await claimOne()).delivery.id).toBe(claimed.delivery.id);
    expect((await auditActions(store, partnerId)).at(-1)).toBe('delivery.retried');
    const stranger = (await somePartner(store, 'umbrella')).id;
    expect(await store.deliveries.retry(stranger, id, claimed.delivery.id, OWNER)).toBeUndefined();
    expect(await store.deliveries.get(stranger, claimed.delivery.id)).toBeUndefined();
    expect((await store.deliveries.list(stranger, id, { limit: 10 })).items).toEqual([]);
  });

  it('of an endpoint that is gone have failed, and the others are told once', async () => {
    const [id, watcher] = [await endpoint(), await endpoint({ events: ['webhook.disabled'] })];
    for (let count = 0; count < 3; count += 1) await someCustomer(store, partnerId);
    const [first, second] = await claim('w1', 2);
    if (first === undefined || second === undefined) throw new Error('too few are due');
    expect(await store.deliveries.finish(first, { kind: 'gone', status: 410 })).toMatchObject({
      status: 'failed',
      attempts: 1,
      lastStatus: 410,
    });
    expect(await store.webhooks.get(partnerId, id)).toMatchObject({
      status: 'disabled',
      disabledReason: 'gone',
    });
    expect(await store.deliveries.finish(second, { kind: 'gone', status: 410 })).toBeUndefined();
    const { items } = await store.deliveries.list(partnerId, id, { limit: 10 });
    expect(items.map(({ status, attempts }) => [status, attempts])).toEqual([
      ['failed', 0],
      ['failed', 0],
      ['failed', 1],
    ]);
    expect((await store.deliveries.list(partnerId, watcher, { limit: 10 })).items).toMatchObject([
      { eventKind: 'webhook.disabled', status: 'pending' },
    ]);
    const told = (await eventKinds(store, partnerId)).filter((name) => name === 'webhook.disabled');
    expect(told).toHaveLength(1);
    expect((await auditActions(store, partnerId)).filter((name) => name === 'webhook.disabled')).toHaveLength(
      1,
    );
    expect(await store.webhooks.patch(partnerId, id, { status: 'disabled' }, OWNER)).toMatchObject({
      disabledReason: 'gone',
    });
    expect(await store.webhooks.patch(partnerId, id, { status: 'enabled' }, OWNER)).toMatchObject({
      status: 'enabled',
      disabledReason: null,
    });
  });

  it('of which one had all its attempts disable the endpoint, unless another succeeded meanwhile', async () => {
    const id = await endpoint();
    const untilGivenUp = async (between: () => Promise<unknown>): Promise<void> => {
      await someCustomer(store, partnerId);
      const { id: lost } = (await claimAt(0)).delivery;
      for (let attempt = 1; attempt <= 10; attempt += 1) {
        if (attempt === 5) await between();
        const due = attempt === 1 ? site.clock.now() + LEASE : await nextDueAt(site.database());
        const next = await claimAt(due ?? 0);
        expect(next.delivery.id).toBe(lost);
        await store.deliveries.finish(next, FAILED);
      }
      expect(await store.deliveries.get(partnerId, lost)).toMatchObject({ status: 'failed', attempts: 10 });
    };
    const claimAt = async (ms: number): Promise<DeliveryClaim> => {
      site.clock.jump(Math.max(0, ms - site.clock.now()));
      return await claimOne();
    };
    await untilGivenUp(async () => {
      await store.webhooks.test(partnerId, id, OWNER);
      await store.deliveries.finish(await claimOne(), { kind: 'delivered', status: 200 });
    });
    expect(await store.webhooks.get(partnerId, id)).toMatchObject({ status: 'enabled' });
    await store.webhooks.patch(partnerId, id, { description: 'x' }, OWNER);
    await untilGivenUp(async () => await Promise.resolve());
    expect(await store.webhooks.get(partnerId, id)).toMatchObject({
      status: 'disabled',
      disabledReason: 'failing',
    });
    expect((await eventKinds(store, partnerId)).at(-1)).toBe('webhook.disabled');
  });

  it('of which one had all its attempts disable the endpoint, however often the clock is read', async () => {
    const id = await endpoint();
    await someCustomer(store, partnerId);
    const { now } = site.clock;
    let read = 0;
    // No two readings are the same, as with a real clock and a server that takes a moment to answer.
    vi.spyOn(site.clock, 'now').mockImplementation(() => now.call(site.clock) + (read += 1));
    for (let attempt = 1; attempt <= 10; attempt += 1) {
      site.clock.jump(Math.max(0, ((await nextDueAt(site.database())) ?? 0) - site.clock.now()));
      await store.deliveries.finish(await claimOne(), FAILED);
    }
    expect(await store.webhooks.get(partnerId, id)).toMatchObject({ disabledReason: 'failing' });
  });

  it('that are given back can be claimed again, and no attempt is counted', async () => {
    await endpoint();
    await someCustomer(store, partnerId);
    const first = await claimOne('w1');
    expect(await claim('w2', 1)).toEqual([]);
    await store.deliveries.giveBack(first, 5_000);
    expect(await claim('w2', 1)).toEqual([]);
    site.clock.jump(5_000);
    const second = await claimOne('w2');
    expect(second.delivery).toMatchObject({ id: first.delivery.id, attempts: 0 });
    // It has nothing to give back any more.
    await store.deliveries.giveBack(first, 0);
    expect(await store.deliveries.finish(second, { kind: 'delivered', status: 200 })).toMatchObject({
      attempts: 1,
    });
  });

  it('are looked for with an index, and told of when they are stored', async () => {
    let rung = 0;
    const other = await site.open({ due: () => void (rung += 1) });
    await someCustomer(other, partnerId);
    expect(rung).toBe(0);
    const id = await endpoint();
    await someCustomer(other, partnerId);
    await other.webhooks.test(partnerId, id, OWNER);
    const claimed = await claimOne();
    await other.deliveries.retry(partnerId, id, claimed.delivery.id, OWNER);
    expect(rung).toBe(3);
    expect(await store.deliveries.dueEndpoints()).toMatchObject([
      { partnerId, endpointId: id, isFailing: false },
    ]);
    if (kind === 'sqlite')
      expect(await planOfDue(site)).toMatch(/SEARCH deliveries USING INDEX deliveries_due /);
  });

  it('of a test go to that endpoint alone', async () => {
    const [id, other] = [await endpoint({ events: ['customer.created'] }), await endpoint()];
    const delivery = await store.webhooks.test(partnerId, id, OWNER);
    expect(delivery).toMatchObject({ endpointId: id, eventKind: 'webhook.test', status: 'pending' });
    expect(await store.webhooks.test(partnerId, 'whk_none', OWNER)).toBeUndefined();
    expect((await store.deliveries.list(partnerId, id, { limit: 10 })).items).toEqual([delivery]);
    const failed = { limit: 10, status: 'failed' } as const;
    expect((await store.deliveries.list(partnerId, id, failed)).items).toEqual([]);
    expect((await store.deliveries.list(partnerId, other, { limit: 10 })).items).toEqual([]);
  });

  it('are gone at once with their endpoint, however many they are, and are removed little by little', async () => {
    const statements: string[] = [];
    const seeing = await site.open({ seen: (statement) => statements.push(statement) });
    const id = await endpoint();
    for (let count = 0; count < 3; count += 1) await someCustomer(store, partnerId);
    const held = await claimOne();
    statements.length = 0;
    expect(await seeing.webhooks.remove(partnerId, id, OWNER)).toBe(true);
    expect(await seeing.webhooks.remove(partnerId, id, OWNER)).toBe(false);
    expect(statements.filter((text) => text.startsWith('delete') || text.includes('"deliveries"'))).toEqual(
      [],
    );

    expect(await store.webhooks.get(partnerId, id)).toBeUndefined();
    expect(await store.webhooks.target(partnerId, id)).toBeUndefined();
    expect((await store.webhooks.list(partnerId, { limit: 10 })).items).toEqual([]);
    expect((await store.deliveries.list(partnerId, id, { limit: 10 })).items).toEqual([]);
    expect(await store.deliveries.retry(partnerId, id, held.delivery.id, OWNER)).toBeUndefined();
    expect(await store.deliveries.finish(held, { kind: 'gone', status: 410 })).toBeUndefined();
    await someCustomer(store, partnerId);
    site.clock.jump(LEASE + 1);
    expect(await store.deliveries.dueEndpoints()).toEqual([]);
    expect(await eventKinds(store, partnerId)).not.toContain('webhook.disabled');

    const { reader } = site.database();
    const left = async (table: 'deliveries' | 'webhook_endpoints'): Promise<number> =>
      (await reader.selectFrom(table).select('id').where('partner_id', '=', partnerId).execute()).length;
    expect([await left('deliveries'), await left('webhook_endpoints')]).toEqual([3, 1]);
    await store.prune();
    expect([await left('deliveries'), await left('webhook_endpoints')]).toEqual([0, 0]);
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
    await store.webhooks.prune();
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
        async (_, index) => await someEndpoint(index % 2 === 0 ? store : other, partnerId),
      ),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
    expect((await store.webhooks.list(partnerId, { limit: 20 })).items).toHaveLength(10);
  });

  it('sign with both secrets until the old one’s time has come, and tell no record of either', async () => {
    const { id, url } = await someEndpoint(store, partnerId);
    expect(await store.webhooks.target(partnerId, id)).toEqual({ url, sealedSecrets: ['sealed-1'] });
    await store.webhooks.rotateSecret(partnerId, id, 'sealed-2', site.clock.now() + 1_000, OWNER);
    site.clock.jump(999);
    expect(await store.webhooks.target(partnerId, id)).toEqual({
      url,
      sealedSecrets: ['sealed-2', 'sealed-1'],
    });
    site.clock.jump(1);
    expect(await store.webhooks.target(partnerId, id)).toEqual({ url, sealedSecrets: ['sealed-2'] });
    expect(JSON.stringify(await store.audit.list(partnerId, { limit: 10 }))).not.toContain('sealed');
    expect(JSON.stringify(await store.webhooks.get(partnerId, id))).not.toContain('sealed');
  });

  it('of another partner are not there', async () => {
    const { id, url } = await someEndpoint(store, partnerId);
    const thief = (await somePartner(store, 'umbrella')).id;
    expect(await store.webhooks.get(thief, id)).toBeUndefined();
    expect(await store.webhooks.target(thief, id)).toBeUndefined();
    expect(await store.webhooks.patch(thief, id, { url: 'https://evil.example' }, OWNER)).toBeUndefined();
    expect(await store.webhooks.rotateSecret(thief, id, 'mine', 0, OWNER)).toBeUndefined();
    expect(await store.webhooks.test(thief, id, OWNER)).toBeUndefined();
    expect(await store.webhooks.remove(thief, id, OWNER)).toBe(false);
    expect(await store.webhooks.get(partnerId, id)).toMatchObject({ url, status: 'enabled' });
    expect(await auditActions(store, thief)).toEqual(['partner.created']);
  });
});

/** How SQLite looks for a delivery that is due, in its own words. */
async function planOfDue(site: StoreSite): Promise<string> {
  const { reader } = site.database();
  const query = reader.selectFrom('deliveries').select('id').where(isDueAt(1)).limit(1);
  const { sql, parameters } = query.compile();
  const plan = CompiledQuery.raw(`EXPLAIN QUERY PLAN ${sql}`, [...parameters]);
  return JSON.stringify((await reader.executeQuery(plan)).rows);
}
