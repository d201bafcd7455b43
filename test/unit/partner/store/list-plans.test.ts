/** How SQLite finds what lists show: a partner with ten thousand devices has some millions of events in 90 days. */
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PartnerStores } from '../../../../src/partner/store/store.ts';
import { someEndpoint, somePartner, storeSite, type StoreSite } from '../../../support/partner-store-site.ts';

describe('lists on sqlite', () => {
  let site: StoreSite;
  let store: PartnerStores;
  let partnerId: string;
  let statements: string[];

  beforeEach(async () => {
    site = await storeSite('sqlite');
    statements = [];
    store = await site.open({ seen: (statement) => statements.push(statement) });
    ({ id: partnerId } = await somePartner(store));
  });
  afterEach(async () => await site.remove());

  const planOf = async (table: string, work: () => Promise<unknown>): Promise<string> => {
    statements.length = 0;
    await work();
    const text = statements.find((one) => one.startsWith('select') && one.includes(`from "${table}"`)) ?? '';
    const query = sql<{ detail: string }>`${sql.raw(`EXPLAIN QUERY PLAN ${text.replaceAll('?', "'x'")}`)}`;
    const { rows } = await query.execute(site.database().reader);
    return rows.map(({ detail }) => detail).join('\n');
  };

  it('of events of one customer or kind look at those alone, newest first', async () => {
    const list = store.events.list;
    const page = { limit: 20 } as const;
    const [ofCustomer, ofKind] = [
      await planOf('events', async () => await list(partnerId, { ...page, customerId: 'cus_1' })),
      await planOf('events', async () => await list(partnerId, { ...page, kind: 'customer.deleted' })),
    ];
    expect(ofCustomer).toContain('(partner_id=? AND customer_id=?)');
    expect(ofKind).toContain('(partner_id=? AND kind=?)');
    for (const plan of [ofCustomer, ofKind]) expect(plan).not.toContain('TEMP B-TREE');
  });

  it('of deliveries with one status look at those alone, newest first', async () => {
    const { id } = await someEndpoint(store, partnerId);
    const plan = await planOf(
      'deliveries',
      async () => await store.deliveries.list(partnerId, id, { limit: 20, status: 'failed' }),
    );
    expect(plan).toContain('(partner_id=? AND endpoint_id=? AND status=?)');
    expect(plan).not.toContain('TEMP B-TREE');
  });
});
