import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dayOf } from '../../../../src/partner/store/metering.ts';
import type { PartnerStores } from '../../../../src/partner/store/store.ts';
import {
  OWNER,
  STORE_KINDS,
  backup,
  enrolledLongAgo,
  report,
  someCustomer,
  someDevice,
  somePartner,
  storeSite,
  type StoreSite,
} from '../../../support/partner-store-site.ts';

const DAY = 86_400_000;
/** The day of the manual clock. */
const TODAY = '2023-11-14';

describe.each(STORE_KINDS)('usage on %s', (kind) => {
  let site: StoreSite;
  let store: PartnerStores;
  let partnerId: string;

  beforeEach(async () => {
    site = await storeSite(kind);
    store = await site.open();
    ({ id: partnerId } = await somePartner(store));
  });
  afterEach(async () => await site.remove());

  it('holds what was last told of storage until something else is told, or the device is removed', async () => {
    const { id: customerId } = await someCustomer(store, partnerId);
    const [one, two] = [
      (await someDevice(store, partnerId, customerId)).device.id,
      (await someDevice(store, partnerId, customerId)).device.id,
    ];
    const tell = async (device: string, seq: number, bytes: number): Promise<void> => {
      await store.reports.accept(
        partnerId,
        device,
        report(seq, { storage: { bytes, at: site.clock.now() } }),
      );
    };
    const levels = async (from: string, to: string): Promise<readonly number[]> =>
      (await store.usage.usage(partnerId, { from, to, granularity: 'day' })).items.map(
        (item) => item.storageBytes,
      );
    await tell(one, 1, 10);
    site.clock.jump(DAY);
    await tell(two, 1, 100);
    site.clock.jump(DAY);
    await tell(one, 2, 30);
    site.clock.jump(2 * DAY);
    await store.devices.remove(partnerId, two, OWNER);
    site.clock.jump(DAY);
    await tell(one, 3, 5);
    expect(await levels('2023-11-13', '2023-11-20')).toEqual([0, 10, 110, 130, 130, 30, 5, 5]);
    // The same, whatever day is the first that is asked for.
    expect(await levels('2023-11-16', '2023-11-20')).toEqual([130, 130, 30, 5, 5]);
    expect(await levels('2023-11-17', '2023-11-17')).toEqual([130]);
    expect(await levels('2023-11-18', '2023-11-18')).toEqual([30]);
    const { totals } = await store.usage.usage(partnerId, {
      from: TODAY,
      to: '2023-11-17',
      granularity: 'day',
    });
    expect(totals.storageBytes).toBe(130);
  });

  it('holds nothing of a removed device, though a clock that was ahead had told of a later time', async () => {
    const { id: customerId } = await someCustomer(store, partnerId);
    const { device } = await someDevice(store, partnerId, customerId);
    for (const [seq, bytes] of [10, 20].entries()) {
      site.clock.jump(DAY);
      const storage = { bytes, at: site.clock.now() };
      await store.reports.accept(partnerId, device.id, report(seq + 1, { storage }));
    }
    // As when an instance whose clock is behind removes it, or the clock is put right.
    site.clock.jump(-DAY - 1_000);
    await store.devices.remove(partnerId, device.id, OWNER);
    const query = { from: '2023-11-15', to: '2023-11-20' } as const;
    const { items } = await store.usage.usage(partnerId, { ...query, granularity: 'day' });
    expect(items.map((item) => item.storageBytes)).toEqual([0, 0, 0, 0, 0, 0]);
    const { totals } = await store.usage.usage(partnerId, { ...query, granularity: 'month' });
    expect(totals.storageBytes).toBe(0);
  });

  it('is given by day and by month, for all customers or one', async () => {
    const [ada, bob] = [await someCustomer(store, partnerId), await someCustomer(store, partnerId)];
    const now = site.clock.now();
    const days = [now - 40 * DAY, now - 10 * DAY, now];
    for (const [index, customer] of [ada, bob].entries()) {
      const { device } = await someDevice(store, partnerId, customer.id);
      await enrolledLongAgo(site);
      const results = days.slice(index).map((at) => backup(at, { uploadedBytes: index === 0 ? 1 : 100 }));
      const storage = { bytes: 7, at: now };
      await store.reports.accept(partnerId, device.id, report(1, { results, storage }));
    }
    // One without a backup is stored, and not active.
    const { device } = await someDevice(store, partnerId, (await someCustomer(store, partnerId)).id);
    await store.reports.accept(partnerId, device.id, report(1, { storage: { bytes: 1, at: now } }));
    const query = { from: '2023-10-01', to: '2023-11-30', granularity: 'month' as const };
    const all = await store.usage.usage(partnerId, query);
    expect(all.items).toEqual([
      expect.objectContaining({
        period: '2023-10',
        uploadedBytes: 1,
        backupsCompleted: 1,
        activeCustomers: 1,
      }),
      expect.objectContaining({
        period: '2023-11',
        uploadedBytes: 202,
        backupsCompleted: 4,
        activeCustomers: 2,
        storageBytes: 15,
      }),
    ]);
    expect(all.totals).toMatchObject({ uploadedBytes: 203, activeCustomers: 2, storageBytes: 15 });
    const ofBob = await store.usage.usage(partnerId, { ...query, customerId: bob.id });
    expect(ofBob.totals).toMatchObject({ uploadedBytes: 200, activeCustomers: 1, storageBytes: 7 });
    const daily = await store.usage.usage(partnerId, { ...query, granularity: 'day' });
    expect(daily.items).toHaveLength(61);
    expect(daily.items.filter((item) => item.backupsCompleted > 0).map((item) => item.period)).toEqual(
      days.map(dayOf),
    );
    const { id: stranger } = await somePartner(store, 'umbrella');
    const none = await store.usage.usage(stranger, { ...query, customerId: bob.id });
    expect(none.totals).toMatchObject({ uploadedBytes: 0, storageBytes: 0, activeCustomers: 0 });
  });

  it('counts accepted requests by the day, and no refused ones', async () => {
    for (let count = 0; count < 5; count += 1) await store.rateLog.tryAccept(partnerId, 3, 60_000);
    site.clock.jump(DAY);
    await store.rateLog.tryAccept(partnerId, 3, 60_000);
    const { items, totals } = await store.usage.usage(partnerId, {
      from: TODAY,
      to: '2023-11-15',
      granularity: 'day',
    });
    expect(items.map((item) => item.apiRequests)).toEqual([3, 1]);
    expect(totals.apiRequests).toBe(4);
  });

  it.each([
    ['2023-11-14', '2023-11-13'],
    ['2022-11-14', '2023-11-15'],
    ['2023-02-29', '2023-03-01'],
    ['2023-11-14', 'today'],
  ])('is refused for a range that is none or too long: %s to %s', async (from, to) => {
    await expect(store.usage.usage(partnerId, { from, to, granularity: 'day' })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
    });
  });

  it('is given for 366 days', async () => {
    const { items } = await store.usage.usage(partnerId, {
      from: '2022-11-14',
      to: '2023-11-14',
      granularity: 'day',
    });
    expect(items).toHaveLength(366);
  });
});
