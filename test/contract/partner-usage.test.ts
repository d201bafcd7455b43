/** Usage as a table: every reply is judged by docs/api/partner.yaml. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  SENT_BACKUP,
  enrolledAgent,
  partnerApiSite,
  sentReport,
  type PartnerApiSite,
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
