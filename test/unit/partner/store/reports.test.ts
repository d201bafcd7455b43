import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dayOf } from '../../../../src/partner/store/metering.ts';
import type { DeviceReport } from '../../../../src/partner/store/report.ts';
import type { MeterRowTable } from '../../../../src/partner/store/schema.ts';
import type { PartnerStores } from '../../../../src/partner/store/store.ts';
import {
  OWNER,
  PLAN,
  STORE_KINDS,
  backup,
  enrolledLongAgo,
  eventKinds,
  report,
  someCustomer,
  someDevice,
  someEndpoint,
  somePartner,
  storeSite,
  type StoreSite,
} from '../../../support/partner-store-site.ts';

const DAY = 86_400_000;

describe.each(STORE_KINDS)('reports on %s', (kind) => {
  let site: StoreSite;
  let store: PartnerStores;
  let partnerId: string;
  let customerId: string;
  let deviceId: string;

  beforeEach(async () => {
    site = await storeSite(kind);
    store = await site.open();
    ({ id: partnerId } = await somePartner(store));
    ({ id: customerId } = await someCustomer(store, partnerId));
    deviceId = (await someDevice(store, partnerId, customerId)).device.id;
    await enrolledLongAgo(site);
  });
  afterEach(async () => await site.remove());

  const usageOn = async (day: string): Promise<unknown> =>
    (await store.usage.usage(partnerId, { from: day, to: day, granularity: 'day' })).totals;

  it('count once, make an event of each outcome, and tell of the device', async () => {
    const now = site.clock.now();
    const first = report(1, {
      agentVersion: '0.2.0',
      storage: { bytes: 5_000, at: now },
      results: [
        backup(now - 3_000),
        backup(now - 2_000, { status: 'warning', uploadedBytes: 7 }),
        backup(now - 1_000, { status: 'failed', uploadedBytes: 0, errorCode: 'READ_ERROR' }),
        {
          kind: 'restore',
          status: 'completed',
          finishedAt: now,
          durationSeconds: 3,
          filesRestored: 2,
          restoredBytes: 40,
          errorCode: null,
        },
      ],
    });
    expect(await store.reports.accept(partnerId, deviceId, first)).toBe('accepted');
    expect(await store.reports.accept(partnerId, deviceId, first)).toBe('duplicate');
    const other = { ...first, results: [backup(site.clock.now(), { uploadedBytes: 77 })] };
    expect(await store.reports.accept(partnerId, deviceId, other)).toBe('taken');
    expect(await usageOn(dayOf(now))).toEqual({
      storageBytes: 5_000,
      uploadedBytes: 107,
      restoredBytes: 40,
      backupsCompleted: 2,
      backupsFailed: 1,
      activeCustomers: 1,
      apiRequests: 0,
    });
    expect((await eventKinds(store, partnerId)).slice(2)).toEqual([
      'backup.completed',
      'backup.warning',
      'backup.failed',
      'restore.completed',
    ]);
    expect(await store.devices.get(partnerId, deviceId)).toMatchObject({
      agentVersion: '0.2.0',
      lastSeenAt: now,
      storageUsedBytes: 5_000,
      reportSeq: 1,
      lastBackup: { status: 'failed', finishedAt: now - 1_000 },
    });
  });

  it('count once when the same one comes to two instances at once', async () => {
    const other = await site.open();
    const one = report(1, { results: [backup(site.clock.now())] });
    const verdicts = await Promise.all(
      Array.from(
        { length: 10 },
        async (_, index) => await (index % 2 === 0 ? store : other).reports.accept(partnerId, deviceId, one),
      ),
    );
    expect(verdicts.filter((verdict) => verdict === 'accepted')).toHaveLength(1);
    expect(await usageOn(dayOf(site.clock.now()))).toMatchObject({ backupsCompleted: 1, uploadedBytes: 100 });
    expect((await eventKinds(store, partnerId)).filter((name) => name === 'backup.completed')).toHaveLength(
      1,
    );
  });

  it('of one device that come at once, in two instances, are all counted', async () => {
    const other = await site.open();
    const now = site.clock.now();
    await Promise.all(
      Array.from({ length: 12 }, async (_, index) => {
        const more = { storage: { bytes: index, at: now }, results: [backup(now)] };
        const at = index % 2 === 0 ? store : other;
        await at.reports.accept(partnerId, deviceId, report(index + 1, more));
      }),
    );
    expect(await usageOn(dayOf(now))).toMatchObject({
      backupsCompleted: 12,
      uploadedBytes: 1_200,
      storageBytes: 11,
    });
    expect(await store.devices.get(partnerId, deviceId)).toMatchObject({
      reportSeq: 12,
      storageUsedBytes: 11,
    });
    const { items } = await store.events.list(partnerId, { limit: 100 });
    expect(items.map(({ seq }) => seq)).toEqual(Array.from({ length: 14 }, (_, index) => 14 - index));
  });

  it('that only say that the device is there are heard, and not kept', async () => {
    site.clock.jump(5_000);
    expect(await store.reports.accept(partnerId, deviceId, report(7))).toBe('accepted');
    expect(await store.devices.get(partnerId, deviceId)).toMatchObject({
      lastSeenAt: site.clock.now(),
      reportSeq: 7,
    });
    expect(await site.database().reader.selectFrom('reports').selectAll().execute()).toEqual([]);
  });

  it('are forgotten after 400 days; what they came to stays, also when later days are computed anew', async () => {
    const start = site.clock.now();
    for (let seq = 1; seq <= 5; seq += 1) {
      const now = site.clock.now();
      const more = { results: [backup(now), backup(now - DAY)], storage: { bytes: seq, at: now } };
      await store.reports.accept(partnerId, deviceId, report(seq, more));
      site.clock.jump(100 * DAY);
    }
    const rows = async (): Promise<unknown> =>
      await site.database().reader.selectFrom('meter_rows').selectAll().orderBy('day').execute();
    const counted = await rows();
    expect(await store.reports.prune()).toBe(1);
    await store.reports.recompute(partnerId, deviceId);
    expect(await rows()).toEqual(counted);
    expect(await usageOn(dayOf(start))).toMatchObject({ backupsCompleted: 1, storageBytes: 1 });
  });

  it('that come late count for their own day, and say nothing new of the device', async () => {
    const now = site.clock.now();
    const newer = report(2, {
      agentVersion: '0.3.0',
      storage: { bytes: 9, at: now },
      results: [backup(now)],
    });
    const older = report(1, {
      storage: { bytes: 4, at: now - DAY },
      results: [backup(now - DAY, { status: 'failed' })],
    });
    await store.reports.accept(partnerId, deviceId, newer);
    expect(await store.reports.accept(partnerId, deviceId, older)).toBe('accepted');
    expect(await usageOn(dayOf(now - DAY))).toMatchObject({
      storageBytes: 4,
      backupsFailed: 1,
      backupsCompleted: 0,
    });
    expect(await usageOn(dayOf(now))).toMatchObject({
      storageBytes: 9,
      backupsFailed: 0,
      backupsCompleted: 1,
    });
    expect(await store.devices.get(partnerId, deviceId)).toMatchObject({
      agentVersion: '0.3.0',
      storageUsedBytes: 9,
      reportSeq: 2,
      lastBackup: { status: 'completed' },
    });
  });

  it('of a device whose clock is ahead count for today', async () => {
    const now = site.clock.now();
    const ahead = now + 400 * DAY;
    await store.reports.accept(
      partnerId,
      deviceId,
      report(1, { storage: { bytes: 4, at: ahead }, results: [backup(ahead)] }),
    );
    await store.reports.accept(partnerId, deviceId, report(2, { storage: { bytes: 6, at: now } }));
    expect(await usageOn(dayOf(now))).toMatchObject({ storageBytes: 6, backupsCompleted: 1 });
    expect(await store.devices.get(partnerId, deviceId)).toMatchObject({ lastBackup: { finishedAt: now } });
  });

  it('of a device whose clock was set back count for today, and it is last seen with them', async () => {
    deviceId = (await someDevice(store, partnerId, customerId)).device.id;
    const now = site.clock.now();
    site.clock.jump(1_000);
    const receivedAt = site.clock.now();
    const results = [backup(600_000), backup(now - 40 * DAY), backup(now + 500)];
    await store.reports.accept(
      partnerId,
      deviceId,
      report(1, { storage: { bytes: 4, at: 600_000 }, results }),
    );
    expect(await usageOn(dayOf(receivedAt))).toMatchObject({ storageBytes: 4, backupsCompleted: 3 });
    for (const day of ['1970-01-01', dayOf(now - 40 * DAY)])
      expect(await usageOn(day)).toMatchObject({ storageBytes: 0, backupsCompleted: 0 });
    expect(await store.devices.get(partnerId, deviceId)).toMatchObject({
      lastBackup: { finishedAt: receivedAt },
      storageUsedBytes: 4,
    });
  });

  it.each([
    { seq: 0 },
    { seq: 1.5 },
    { storage: { bytes: -1, at: 0 } },
    { storage: { bytes: 2 ** 51, at: 0 } },
    { storage: { bytes: 1, at: Number.NaN } },
    { results: [backup(0, { uploadedBytes: 0.5 })] },
    { results: [backup(Number.MAX_SAFE_INTEGER)] },
    { results: Array.from({ length: 1_001 }, () => backup(0)) },
  ])('with numbers that cannot be counted are refused and leave nothing: %#', async (more) => {
    await expect(store.reports.accept(partnerId, deviceId, report(1, more))).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
    });
    expect(await site.database().reader.selectFrom('reports').selectAll().execute()).toEqual([]);
  });

  it('of a thousand results are one transaction with a thousand events', async () => {
    await someEndpoint(store, partnerId);
    const results = Array.from({ length: 1_000 }, () => backup(site.clock.now()));
    await store.reports.accept(partnerId, deviceId, report(1, { results }));
    const { reader } = site.database();
    const seqs = await reader.selectFrom('events').select('seq').orderBy('seq').execute();
    expect(seqs.map(({ seq }) => seq)).toEqual(Array.from({ length: 1_002 }, (_, index) => index + 1));
    expect(await reader.selectFrom('deliveries').select('id').execute()).toHaveLength(1_000);
  });

  it('that bring a customer near its storage tell of each part once, until there is less again', async () => {
    const other = await site.open();
    await store.customers.patch(partnerId, customerId, { planId: PLAN.pro }, OWNER);
    const second = (await someDevice(store, partnerId, customerId)).device.id;
    const limit = 2 ** 40;
    const told = async (): Promise<readonly unknown[]> =>
      (await store.events.list(partnerId, { limit: 50, kind: 'usage.threshold_reached' })).items
        .map(({ data }) => data['threshold_percent'])
        .toReversed();
    const stores = async (device: string, seq: number, share: number): Promise<void> => {
      site.clock.jump(1);
      const storage = { bytes: Math.ceil(limit * share), at: site.clock.now() };
      await other.reports.accept(partnerId, device, report(seq, { storage }));
    };
    await stores(deviceId, 1, 0.79);
    expect(await told()).toEqual([]);
    await Promise.all([stores(deviceId, 2, 0.79), stores(second, 1, 0.02)]);
    await stores(deviceId, 3, 0.8);
    expect(await told()).toEqual([80]);
    await stores(second, 2, 0.2);
    expect(await told()).toEqual([80, 100]);
    await stores(second, 3, 0.1);
    await stores(deviceId, 4, 0.2);
    await stores(deviceId, 5, 0.75);
    expect(await told()).toEqual([80, 100, 80]);
  });

  it('come to the same meter rows in any order, repeated or not, and when they are computed anew', async () => {
    const other = await site.open();
    const now = site.clock.now();
    const at = fc.integer({ min: now - 4 * DAY, max: now });
    const bytes = fc.integer({ min: 0, max: 2 ** 50 });
    const result = fc.oneof(
      fc.record({
        kind: fc.constant('backup' as const),
        status: fc.constantFrom('completed' as const, 'warning' as const, 'failed' as const),
        finishedAt: at,
        durationSeconds: fc.constant(1),
        filesBackedUp: fc.constant(1),
        sizeBytes: bytes,
        uploadedBytes: bytes,
        errorCode: fc.constant(null),
      }),
      fc.record({
        kind: fc.constant('restore' as const),
        status: fc.constantFrom('completed' as const, 'failed' as const),
        finishedAt: at,
        durationSeconds: fc.constant(1),
        filesRestored: fc.constant(1),
        restoredBytes: bytes,
        errorCode: fc.constant(null),
      }),
    );
    const content = fc.record({
      storage: fc.option(fc.record({ bytes, at })),
      results: fc.array(result, { maxLength: 4 }),
    });
    const history = fc.array(content, { minLength: 1, maxLength: 8 }).chain((contents) => {
      const reports = contents.map((more, index) => report(index + 1, more));
      const repeated = fc.array(fc.constantFrom(...reports), { maxLength: 8 });
      const order = repeated.chain((again) =>
        fc.shuffledSubarray([...reports, ...again], { minLength: reports.length + again.length }),
      );
      return fc.record({ reports: fc.constant(reports), order });
    });
    await fc.assert(
      fc.asyncProperty(history, async ({ reports, order }) => {
        const { device } = await someDevice(store, partnerId, (await someCustomer(store, partnerId)).id);
        await enrolledLongAgo(site);
        for (const [index, one] of order.entries())
          await (index % 2 === 0 ? store : other).reports.accept(partnerId, device.id, one);
        const { reader } = site.database();
        const rows = async (): Promise<readonly MeterRowTable[]> =>
          await reader
            .selectFrom('meter_rows')
            .selectAll()
            .where('device_id', '=', device.id)
            .orderBy('day')
            .execute();
        const counted = await rows();
        expect(counted.map(shown)).toEqual(expectedRows(reports));
        expect(await store.reports.recompute(partnerId, device.id)).toBe(true);
        expect(await rows()).toEqual(counted);
        await store.devices.remove(partnerId, device.id, OWNER);
        const removed = await rows();
        expect(removed.at(-1)).toMatchObject({ day: dayOf(now), storage_bytes: 0 });
        await store.reports.recompute(partnerId, device.id);
        expect(await rows()).toEqual(removed);
      }),
      { numRuns: 15 },
    );
  });
});

