// Turn 7 of 8.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RUNNING_MS, type RunningKey } from '../../../../src/partner/store/idempotency.ts';
import type { PartnerStores } from '../../../../src/partner/store/store.ts';
import {
  OWNER,
  PLAN,
  STORE_KINDS,
  somePartner,
  storeSite,
  type StoreSite,
} from '../../../support/partner-store-site.ts';

const KEY = { partnerId: 'acct_1', route: 'POST /customers', key: 'abc' };
const CUSTOMER = { name: 'Ada', email: null, externalId: 'crm-7', planId: PLAN.pro, metadata: {} };
const DAY = 86_400_000;
const RESPONSE = { status: 201, headers: { 'content-type': 'application/json' }, body: '{"success":true}' };

describe.each(STORE_KINDS)('idempotency keys on %s', (kind) => {
  let site: StoreSite;
  let store: PartnerStores;

  const begun = async (hash = 'h1', key = KEY) => {
    const verdict = await store.idempotency.begin(key, hash);
    if (verdict.kind !== 'new') throw new Error(`the key is ${verdict.kind}`);
    return verdict.running;
  };

  beforeEach(async () => {
    site = await storeSite(kind);
    store = await site.open();
  });
  afterEach(async () => await site.remove());

  it('are new once, then running, then answered with the same response, in every instance', async () => {
    const other = await site.open();
    const running = await begun();
    expect(await other.idempotency.begin(KEY, 'h1')).toEqual({ kind: 'running' });
    await store.idempotency.finish(running, RESPONSE);
    expect(await other.idempotency.begin(KEY, 'h1')).toEqual({ kind: 'done', response: RESPONSE });
  });

  it('are refused for another body, whether answered yet or not', async () => {
    const running = await begun();
    expect(await store.idempotency.begin(KEY, 'h2')).toEqual({ kind: 'reused' });
    await store.idempotency.finish(running, RESPONSE);
    expect(await store.idempotency.begin(KEY, 'h2')).toEqual({ kind: 'reused' });
  });

  it('count for one partner and one route', async () => {
    await begun();
    await begun('h2', { ...KEY, partnerId: 'acct_2' });
    await begun('h2', { ...KEY, route: 'POST /webhooks' });
  });

  it('have one effect when a thousand requests come at once to two instances', async () => {
    const other = await site.open();
    const verdicts = await Promise.all(
      Array.from({ length: 1_000 }, async (_, index) => {
        const at = index % 2 === 0 ? store : other;
        return (await at.idempotency.begin({ ...KEY, key: `${index % 20}` }, 'h1')).kind;
      }),
    );
    expect(verdicts.filter((verdict) => verdict === 'new')).toHaveLength(20);
    expect(verdicts.filter((verdict) => verdict === 'running')).toHaveLength(980);
  });

  it('may be used again when the request had no effect', async () => {
    await store.idempotency.abandon(await begun());
    await begun('h2');
  });

  it('may be used again when the instance that had it was killed, which then has nothing to say', async () => {
    const killed = await begun();
    site.clock.jump(RUNNING_MS - 1);
    expect(await store.idempotency.begin(KEY, 'h1')).toEqual({ kind: 'running' });
    site.clock.jump(1);
    expect(await store.idempotency.begin(KEY, 'h2')).toEqual({ kind: 'reused' });
    const running = await begun();
    await store.idempotency.finish(killed, { ...RESPONSE, status: 500 });
    await store.idempotency.abandon(killed);
    await store.idempotency.finish(running, RESPONSE);
    expect(await store.idempotency.begin(KEY, 'h1')).toEqual({ kind: 'done', response: RESPONSE });
  });

  it('tell what a killed instance had done, and nothing that was not stored', async () => {
    const { id: partnerId } = await somePartner(store);
    const key = { ...KEY, partnerId };
    const add = async (running: RunningKey) =>
      await store.customers.create(partnerId, CUSTOMER, { ...OWNER, running });
    const killed = await begun('h1', key);
    expect(killed.effect).toBe(null);
    const { id } = await add(killed);
    await expect(add(await begun('h1', { ...key, key: 'other' }))).rejects.toMatchObject({
      code: 'CUSTOMER_EXISTS',
    });
    site.clock.jump(RUNNING_MS);
    expect(await begun('h1', { ...key, key: 'other' })).toMatchObject({ effect: null });
    const next = await begun('h1', key);
    expect(next.effect).toBe(id);
    // Nor is it done again by one that has no response to keep.
    await store.idempotency.abandon(next);
    expect(await begun('h1', key)).toMatchObject({ effect: id });
    site.clock.jump(DAY);
    expect(await begun('h2', key)).toMatchObject({ effect: null });
  });

  it('stop a request that took so long that another one has its key', async () => {
    const { id: partnerId } = await somePartner(store);
    const slow = await begun('h1', { ...KEY, partnerId });
    site.clock.jump(RUNNING_MS);
    await begun('h1', { ...KEY, partnerId });
    const added = store.customers.create(partnerId, CUSTOMER, { ...OWNER, running: slow });
    await expect(added).rejects.toMatchObject({ code: 'IDEMPOTENCY_IN_PROGRESS' });
    expect(await store.customers.count(partnerId)).toBe(0);
  });

  it('are kept for 24 hours', async () => {
    await store.idempotency.finish(await begun(), RESPONSE);
    site.clock.jump(DAY - 1);
    await store.prune();
    expect(await store.idempotency.begin(KEY, 'h1')).toMatchObject({ kind: 'done' });
    site.clock.jump(1);
    await begun('h2');
    site.clock.jump(DAY);
    await store.prune();
    expect(await site.database().reader.selectFrom('idempotency').selectAll().execute()).toEqual([]);
  });
});
