import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PartnerStores } from '../../../../src/partner/store/store.ts';
import {
  OWNER,
  PLAN,
  STORE_KINDS,
  auditActions,
  backup,
  eventKinds,
  report,
  someCustomer,
  someDevice,
  somePartner,
  storeSite,
  type StoreSite,
} from '../../../support/partner-store-site.ts';

const LAPTOP = { name: 'laptop', platform: 'linux', agentVersion: '0.1.0' };
const MINUTE = 60_000;

describe.each(STORE_KINDS)('devices on %s', (kind) => {
  let site: StoreSite;
  let store: PartnerStores;
  let partnerId: string;
  let customerId: string;

  const newToken = async (): Promise<string> =>
    (await store.enrollment.createToken(partnerId, customerId, OWNER))?.token ?? '';
  const refused = expect.objectContaining({
    code: 'ENROLLMENT_TOKEN_INVALID',
    message: expect.stringMatching(/^The enrollment token is unknown, already used or expired\./),
  });

  beforeEach(async () => {
    site = await storeSite(kind);
    store = await site.open();
    ({ id: partnerId } = await somePartner(store));
    ({ id: customerId } = await someCustomer(store, partnerId));
  });
  afterEach(async () => await site.remove());

  it('enroll with a token and have a key of their own, by which they and their plan are found', async () => {
    const token = await newToken();
    const { device, key } = await store.enrollment.enroll(token, LAPTOP, '203.0.113.9');
    expect(token).toMatch(/^hfe_/);
    expect(key).toMatch(/^hfd_/);
    expect(device).toMatchObject({ ...LAPTOP, customerId, enrolledAt: site.clock.now(), reportSeq: 0 });
    expect(await store.devices.get(partnerId, device.id)).toEqual(device);
    expect(await store.devices.verify(key)).toMatchObject({
      partnerId,
      partnerStatus: 'active',
      device,
      customerStatus: 'active',
      plan: { slug: 'business', desktopRequestsPerHour: 10_000 },
    });
    expect((await eventKinds(store, partnerId)).at(-1)).toBe('device.enrolled');
    const { items } = await store.audit.list(partnerId, { limit: 1 });
    expect(items[0]).toMatchObject({
      action: 'device.enrolled',
      target: device.id,
      actor: { name: 'device', keyId: null, ip: '203.0.113.9' },
    });
  });

  it('enroll within 15 minutes, and not at their end', async () => {
    const [early, late] = [await newToken(), await newToken()];
    site.clock.jump(15 * MINUTE - 1);
    await store.enrollment.enroll(early, LAPTOP, null);
    site.clock.jump(1);
    await expect(store.enrollment.enroll(late, LAPTOP, null)).rejects.toEqual(refused);
  });

  it('do not enroll with a token that was used, or is none', async () => {
    const token = await newToken();
    await store.enrollment.enroll(token, LAPTOP, null);
    await expect(store.enrollment.enroll(token, LAPTOP, null)).rejects.toEqual(refused);
    await expect(store.enrollment.enroll(`${token}x`, LAPTOP, null)).rejects.toEqual(refused);
    expect((await store.devices.list(partnerId, customerId, { limit: 10 })).items).toHaveLength(1);
  });

  it('are one when a token is used many times at once, in two instances', async () => {
    const other = await site.open();
    const token = await newToken();
    const results = await Promise.allSettled(
      Array.from(
        { length: 12 },
        async (_, index) => await (index % 2 === 0 ? store : other).enrollment.enroll(token, LAPTOP, null),
      ),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect((await store.devices.list(partnerId, customerId, { limit: 10 })).items).toHaveLength(1);
    expect(
      (await auditActions(store, partnerId)).filter((action) => action === 'device.enrolled'),
    ).toHaveLength(1);
  });

  it('are as many as the plan allows, also at once; a token that was refused for that is still good', async () => {
    const other = await site.open();
    await store.customers.patch(partnerId, customerId, { planId: PLAN.pro }, OWNER);
    const tokens: string[] = [];
    for (let count = 0; count < 8; count += 1) tokens.push(await newToken());
    const results = await Promise.allSettled(
      tokens.map(
        async (token, index) =>
          await (index % 2 === 0 ? store : other).enrollment.enroll(token, LAPTOP, null),
      ),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
    const failures = results.filter((result) => result.status === 'rejected');
    for (const { reason } of failures) expect(reason).toMatchObject({ code: 'QUOTA_EXCEEDED' });
    await store.customers.patch(partnerId, customerId, { planId: PLAN.business }, OWNER);
    const left = tokens.filter((_, index) => results[index]?.status === 'rejected');
    for (const token of left) await store.enrollment.enroll(token, LAPTOP, null);
    expect((await store.devices.list(partnerId, customerId, { limit: 10 })).items).toHaveLength(8);
  });

  it('do not enroll for a customer or partner that is suspended', async () => {
    const token = await newToken();
    await store.customers.suspend(partnerId, customerId, OWNER);
    await expect(store.enrollment.enroll(token, LAPTOP, null)).rejects.toMatchObject({
      code: 'ENROLLMENT_TOKEN_INVALID',
      details: { reason: 'customer_suspended' },
    });
    await expect(newToken()).rejects.toMatchObject({
      code: 'FORBIDDEN',
      message: 'The customer is suspended, so no device can be enrolled. Resume the customer first.',
      details: { reason: 'customer_suspended' },
    });
    await store.customers.resume(partnerId, customerId, OWNER);
    await store.partners.setStatus(partnerId, 'suspended', OWNER);
    await expect(store.enrollment.enroll(token, LAPTOP, null)).rejects.toMatchObject({
      code: 'ENROLLMENT_TOKEN_INVALID',
      details: { reason: 'partner_suspended' },
    });
    await store.partners.setStatus(partnerId, 'active', OWNER);
    await store.enrollment.enroll(token, LAPTOP, null);
  });

  it('that are removed are not there any more, nor is their key good', async () => {
    const { device, key } = await someDevice(store, partnerId, customerId);
    expect(await store.devices.remove(partnerId, device.id, OWNER)).toBe(true);
    expect(await store.devices.remove(partnerId, device.id, OWNER)).toBe(false);
    expect(await store.devices.get(partnerId, device.id)).toBeUndefined();
    expect(await store.devices.verify(key)).toBeUndefined();
    expect(await store.reports.accept(partnerId, device.id, report(1))).toBe('unknown');
    expect((await eventKinds(store, partnerId)).filter((name) => name === 'device.removed')).toHaveLength(1);
  });

  it('are not late for what was not expected: a schedule that begins counts from its beginning', async () => {
    const { device } = await someDevice(store, partnerId, customerId);
    await store.reports.accept(partnerId, device.id, report(1, { results: [backup(site.clock.now())] }));
    site.clock.jump(10 * 24 * 60 * MINUTE);
    const hourly = { expectedEverySeconds: 3_600 };
    await store.reports.accept(partnerId, device.id, report(2, hourly));
    expect(await store.devices.markMissed(10)).toBe(0);
    site.clock.jump(90 * MINUTE);
    await store.reports.accept(partnerId, device.id, report(3, hourly));
    expect(await store.devices.markMissed(10)).toBe(0);
    site.clock.jump(1);
    expect(await store.devices.markMissed(10)).toBe(1);
  });

  it('are told of once when a backup is late, and again after one has ended', async () => {
    const other = await site.open();
    const { device } = await someDevice(store, partnerId, customerId);
    const hourly = { expectedEverySeconds: 3_600 };
    await store.reports.accept(
      partnerId,
      device.id,
      report(1, { ...hourly, results: [backup(site.clock.now())] }),
    );
    site.clock.jump(90 * MINUTE);
    expect(await store.devices.markMissed(10)).toBe(0);
    site.clock.jump(1);
    // What the devices of a suspended partner have to say is not heard.
    await store.partners.setStatus(partnerId, 'suspended', OWNER);
    expect(await store.devices.markMissed(10)).toBe(0);
    await store.partners.setStatus(partnerId, 'active', OWNER);
    // Nor is it known at once after that.
    expect(await store.devices.markMissed(10)).toBe(0);
    site.clock.jump(20 * MINUTE);
    await Promise.all([store.devices.markMissed(10), other.devices.markMissed(10)]);
    expect(await store.devices.markMissed(10)).toBe(0);
    expect(await store.devices.get(partnerId, device.id)).toMatchObject({ missedSince: site.clock.now() });
    const missed = async (): Promise<number> =>
      (await eventKinds(store, partnerId)).filter((name) => name === 'backup.missed').length;
    expect(await missed()).toBe(1);
    const failed = backup(site.clock.now(), { status: 'failed' });
    await store.reports.accept(partnerId, device.id, report(2, { ...hourly, results: [failed] }));
    expect(await store.devices.get(partnerId, device.id)).toMatchObject({ missedSince: expect.any(Number) });
    const good = backup(site.clock.now(), { status: 'warning' });
    await store.reports.accept(partnerId, device.id, report(3, { ...hourly, results: [good] }));
    expect(await store.devices.get(partnerId, device.id)).toMatchObject({ missedSince: null });
    site.clock.jump(91 * MINUTE);
    expect(await store.devices.markMissed(10)).toBe(1);
    expect(await missed()).toBe(2);
  });

  it('are not late any more when the backup ends while others are told of', async () => {
    const hourly = { expectedEverySeconds: 3_600 };
    const ids: string[] = [];
    for (let count = 0; count < 6; count += 1) {
      const { device } = await someDevice(store, partnerId, customerId);
      await store.reports.accept(
        partnerId,
        device.id,
        report(1, { ...hourly, results: [backup(site.clock.now())] }),
      );
      ids.push(device.id);
    }
    site.clock.jump(91 * MINUTE);
    const results = [backup(site.clock.now())];
    const reported = async (id: string): Promise<unknown> =>
      await store.reports.accept(partnerId, id, report(2, { ...hourly, results }));
    await Promise.all([store.devices.markMissed(10), ...ids.map(reported)]);
    for (const id of ids) expect(await store.devices.get(partnerId, id)).toMatchObject({ missedSince: null });
  });
});
