/** How SQLite finds what usage is made of: a partner with ten thousand devices has some 300,000 meter rows a month. */
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PartnerStores } from '../../../../src/partner/store/store.ts';
import { someCustomer, someDevice, somePartner, storeSite } from '../../../support/partner-store-site.ts';
import { report, type StoreSite } from '../../../support/partner-store-site.ts';

const MONTH = { from: '2023-11-01', to: '2023-11-30' } as const;

describe('usage on sqlite', () => {
  let site: StoreSite;
  let store: PartnerStores;
  let partnerId: string;
  let statements: string[];

  beforeEach(async () => {
    site = await storeSite('sqlite');
    statements = [];
    store = await site.open({ seen: (statement) => statements.push(statement) });
    ({ id: partnerId } = await somePartner(store));
    statements.length = 0;
  });
  afterEach(async () => await site.remove());

  /** How each statement since then is carried out that reads meter rows. */
  const plans = async (): Promise<readonly string[]> => {
    const { reader } = site.database();
    const asked = statements.filter((text) => text.includes('meter_rows'));
    expect(asked.length).toBeGreaterThan(0);
    const rows = await Promise.all(
      asked.map(async (text) => await sql<{ detail: string }>`${sql.raw(explained(text))}`.execute(reader)),
    );
    return rows.map((plan) => plan.rows.map(({ detail }) => detail).join('\n'));
  };
  const explained = (text: string): string => `EXPLAIN QUERY PLAN ${text.replaceAll('?', "'x'")}`;

  it('of a month, as the account has it, sorts no rows', async () => {
    await store.usage.usage(partnerId, { ...MONTH, granularity: 'month' });
    for (const plan of await plans()) expect(plan).not.toContain('TEMP B-TREE');
  });

  it.each(['day', 'month'] as const)('of one customer by %s reads no rows of others', async (granularity) => {
    const { id: customerId } = await someCustomer(store, partnerId);
    statements.length = 0;
    await store.usage.usage(partnerId, { ...MONTH, granularity, customerId });
    for (const plan of await plans()) {
      expect(plan).not.toContain('meter_rows_of_partner');
      expect(plan).not.toMatch(/\bSCAN (?:m|d|e|meter_rows|devices|customers)\b/);
    }
  });

  it('is exact, and given, when devices tell more than integers of the database hold', async () => {
    const { id: customerId } = await someCustomer(store, partnerId);
    const db = site.database();
    const many = Array.from({ length: 1_100 }, (_, index) => String(index));
    const { device } = await someDevice(store, partnerId, customerId);
    await store.reports.accept(
      partnerId,
      device.id,
      report(1, { storage: { bytes: 5, at: site.clock.now() } }),
    );
    const row = await db.reader.selectFrom('meter_rows').selectAll().executeTakeFirstOrThrow();
    const forged = { uploaded_bytes: Number.MAX_SAFE_INTEGER, restored_bytes: Number.MAX_SAFE_INTEGER };
    await db.write(async (trx) => {
      for (const id of many)
        await trx
          .insertInto('meter_rows')
          .values({ ...row, ...forged, device_id: id })
          .execute();
    });
    const { totals } = await store.usage.usage(partnerId, { ...MONTH, granularity: 'month' });
    expect(totals).toMatchObject({
      uploadedBytes: Number.MAX_SAFE_INTEGER,
      restoredBytes: Number.MAX_SAFE_INTEGER,
      storageBytes: 5,
    });
  });
});