function shown(row: MeterRowTable): unknown {
  const { partner_id: _1, customer_id: _2, device_id: _3, storage_at: _4, storage_seq: _5, ...rest } = row;
  return rest;
}

/** Written another way than the program: one day at a time, over all reports. */
function expectedRows(reports: readonly DeviceReport[]): readonly unknown[] {
  const times = reports.flatMap(({ storage, results }) => [
    ...(storage === null ? [] : [storage.at]),
    ...results.map(({ finishedAt }) => finishedAt),
  ]);
  return [...new Set(times.map(dayOf))].sort().map((day) => {
    const results = reports.flatMap((one) => one.results).filter((one) => dayOf(one.finishedAt) === day);
    const backups = results.filter((one) => one.kind === 'backup');
    const restores = results.filter((one) => one.kind === 'restore');
    const told = reports
      .flatMap(({ seq, storage }) =>
        storage === null || dayOf(storage.at) !== day ? [] : [{ seq, ...storage }],
      )
      .sort((a, b) => a.at - b.at || a.seq - b.seq);
    const sum = (numbers: readonly number[]): number =>
      Math.min(
        Number.MAX_SAFE_INTEGER,
        numbers.reduce((total, one) => total + one, 0),
      );
    const failedBackups = backups.filter(({ status }) => status === 'failed').length;
    const failedRestores = restores.filter(({ status }) => status === 'failed').length;
    return {
      day,
      storage_bytes: told.at(-1)?.bytes ?? null,
      uploaded_bytes: sum(backups.map(({ uploadedBytes }) => uploadedBytes)),
      restored_bytes: sum(restores.map(({ restoredBytes }) => restoredBytes)),
      backups_completed: backups.length - failedBackups,
      backups_failed: failedBackups,
      restores_completed: restores.length - failedRestores,
      restores_failed: failedRestores,
    };
  });
}
