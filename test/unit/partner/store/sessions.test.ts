import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SESSION_IDLE_MS, SESSION_MS } from '../../../../src/partner/store/sessions.ts';
import type { PartnerStores } from '../../../../src/partner/store/store.ts';
import {
  auditActions,
  OWNER,
  STORE_KINDS,
  somePartner,
  storeSite,
  type StoreSite,
} from '../../../support/partner-store-site.ts';

describe.each(STORE_KINDS)('sessions on %s', (kind) => {
  let site: StoreSite;
  let store: PartnerStores;
  let partnerId: string;

  beforeEach(async () => {
    site = await storeSite(kind);
    store = await site.open();
    ({ id: partnerId } = await somePartner(store));
  });
  afterEach(async () => await site.remove());

  it('are found in every instance by their token, until they are ended', async () => {
    const other = await site.open();
    const { token, session } = await store.sessions.create(partnerId, OWNER);
    expect(await other.sessions.find(token)).toEqual(session);
    expect(await other.sessions.find(`${token}x`)).toBeUndefined();
    await other.sessions.remove(token);
    expect(await store.sessions.find(token)).toBeUndefined();
  });

  it('end with the second factor when the access to the account is reset', async () => {
    await store.partners.setTotp(partnerId, 'sealed', OWNER);
    const { token } = await store.sessions.create(partnerId, OWNER);
    const operator = { name: 'operator', keyId: null, ip: null };
    await store.partners.resetAccess(partnerId, 'another hash', operator);
    expect(await store.sessions.find(token)).toBeUndefined();
    expect(await store.partners.findLogin('acme@example.com')).toMatchObject({
      passwordHash: 'another hash',
      totpSecret: null,
      hasTotp: false,
    });
    const { items } = await store.audit.list(partnerId, { limit: 1 });
    expect(items).toMatchObject([
      { action: 'partner.access_reset', actor: operator, before: null, after: null },
    ]);
  });

  it('end when they are long unused, and after their time however much they are used', async () => {
    const [used, unused] = [
      await store.sessions.create(partnerId, OWNER),
      await store.sessions.create(partnerId, OWNER),
    ];
    const start = site.clock.now();
    while (site.clock.now() < start + SESSION_MS - SESSION_IDLE_MS / 2) {
      site.clock.jump(SESSION_IDLE_MS / 2);
      expect(await store.sessions.find(used.token)).toMatchObject({ partnerId });
    }
    expect(await store.sessions.find(unused.token)).toBeUndefined();
    site.clock.jump(start + SESSION_MS - site.clock.now());
    expect(await store.sessions.find(used.token)).toBeUndefined();
    await store.sessions.prune();
    expect(await site.database().reader.selectFrom('sessions').selectAll().execute()).toEqual([]);
  });

  it('of one partner are all ended at once, but the one that asked', async () => {
    const [one, two] = [
      await store.sessions.create(partnerId, OWNER),
      await store.sessions.create(partnerId, OWNER),
    ];
    const stranger = await store.sessions.create((await somePartner(store, 'umbrella')).id, OWNER);
    await store.sessions.removeAll(partnerId, one.token);
    expect(await store.sessions.find(one.token)).toBeDefined();
    expect(await store.sessions.find(two.token)).toBeUndefined();
    await store.sessions.removeAll(partnerId);
    expect(await store.sessions.find(one.token)).toBeUndefined();
    expect(await store.sessions.find(stranger.token)).toBeDefined();
  });
  it('are listed for their partner while they last, and which of them asks', async () => {
    const first = await store.sessions.create(partnerId, OWNER);
    site.clock.jump(60_000);
    const second = await store.sessions.create(partnerId, OWNER);
    await store.sessions.create((await somePartner(store, 'umbrella')).id, OWNER);
    expect(await store.sessions.list(partnerId, first.token)).toEqual([
      { session: second.session, isThis: false },
      { session: first.session, isThis: true },
    ]);
    site.clock.jump(SESSION_IDLE_MS - 60_000);
    expect(await store.sessions.list(partnerId, 'another')).toEqual([
      { session: second.session, isThis: false },
    ]);
  });

  it('are ended all together when that is asked for, which leaves one record', async () => {
    const one = await store.sessions.create(partnerId, OWNER);
    await store.sessions.create(partnerId, OWNER);
    const stranger = await store.sessions.create((await somePartner(store, 'umbrella')).id, OWNER);
    await store.sessions.endAll(partnerId, OWNER);
    expect(await store.sessions.list(partnerId, one.token)).toEqual([]);
    expect(await store.sessions.find(stranger.token)).toBeDefined();
    const actions = await auditActions(store, partnerId);
    expect(actions.filter((action) => action === 'session.all_ended')).toHaveLength(1);
  });
});
