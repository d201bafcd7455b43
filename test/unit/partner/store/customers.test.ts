import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PartnerStores } from '../../../../src/partner/store/store.ts';
import {
  OWNER,
  PLAN,
  STORE_KINDS,
  auditActions,
  backup,
  enrolledLongAgo,
  eventKinds,
  report,
  someCustomer,
  someDevice,
  somePartner,
  storeSite,
  type StoreSite,
} from '../../../support/partner-store-site.ts';

const DAY = 86_400_000;

describe.each(STORE_KINDS)('customers on %s', (kind) => {
  let site: StoreSite;
  let store: PartnerStores;
  let partnerId: string;

  beforeEach(async () => {
    site = await storeSite(kind);
    store = await site.open();
    ({ id: partnerId } = await somePartner(store));
  });
  afterEach(async () => await site.remove());

  it('are made with a plan, its storage and its trial', async () => {
    const made = await someCustomer(store, partnerId, {
      name: 'Ada',
      email: 'ada@example.com',
      externalId: 'A-1',
      planId: PLAN.trial,
      metadata: { team: 'north' },
    });
    expect(made).toEqual({
      id: expect.stringMatching(/^cus_[0-9A-Z]{26}$/),
      name: 'Ada',
      email: 'ada@example.com',
      externalId: 'A-1',
      planId: PLAN.trial,
      metadata: { team: 'north' },
      status: 'active',
      trialEndsAt: site.clock.now() + 14 * DAY,
      storageUsedBytes: 0,
      storageLimitBytes: 10 * 2 ** 30,
      devicesCount: 0,
      devicesLate: 0,
      devicesFailing: 0,
      lastBackup: null,
      createdAt: site.clock.now(),
      updatedAt: site.clock.now(),
    });
    expect(await store.customers.get(partnerId, made.id)).toEqual(made);
    await expect(someCustomer(store, partnerId, { planId: 'plan_none' })).rejects.toMatchObject({
      code: 'PLAN_NOT_FOUND',
    });
  });

  it('have an external id of their own, among those of the partner that are there', async () => {
    const first = await someCustomer(store, partnerId, { externalId: 'A-1' });
    await expect(someCustomer(store, partnerId, { externalId: 'A-1' })).rejects.toMatchObject({
      code: 'CUSTOMER_EXISTS',
    });
    const other = await someCustomer(store, partnerId);
    await expect(
      store.customers.patch(partnerId, other.id, { externalId: 'A-1' }, OWNER),
    ).rejects.toMatchObject({ code: 'CUSTOMER_EXISTS' });
    const elsewhere = await somePartner(store, 'umbrella');
    await someCustomer(store, elsewhere.id, { externalId: 'A-1' });
    await store.customers.remove(partnerId, first.id, OWNER);
    expect(await someCustomer(store, partnerId, { externalId: 'A-1' })).toMatchObject({ externalId: 'A-1' });
  });

  it('are listed newest first, page by page, while others are made', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 7; count += 1) {
      ids.unshift((await someCustomer(store, partnerId)).id);
      if (count % 2 === 0) site.clock.jump(1_000);
    }
    await someCustomer(store, (await somePartner(store, 'umbrella')).id);
    const seen: string[] = [];
    let before: string | undefined;
    do {
      const page = await store.customers.list(partnerId, { limit: 3, before });
      seen.push(...page.items.map(({ id }) => id));
      before = page.next;
      await someCustomer(store, partnerId);
    } while (before !== undefined);
    expect(seen).toEqual(ids);
    expect(await store.customers.count(partnerId)).toBe(10);
  });

  it('are found by a part of a name, an address or a number, whatever it has in it', async () => {
    const ada = await someCustomer(store, partnerId, { name: 'Bakery 100% Ada', email: 'ada@bread.example' });
    const bob = await someCustomer(store, partnerId, { name: 'Bob', externalId: 'CRM_17' });
    const found = async (search: string): Promise<readonly string[]> =>
      (await store.customers.list(partnerId, { limit: 9, search })).items.map(({ id }) => id);
    expect(await found('bakery')).toEqual([ada.id]);
    expect(await found('BREAD.example')).toEqual([ada.id]);
    expect(await found('crm_1')).toEqual([bob.id]);
    expect(await found('0%')).toEqual([ada.id]);
    for (const nothing of ['crm-1', '_', '\\', "'"])
      expect(await found(nothing)).toEqual(nothing === '_' ? [bob.id] : []);
    expect(await store.customers.count(partnerId, { search: 'b' })).toBe(2);
  });

  it('need attention when a backup is late or failed, a plan is full, or a trial is at its end', async () => {
    const trial = await someCustomer(store, partnerId, { planId: PLAN.trial });
    const [late, failing, full, fine] = [
      await someCustomer(store, partnerId),
      await someCustomer(store, partnerId),
      await someCustomer(store, partnerId),
      await someCustomer(store, partnerId),
    ];
    const now = (): number => site.clock.now();
    const ids = new Map<string, string>();
    for (const { id } of [late, failing, full, fine]) {
      const { device } = await someDevice(store, partnerId, id);
      ids.set(id, device.id);
      const isFull = id === full.id;
      const outcome = backup(now(), id === failing.id ? { status: 'failed', errorCode: 'READ_ERROR' } : {});
      await store.reports.accept(
        partnerId,
        device.id,
        report(1, {
          expectedEverySeconds: id === late.id ? 3_600 : 30 * 86_400,
          storage: { bytes: isFull ? full.storageLimitBytes + 1 : full.storageLimitBytes, at: now() },
          results: [outcome],
        }),
      );
    }
    const needing = async (): Promise<readonly string[]> =>
      (await store.customers.list(partnerId, { limit: 9, attentionBefore: now() + 7 * DAY })).items.map(
        ({ id }) => id,
      );
    expect(await needing()).toEqual([full.id, failing.id]);
    site.clock.jump(7 * DAY + 1);
    await store.devices.markMissed(10);
    expect(await needing()).toEqual([full.id, failing.id, late.id, trial.id]);
    expect(await store.customers.count(partnerId, { attentionBefore: now() + 7 * DAY })).toBe(4);
    expect(await store.customers.count(partnerId, { trialEndsBefore: now() + 7 * DAY })).toBe(1);
    expect(await store.customers.get(partnerId, late.id)).toMatchObject({
      devicesLate: 1,
      devicesFailing: 0,
    });
    expect(await store.customers.get(partnerId, failing.id)).toMatchObject({
      devicesLate: 0,
      devicesFailing: 1,
    });
    // A device that was removed is nobody's trouble any more.
    await store.devices.remove(partnerId, ids.get(late.id) ?? '', OWNER);
    expect(await needing()).toEqual([full.id, failing.id, trial.id]);
  });

  it('are found by status, plan and external id', async () => {
    const ada = await someCustomer(store, partnerId, { externalId: 'A-1', planId: PLAN.pro });
    const bob = await someCustomer(store, partnerId);
    await store.customers.suspend(partnerId, bob.id, OWNER);
    const ids = async (filter: Parameters<typeof store.customers.list>[1]): Promise<readonly string[]> =>
      (await store.customers.list(partnerId, filter)).items.map(({ id }) => id);
    expect(await ids({ limit: 10, externalId: 'A-1' })).toEqual([ada.id]);
    expect(await ids({ limit: 10, planId: PLAN.pro })).toEqual([ada.id]);
    expect(await ids({ limit: 10, status: 'suspended' })).toEqual([bob.id]);
  });

  it('change by what is given alone, with one record and one event for each change', async () => {
    const { id } = await someCustomer(store, partnerId, { email: 'ada@example.com' });
    site.clock.jump(5_000);
    const patched = await store.customers.patch(partnerId, id, { name: 'Ada L.', email: null }, OWNER);
    expect(patched).toMatchObject({ name: 'Ada L.', email: null, updatedAt: site.clock.now() });
    await store.customers.patch(partnerId, id, { name: 'Ada L.' }, OWNER);
    await store.customers.patch(partnerId, id, { planId: PLAN.trial }, OWNER);
    await store.customers.suspend(partnerId, id, OWNER);
    await store.customers.suspend(partnerId, id, OWNER);
    expect(await store.customers.resume(partnerId, id, OWNER)).toMatchObject({ status: 'active' });
    expect(await store.customers.remove(partnerId, id, OWNER)).toBe(true);
    const kinds = [
      'customer.created',
      'customer.updated',
      'customer.plan_changed',
      'customer.suspended',
      'customer.resumed',
      'customer.deleted',
    ];
    expect(await eventKinds(store, partnerId)).toEqual(kinds);
    expect(await auditActions(store, partnerId)).toEqual(['partner.created', ...kinds]);
    const { items } = await store.audit.list(partnerId, { limit: 100 });
    expect(items.at(-3)).toMatchObject({
      actor: OWNER,
      target: id,
      before: { name: 'Ada', email: 'ada@example.com' },
      after: { name: 'Ada L.', email: null },
    });
    const { items: events } = await store.events.list(partnerId, { limit: 100 });
    expect(events.map(({ seq }) => seq)).toEqual([6, 5, 4, 3, 2, 1]);
    expect(events.every(({ customerId }) => customerId === id)).toBe(true);
  });

  it('of another partner are not there, whatever is asked', async () => {
    const { id } = await someCustomer(store, partnerId);
    const { device } = await someDevice(store, partnerId, id);
    const thief = (await somePartner(store, 'umbrella')).id;
    expect(await store.customers.get(thief, id)).toBeUndefined();
    expect(await store.customers.patch(thief, id, { name: 'mine' }, OWNER)).toBeUndefined();
    expect(await store.customers.suspend(thief, id, OWNER)).toBeUndefined();
    expect(await store.customers.remove(thief, id, OWNER)).toBe(false);
    expect(await store.enrollment.createToken(thief, id, OWNER)).toBeUndefined();
    expect(await store.devices.get(thief, device.id)).toBeUndefined();
    expect((await store.devices.list(thief, id, { limit: 10 })).items).toEqual([]);
    expect(await store.devices.remove(thief, device.id, OWNER)).toBe(false);
    expect(await store.reports.accept(thief, device.id, report(1))).toBe('unknown');
    expect(await store.customers.get(partnerId, id)).toMatchObject({ name: 'Ada', status: 'active' });
    expect(await eventKinds(store, thief)).toEqual([]);
    expect(await auditActions(store, thief)).toEqual(['partner.created']);
  });

  it('add up their devices, and show the backup that ended last', async () => {
    const ada = await someCustomer(store, partnerId);
    const [one, two] = [
      await someDevice(store, partnerId, ada.id),
      await someDevice(store, partnerId, ada.id),
    ];
    await enrolledLongAgo(site);
    const bob = await someCustomer(store, partnerId);
    const now = site.clock.now();
    await store.reports.accept(
      partnerId,
      one.device.id,
      report(1, { storage: { bytes: 700, at: now }, results: [backup(now - 10), backup(now - 30)] }),
    );
    await store.reports.accept(
      partnerId,
      two.device.id,
      report(1, { storage: { bytes: 50, at: now }, results: [backup(now - 20, { status: 'failed' })] }),
    );
    const { items } = await store.customers.list(partnerId, { limit: 10 });
    expect(items.map(({ id }) => id)).toEqual([bob.id, ada.id]);
    expect(items[1]).toMatchObject({
      storageUsedBytes: 750,
      devicesCount: 2,
      lastBackup: { status: 'completed', finishedAt: now - 10 },
    });
    expect(items[0]).toMatchObject({ storageUsedBytes: 0, devicesCount: 0, lastBackup: null });
  });

  it('are gone at once when they are deleted, with devices and tokens, and forgotten after 30 days', async () => {
    const person = { name: 'Ada Miller', email: 'ada@example.com', externalId: 'CRM-0815' };
    const ada = await someCustomer(store, partnerId, person);
    const { device, key } = await someDevice(store, partnerId, ada.id);
    const unused = await store.enrollment.createToken(partnerId, ada.id, OWNER);
    await store.customers.remove(partnerId, ada.id, OWNER);
    expect(await store.customers.get(partnerId, ada.id)).toBeUndefined();
    expect((await store.customers.list(partnerId, { limit: 10 })).items).toEqual([]);
    expect(await store.customers.count(partnerId)).toBe(0);
    expect(await store.devices.get(partnerId, device.id)).toBeUndefined();
    expect(await store.devices.verify(key)).toBeUndefined();
    await expect(
      store.enrollment.enroll(unused?.token ?? '', { name: 'x', platform: 'x', agentVersion: 'x' }, null),
    ).rejects.toMatchObject({ code: 'ENROLLMENT_TOKEN_INVALID' });

    site.clock.jump(30 * DAY - 1);
    expect(await store.customers.purge()).toBe(0);
    site.clock.jump(1);
    expect(await store.customers.purge()).toBe(1);
    expect(await store.customers.purge()).toBe(0);
    const { reader } = site.database();
    const rows = JSON.stringify([
      await reader.selectFrom('customers').selectAll().execute(),
      await reader.selectFrom('devices').selectAll().execute(),
    ]);
    for (const personal of [...Object.values(person), 'laptop']) expect(rows).not.toContain(personal);
  });
});
