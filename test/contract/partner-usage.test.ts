/** Usage as a table: every reply is judged by docs/api/partner.yaml. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  SENT_BACKUP,
  enrolledAgent,
  partnerApiSite,
  sentReport,
  type PartnerApiSite,
  type Reply,
} from '../support/partner-api-site.ts';

const NOON = Date.parse('2026-11-21T12:00:00Z');

let site: PartnerApiSite;
let ask: PartnerApiSite['ask'];

beforeEach(async () => {
  site = await partnerApiSite();
  ({ ask } = site);
  site.store.clock.jump(NOON - site.store.clock.now());
});
afterEach(async () => await site[Symbol.asyncDispose]());

describe('usage as CSV', () => {
  test('has a line for each item, and no envelope', async () => {
    const agent = await enrolledAgent(site);
    const body = sentReport(1, {
      storage: { bytes: 700, at: SENT_BACKUP.finished_at },
      results: [SENT_BACKUP],
    });
    await ask('POST', '/devices/self/reports', { key: agent.key, body });
    const range = 'from=2026-11-20&to=2026-11-22&format=csv';
    const names =
      'period,storage_bytes,uploaded_bytes,restored_bytes,backups_completed,backups_failed,active_customers,api_requests';
    for (const path of [`/usage?customer_id=${agent.customerId}&`, `/customers/${agent.customerId}/usage?`]) {
      const { status, headers, text } = await ask('GET', `${path}${range}`);
      expect([status, headers['content-type'], headers['content-disposition']]).toEqual([
        200,
        'text/csv; charset=utf-8; header=present',
        'attachment; filename="usage-2026-11-20-2026-11-22.csv"',
      ]);
      expect(text).toBe(
        `${names}\r\n2026-11-20,0,0,0,0,0,0,0\r\n2026-11-21,700,400,0,1,0,1,0\r\n2026-11-22,700,0,0,0,0,0,0\r\n`,
      );
    }
    expect((await ask('GET', `/usage?${range}`)).text.split('\r\n')).toHaveLength(5);
    expect(await ask('GET', '/usage?format=xlsx')).toMatchObject({ status: 400, code: 'INVALID_REQUEST' });
  });
});

describe('usage of each customer', () => {
  const RANGE = 'from=2026-11-20&to=2026-11-22';
  const idsIn = ({ data }: Reply): readonly string[] =>
    (data['items'] as readonly { readonly customer_id: string }[]).map(({ customer_id: id }) => id);
  const reportOnce = async (bytes: number): Promise<string> => {
    const { key, customerId } = await enrolledAgent(site);
    const storage = { bytes, at: SENT_BACKUP.finished_at };
    await ask('POST', '/devices/self/reports', {
      key,
      body: sentReport(1, { storage, results: [SENT_BACKUP] }),
    });
    return customerId;
  };

  test('is in one reply, the newest customer first, also of one that was deleted since', async () => {
    const [first, second] = [await reportOnce(700), await reportOnce(900)];
    await ask('DELETE', `/customers/${first}`);
    site.store.clock.jump(3 * 86_400_000);
    const later = (await ask('POST', '/customers', { body: { name: 'Later' } })).data['id'];
    const { data } = await ask('GET', `/usage/customers?${RANGE}`);
    expect(data).toMatchObject({
      period: { from: '2026-11-20', to: '2026-11-22' },
      items: [
        {
          customer_id: second,
          deleted_at: null,
          storage_bytes: 900,
          uploaded_bytes: 400,
          backups_completed: 1,
        },
        {
          customer_id: first,
          deleted_at: expect.any(String),
          storage_bytes: 0,
          uploaded_bytes: 400,
          backups_completed: 1,
        },
      ],
      has_more: false,
      next_cursor: null,
    });
    // Whoever came after these days has no part in them, nor has somebody who was gone before them.
    const next = await ask('GET', '/usage/customers?from=2026-11-23&to=2026-11-24');
    expect(idsIn(next)).toEqual([later, second]);
  });

  test('comes page by page, and as a table with all of them', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) ids.unshift(await reportOnce(count));
    const pages: string[] = [];
    let cursor = '';
    do {
      const reply = await ask('GET', `/usage/customers?${RANGE}&limit=2${cursor}`);
      pages.push(...idsIn(reply));
      const next = reply.data['next_cursor'];
      cursor = typeof next === 'string' ? `&cursor=${encodeURIComponent(next)}` : '';
    } while (cursor !== '');
    expect(pages).toEqual(ids);
    const { text, headers } = await ask('GET', `/usage/customers?${RANGE}&limit=2&format=csv`);
    expect(headers['content-disposition']).toBe('attachment; filename="customers-2026-11-20-2026-11-22.csv"');
    const [head, ...lines] = text.trimEnd().split('\r\n');
    expect(head).toBe(
      'customer_id,name,external_id,plan_id,deleted_at,storage_bytes,uploaded_bytes,restored_bytes,backups_completed,backups_failed',
    );
    expect(lines.map((line) => line.split(',')[0])).toEqual(ids);
    expect(await ask('GET', '/usage/customers?from=2025-01-01&to=2026-11-22')).toMatchObject({
      status: 400,
      code: 'INVALID_REQUEST',
    });
  });

  test('can be read by the id of a customer that was deleted', async () => {
    const id = await reportOnce(700);
    await ask('DELETE', `/customers/${id}`);
    for (const path of [`/usage?customer_id=${id}&`, `/customers/${id}/usage?`])
      expect((await ask('GET', `${path}${RANGE}`)).data).toMatchObject({ totals: { uploaded_bytes: 400 } });
    expect(await ask('GET', '/usage?customer_id=cus_none')).toMatchObject({ status: 404 });
    expect(await ask('GET', `/customers/${id}`)).toMatchObject({ status: 404, code: 'CUSTOMER_NOT_FOUND' });
  });
});
