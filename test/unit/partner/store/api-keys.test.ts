import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PartnerStores } from '../../../../src/partner/store/store.ts';
import {
  OWNER,
  STORE_KINDS,
  auditActions,
  eventKinds,
  somePartner,
  storeSite,
  type StoreSite,
} from '../../../support/partner-store-site.ts';

describe.each(STORE_KINDS)('API keys on %s', (kind) => {
  let site: StoreSite;
  let store: PartnerStores;
  let partnerId: string;

  beforeEach(async () => {
    site = await storeSite(kind);
    store = await site.open();
    ({ id: partnerId } = await somePartner(store));
  });
  afterEach(async () => await site.remove());

  it('go from none to active, and are found by their secret', async () => {
    const { key, secret } = await store.apiKeys.generate(partnerId, 'billing', OWNER);
    expect(secret).toMatch(/^hfp_[0-9A-Za-z]{36}$/);
    expect(key).toMatchObject({ name: 'billing', prefix: secret.slice(0, 10), lastUsedAt: null });
    expect(await store.apiKeys.active(partnerId)).toEqual(key);
    expect(await store.apiKeys.verify(secret)).toEqual({ key, partnerStatus: 'active' });
    expect(await store.apiKeys.verify(`${secret}x`)).toBeUndefined();
  });

  it('are one at most', async () => {
    await store.apiKeys.generate(partnerId, 'first', OWNER);
    await expect(store.apiKeys.generate(partnerId, 'second', OWNER)).rejects.toMatchObject({
      code: 'API_KEY_EXISTS',
    });
    expect(await store.apiKeys.active(partnerId)).toMatchObject({ name: 'first' });
    expect(await auditActions(store, partnerId)).toEqual(['partner.created', 'api_key.generated']);
  });

  it('are void at once, in every instance, when they are regenerated', async () => {
    const other = await site.open();
    const old = await store.apiKeys.generate(partnerId, 'billing', OWNER);
    const made = await store.apiKeys.regenerate(partnerId, OWNER);
    expect(await other.apiKeys.verify(old.secret)).toBeUndefined();
    expect(await other.apiKeys.verify(made?.secret ?? '')).toMatchObject({ key: { name: 'billing' } });
    expect(await eventKinds(store, partnerId)).toEqual(['api_key.regenerated']);
    expect((await auditActions(store, partnerId)).at(-1)).toBe('api_key.regenerated');
  });

  it('are void at once when they are revoked, and may be generated anew', async () => {
    const old = await store.apiKeys.generate(partnerId, 'billing', OWNER);
    expect(await store.apiKeys.revoke(partnerId, OWNER)).toBe(true);
    expect(await store.apiKeys.verify(old.secret)).toBeUndefined();
    expect(await store.apiKeys.active(partnerId)).toBeUndefined();
    expect(await eventKinds(store, partnerId)).toEqual(['api_key.revoked']);
    expect((await auditActions(store, partnerId)).at(-1)).toBe('api_key.revoked');
    expect(await store.apiKeys.generate(partnerId, 'again', OWNER)).toMatchObject({ key: { name: 'again' } });
  });

  it('are shown by the one that was made last, active or revoked', async () => {
    expect(await store.apiKeys.latest(partnerId)).toBeUndefined();
    const first = await store.apiKeys.generate(partnerId, 'first', OWNER);
    expect(await store.apiKeys.latest(partnerId)).toEqual({ key: first.key, revokedAt: null });
    const second = await store.apiKeys.regenerate(partnerId, OWNER);
    expect(await store.apiKeys.latest(partnerId)).toEqual({ key: second?.key, revokedAt: null });
    site.clock.jump(1_000);
    await store.apiKeys.revoke(partnerId, OWNER);
    expect(await store.apiKeys.latest(partnerId)).toEqual({
      key: second?.key,
      revokedAt: site.clock.now(),
    });
    expect(await store.apiKeys.latest((await somePartner(store, 'umbrella')).id)).toBeUndefined();
  });

  it('cannot be regenerated or revoked where none is active', async () => {
    expect(await store.apiKeys.regenerate(partnerId, OWNER)).toBeUndefined();
    expect(await store.apiKeys.revoke(partnerId, OWNER)).toBe(false);
    expect(await auditActions(store, partnerId)).toEqual(['partner.created']);
    expect(await eventKinds(store, partnerId)).toEqual([]);
  });

  it('stay one when two instances generate and regenerate at once', async () => {
    const other = await site.open();
    const results = await Promise.allSettled(
      Array.from(
        { length: 10 },
        async (_, index) =>
          await (index % 2 === 0 ? store : other).apiKeys.generate(partnerId, `${index}`, OWNER),
      ),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const remade = await Promise.all(
      Array.from(
        { length: 10 },
        async (_, index) => await (index % 2 === 0 ? store : other).apiKeys.regenerate(partnerId, OWNER),
      ),
    );
    const valid = await Promise.all(
      remade.map(async (made) => await store.apiKeys.verify(made?.secret ?? '')),
    );
    expect(valid.filter((found) => found !== undefined)).toHaveLength(1);
    expect(await eventKinds(store, partnerId)).toHaveLength(10);
    const rows = await site.database().reader.selectFrom('api_keys').selectAll().execute();
    expect(rows.filter((row) => row.revoked_at === null)).toHaveLength(1);
  });

  it('are known to have been used to the minute', async () => {
    const { key } = await store.apiKeys.generate(partnerId, 'billing', OWNER);
    const start = site.clock.now();
    await store.apiKeys.touch(key);
    site.clock.jump(59_999);
    await store.apiKeys.touch({ ...key, lastUsedAt: start });
    // An instance that read the key before it was used knows no better.
    await store.apiKeys.touch(key);
    expect(await store.apiKeys.active(partnerId)).toMatchObject({ lastUsedAt: start });
    site.clock.jump(1);
    await store.apiKeys.touch({ ...key, lastUsedAt: start });
    expect(await store.apiKeys.active(partnerId)).toMatchObject({ lastUsedAt: start + 60_000 });
  });

  it('of a suspended partner are found, and say so', async () => {
    const { secret } = await store.apiKeys.generate(partnerId, 'billing', OWNER);
    expect(await store.partners.setStatus(partnerId, 'suspended', OWNER)).toBe(true);
    expect(await store.apiKeys.verify(secret)).toMatchObject({ partnerStatus: 'suspended' });
  });

  it('leave nothing in the tables that could be used, nor do other secrets', async () => {
    const secrets = [(await store.apiKeys.generate(partnerId, 'billing', OWNER)).secret];
    const customer = await store.customers.create(
      partnerId,
      { name: 'Ada', email: null, externalId: null, planId: 'plan_01K00000000000000000000002', metadata: {} },
      OWNER,
    );
    const made = await store.enrollment.createToken(partnerId, customer.id, OWNER);
    const device = await store.enrollment.enroll(
      made?.token ?? '',
      { name: 'laptop', platform: 'linux', agentVersion: '0.1.0' },
      null,
    );
    secrets.push(made?.token ?? '', device.key, (await store.sessions.create(partnerId, OWNER)).token);
    const { reader } = site.database();
    const dump = JSON.stringify([
      await reader.selectFrom('api_keys').selectAll().execute(),
      await reader.selectFrom('enrollment_tokens').selectAll().execute(),
      await reader.selectFrom('devices').selectAll().execute(),
      await reader.selectFrom('sessions').selectAll().execute(),
      await reader.selectFrom('audit_log').selectAll().execute(),
      await reader.selectFrom('events').selectAll().execute(),
    ]);
    expect(secrets.every((secret) => secret.length > 30)).toBe(true);
    for (const secret of secrets) expect(dump).not.toContain(secret.slice(12));
  });
});
