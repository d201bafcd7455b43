import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MOST_ORDERS, ORDER_KINDS, ORDER_MS } from '../../../../src/partner/store/orders.ts';
import type { PartnerStores } from '../../../../src/partner/store/store.ts';
import {
  OWNER,
  STORE_KINDS,
  someCustomer,
  someDevice,
  somePartner,
  storeSite,
  type StoreSite,
} from '../../../support/partner-store-site.ts';

describe.each(STORE_KINDS)('orders on %s', (kind) => {
  let site: StoreSite;
  let store: PartnerStores;
  let partnerId: string;
  let deviceId: string;

  beforeEach(async () => {
    site = await storeSite(kind);
    store = await site.open();
    ({ id: partnerId } = await somePartner(store));
    const customer = await someCustomer(store, partnerId);
    deviceId = (await someDevice(store, partnerId, customer.id)).device.id;
  });
  afterEach(async () => await site.remove());

  const given = async (order: (typeof ORDER_KINDS)[number] = 'report'): Promise<string> =>
    (await store.orders.create(partnerId, deviceId, order, OWNER))?.id ?? '';
  const open = async (): Promise<readonly string[]> =>
    (await store.orders.open(partnerId, deviceId)).map(({ id }) => id);

  it('wait for their device, oldest first, until it has taken them', async () => {
    const [first, second] = [await given('run_backup'), await given()];
    expect(await store.orders.open(partnerId, deviceId)).toEqual([
      {
        id: first,
        deviceId,
        kind: 'run_backup',
        createdAt: site.clock.now(),
        expiresAt: site.clock.now() + ORDER_MS,
      },
      expect.objectContaining({ id: second, kind: 'report' }),
    ]);
    await store.orders.take(partnerId, deviceId, [first], '203.0.113.9');
    expect(await open()).toEqual([second]);
    const { items } = await store.audit.list(partnerId, { limit: 3 });
    expect(items.map(({ action, target, actor }) => [action, target, actor.name])).toEqual([
      ['order.taken', first, 'device'],
      ['order.created', second, 'owner'],
      ['order.created', first, 'owner'],
    ]);
  });

  it('are taken once, however often the device says so', async () => {
    const id = await given();
    for (let count = 0; count < 3; count += 1) await store.orders.take(partnerId, deviceId, [id], null);
    const { items } = await store.audit.list(partnerId, { limit: 100 });
    expect(items.filter(({ action }) => action === 'order.taken')).toHaveLength(1);
  });

  it('are void after an hour, and forgotten a week later', async () => {
    const id = await given();
    site.clock.jump(ORDER_MS - 1);
    expect(await open()).toEqual([id]);
    site.clock.jump(1);
    expect(await open()).toEqual([]);
    const rows = async (): Promise<number> =>
      (await site.database().reader.selectFrom('orders').select('id').execute()).length;
    await store.prune();
    expect(await rows()).toBe(1);
    site.clock.jump(7 * 86_400_000);
    await store.prune();
    expect(await rows()).toBe(0);
  });

  it('are for one device of one partner', async () => {
    const id = await given();
    const other = await somePartner(store, 'other');
    const customer = await someCustomer(store, other.id);
    const { device } = await someDevice(store, other.id, customer.id);
    expect(await store.orders.create(other.id, deviceId, 'report', OWNER)).toBe(undefined);
    await store.orders.take(other.id, device.id, [id], null);
    await store.orders.take(partnerId, device.id, [id], null);
    expect(await store.orders.open(other.id, deviceId)).toEqual([]);
    expect(await open()).toEqual([id]);
  });

  it('are not made for a device that was removed', async () => {
    await store.devices.remove(partnerId, deviceId, OWNER);
    expect(await store.orders.create(partnerId, deviceId, 'report', OWNER)).toBe(undefined);
  });

  it('are ten at most, also when twenty are given at once', async () => {
    const results = await Promise.allSettled(Array.from({ length: 20 }, async () => await given()));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(MOST_ORDERS);
    await store.orders.take(partnerId, deviceId, await open(), null);
    await given();
  });

  it('are of the two kinds alone: the database takes no other', async () => {
    const row = {
      id: 'ord_x',
      partner_id: partnerId,
      device_id: deviceId,
      created_at: 1,
      expires_at: 2,
      taken_at: null,
    };
    const { reader } = site.database();
    for (const wrong of ['delete', 'prune', 'forget', 'restore', '']) {
      const values = { ...row, kind: wrong as 'report' };
      await expect(reader.insertInto('orders').values(values).execute()).rejects.toThrow(/check/i);
    }
    expect([...ORDER_KINDS]).toEqual(['run_backup', 'report']);
  });
});
