/** What agents ask of the Partner API: reports, plans, orders and the witness of snapshot heads: every reply is judged by docs/api/partner.yaml. */
// Turn 1 of 8.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createPartnerApp } from '../../src/partner/http/app.ts';
import { PARTNER_PREFIX } from '../../src/partner/resources/values.ts';
import {
  SENT_BACKUP,
  enrolledAgent,
  partnerApiSite,
  sentReport,
  type EnrolledAgent,
  type PartnerApiSite,
} from '../support/partner-api-site.ts';
import { OWNER, PLAN, auditActions } from '../support/partner-store-site.ts';
import { readSigned, type Claims } from '../support/signed-document.ts';

const NOON = Date.parse('2026-11-21T12:00:00Z');

let site: PartnerApiSite;
let ask: PartnerApiSite['ask'];

beforeEach(async () => {
  site = await partnerApiSite();
  ({ ask } = site);
  site.store.clock.jump(NOON - site.store.clock.now());
});
afterEach(async () => await site[Symbol.asyncDispose]());

function serviceKey({ reply }: EnrolledAgent): unknown {
  return reply.data['service_key'];
}

async function planOf(agent: EnrolledAgent): Promise<Claims> {
  const { data } = await ask('GET', '/devices/self/plan', { key: agent.key });
  const claims = readSigned(data['document'], serviceKey(agent), 'holdfast-plan+jwt');
  expect(claims['revision']).toBe(data['revision']);
  return claims;
}

test('a plan with fewer places than there are devices is refused until devices are removed', async () => {
  const agent = await enrolledAgent(site);
  const customer = `/customers/${agent.customerId}`;
  expect((await ask('PATCH', customer, { body: { plan_id: PLAN.business } })).status).toBe(200);
  const token = await ask('POST', `${customer}/enrollment-tokens`);
  const body = { token: token.data['secret'], name: 'second', platform: 'linux-x64', agent_version: '0.1.0' };
  const second = await ask('POST', '/enroll', { body, key: null });
  expect(second.status).toBe(201);
  const back = { body: { plan_id: PLAN.trial } };
  expect(await ask('PATCH', customer, back)).toMatchObject({
    status: 402,
    code: 'QUOTA_EXCEEDED',
  });
  expect((await ask('GET', customer)).data).toMatchObject({ plan_id: PLAN.business, devices_count: 2 });
  await ask('DELETE', `/devices/${String(second.data['device_id'])}`);
  expect((await ask('PATCH', customer, back)).status).toBe(200);
});

describe('reports', () => {
  const report = async (agent: EnrolledAgent, seq: number, more: object = {}) =>
    await ask('POST', '/devices/self/reports', { key: agent.key, body: sentReport(seq, more) });

  test('are shown with the device, counted in usage and told as events', async () => {
    const agent = await enrolledAgent(site);
    const at = new Date(site.store.clock.now()).toISOString();
    const restore = {
      kind: 'restore',
      status: 'failed',
      finished_at: at,
      duration_seconds: 3,
      files_restored: 0,
      restored_bytes: 0,
      error_code: 'CORRUPT_DATA',
    };
    // A code of what did not fail is left out of what is told.
    const results = [{ ...SENT_BACKUP, finished_at: at, error_code: 'IO_ERROR' }, restore];
    const receipt = await report(agent, 1, { storage: { bytes: 700, at }, results });
    expect(receipt).toMatchObject({
      status: 200,
      data: { seq: 1, duplicate: false, orders: [], heads_refused: [] },
    });
    expect((await ask('GET', `/devices/${agent.id}`)).data).toMatchObject({
      storage_used_bytes: 700,
      expected_every_seconds: 86_400,
      last_seen_at: at,
      last_backup: { status: 'completed', finished_at: at, uploaded_bytes: 400 },
    });
    expect((await ask('GET', `/customers/${agent.customerId}/usage`)).data['totals']).toMatchObject({
      storage_bytes: 700,
      uploaded_bytes: 400,
      backups_completed: 1,
      active_customers: 1,
    });
    const events = (await ask('GET', '/events')).data['items'] as readonly { type: string }[];
    expect(events.slice(0, 2).map(({ type }) => type)).toEqual(['restore.failed', 'backup.completed']);
  });

  test('that are late, reordered or repeated count once each', async () => {
    const agent = await enrolledAgent(site);
    const sent = (seq: number) => report(agent, seq, { results: [SENT_BACKUP] });
    const seqs = [3, 1, 1, 5, 3, 2, 5, 4, 1, 2];
    const replies = await Promise.all(seqs.map(sent));
    const counted = replies.filter(({ data }) => data['duplicate'] === false).map(({ data }) => data['seq']);
    expect(new Set(counted)).toEqual(new Set([1, 2, 3, 4, 5]));
    expect(counted).toHaveLength(5);
    site.store.clock.jump(86_400_000);
    expect((await sent(4)).data).toMatchObject({ seq: 4, duplicate: true });
    const { data } = await ask('GET', '/usage?from=2026-11-01&to=2026-11-30&granularity=month');
    expect(data['totals']).toMatchObject({ backups_completed: 5, uploaded_bytes: 2_000 });
  });

  test('of a device that is removed at that very moment are refused like those after it', async () => {
    const agent = await enrolledAgent(site);
    const { devices } = site.stores;
    const verify: typeof devices.verify = async (key) => {
      const found = await devices.verify(key);
      await devices.remove(site.partnerId, agent.id, OWNER);
      return found;
    };
    const stores = { ...site.stores, devices: { ...devices, verify } };
    const { store, keys } = site;
    const { app, close } = await createPartnerApp({ stores, clock: store.clock, keys, version: '1.0.0' });
    try {
      const reply = await app.inject({
        method: 'POST',
        url: `${PARTNER_PREFIX}/devices/self/reports`,
        headers: { authorization: `Bearer ${agent.key}` },
        payload: sentReport(1, { results: [SENT_BACKUP] }),
      });
      expect([reply.statusCode, reply.json()]).toMatchObject([401, { error: { code: 'INVALID_API_KEY' } }]);
    } finally {
      await close();
    }
    expect(await store.database().reader.selectFrom('reports').selectAll().execute()).toEqual([]);
  });

  test('of a machine that was set back are told so, and its repository is not believed', async () => {
    const agent = await enrolledAgent(site);
    const head = (seq: number, letter: string) => ({
      heads: [{ repository_id: 'a'.repeat(32), writer: 'b'.repeat(32), seq, hash: letter.repeat(64) }],
    });
    await report(agent, 4, { results: [SENT_BACKUP] });
    await report(agent, 9, head(20, 'c'));
    expect((await report(agent, 3, head(10, 'd'))).data).toMatchObject({
      highest_seq: 9,
      number_taken: false,
      heads_refused: [],
    });
    const other = { results: [{ ...SENT_BACKUP, uploaded_bytes: 1 }] };
    expect((await report(agent, 4, other)).data).toMatchObject({ number_taken: true, duplicate: false });
    expect((await report(agent, 10, { ...other, ...head(10, 'd') })).data).toMatchObject({
      highest_seq: 10,
      number_taken: false,
      heads_refused: [{ reason: 'rolled_back', remembered_seq: 20 }],
    });
  });

  test('with an Idempotency-Key have one reply, of each device its own', async () => {
    const [one, two] = [await enrolledAgent(site), await enrolledAgent(site)];
    const headers = { 'idempotency-key': 'r1' };
    const send = async ({ key }: EnrolledAgent, seq: number) =>
      await ask('POST', '/devices/self/reports', { key, headers, body: sentReport(seq) });
    const first = await send(one, 1);
    const again = await send(one, 1);
    expect([again.data, again.headers['idempotent-replayed']]).toEqual([first.data, 'true']);
    expect((await send(two, 2)).data).toMatchObject({ seq: 2, duplicate: false });
    expect((await send(one, 2)).code).toBe('IDEMPOTENCY_KEY_REUSED');
  });

  test('that are not as they should be are refused with the field that is wrong', async () => {
    const agent = await enrolledAgent(site);
    const wrong: readonly (readonly [object, string, string])[] = [
      [{ seq: 0 }, 'INVALID_REQUEST', "'seq'"],
      [{ path: '/home/ana' }, 'UNKNOWN_FIELD', "'path'"],
      [{ results: [{ ...SENT_BACKUP, path: '/home/ana' }] }, 'UNKNOWN_FIELD', "'results.0.path'"],
      [
        { results: [{ ...SENT_BACKUP, error_code: 'no such file' }] },
        'INVALID_REQUEST',
        "'results.0.error_code'",
      ],
      [{ results: [{ ...SENT_BACKUP, kind: 'check' }] }, 'INVALID_REQUEST', "'results.0.kind'"],
      [{ results: [{ ...SENT_BACKUP, finished_at: '2026-11-21T23:59:60Z' }] }, 'INVALID_REQUEST', 'numbers'],
      [{ expected_every_seconds: 59 }, 'INVALID_REQUEST', "'expected_every_seconds'"],
      [{ storage: { bytes: 2 ** 51, at: SENT_BACKUP.finished_at } }, 'INVALID_REQUEST', "'storage.bytes'"],
      [{ results: [{ kind: 'restore' }] }, 'MISSING_FIELD', "'results.0."],
      [{ orders_taken: ['canary'] }, 'INVALID_REQUEST', "'orders_taken.0'"],
      [{ heads: [{ repository_id: 'mine' }] }, 'MISSING_FIELD', "'heads.0."],
    ];
    for (const [more, code, text] of wrong) {
      const reply = await report(agent, 1, more);
      expect([reply.status, reply.code, reply.text]).toEqual([400, code, expect.stringContaining(text)]);
    }
    expect((await report(agent, 1)).data).toMatchObject({ duplicate: false });
  });
});

describe('the plan', () => {
  const DAY = 86_400;

  test('says what the customer may have, for a day, and a fortnight without the service', async () => {
    const agent = await enrolledAgent(site);
    const now = Math.floor(site.store.clock.now() / 1000);
    expect(await planOf(agent)).toMatchObject({
      aud: agent.id,
      iat: now,
      exp: now + DAY,
      grace_until: now + 14 * DAY,
      plan: { slug: 'pro', desktop_requests_per_hour: 1_000, storage_limit_bytes: 2 ** 40 },
      status: 'active',
      trial_ends_at: null,
    });
  });

  test('has another revision when plan or status change, and the same one otherwise', async () => {
    const agent = await enrolledAgent(site);
    let seq = 0;
    const revision = async (): Promise<unknown> => {
      seq += 1;
      const sent = { key: agent.key, body: sentReport(seq) };
      const { data } = await ask('POST', '/devices/self/reports', sent);
      const claims = await planOf(agent);
      expect(claims['revision']).toBe(data['plan_revision']);
      return data['plan_revision'];
    };
    const first = await revision();
    site.store.clock.jump(3_600_000);
    expect(await revision()).toBe(first);
    const at = `/customers/${agent.customerId}`;
    await ask('POST', `${at}/suspend`);
    const suspended = await revision();
    expect((await planOf(agent))['status']).toBe('suspended');
    await ask('POST', `${at}/resume`);
    expect(await revision()).toBe(first);
    await ask('PATCH', at, { body: { plan_id: PLAN.trial } });
    const trial = await revision();
    expect(await planOf(agent)).toMatchObject({
      status: 'active',
      plan: { slug: 'free_trial', desktop_requests_per_hour: 100 },
      trial_ends_at: Math.floor(site.store.clock.now() / 1000) + 14 * DAY,
    });
    site.store.clock.jump(14 * DAY * 1000);
    const expired = await revision();
    expect((await planOf(agent))['status']).toBe('trial_expired');
    expect(new Set([first, suspended, trial, expired]).size).toBe(4);
  });
});

describe('an order', () => {
  const ordersOf = async (agent: EnrolledAgent, seq: number, taken: readonly unknown[] = []) => {
    const body = sentReport(seq, taken.length === 0 ? {} : { orders_taken: taken });
    const { data } = await ask('POST', '/devices/self/reports', { key: agent.key, body });
    return (data['orders'] as readonly string[]).map((order) =>
      readSigned(order, serviceKey(agent), 'holdfast-order+jwt'),
    );
  };

  test('comes with each report until the device has taken it', async () => {
    const agent = await enrolledAgent(site);
    const given = await ask('POST', `/devices/${agent.id}/orders`, { body: { order: 'run_backup' } });
    expect(given).toMatchObject({ status: 201, data: { device_id: agent.id, order: 'run_backup' } });
    const now = Math.floor(site.store.clock.now() / 1000);
    const { id } = given.data;
    const order = { jti: id, aud: agent.id, iat: now, exp: now + 3_600, order: 'run_backup' };
    expect(await ordersOf(agent, 1)).toEqual([order]);
    expect(await ordersOf(agent, 2)).toEqual([order]);
    expect(await ordersOf(agent, 3, [id])).toEqual([]);
    expect(await ordersOf(agent, 4, [id])).toEqual([]);
    expect(
      (await auditActions(site.stores, site.partnerId)).filter((name) => name.startsWith('order')),
    ).toEqual(['order.created', 'order.taken']);
  });

  test('is refused to a device that is none, or has ten already', async () => {
    const agent = await enrolledAgent(site);
    const at = `/devices/${agent.id}/orders`;
    expect(await ask('POST', '/devices/dev_none/orders', { body: { order: 'report' } })).toMatchObject({
      status: 404,
      code: 'DEVICE_NOT_FOUND',
    });
    for (let count = 0; count < 10; count += 1)
      expect((await ask('POST', at, { body: { order: 'report' } })).status).toBe(201);
    expect(await ask('POST', at, { body: { order: 'report' } })).toMatchObject({
      status: 400,
      code: 'INVALID_REQUEST',
    });
    expect(await ordersOf(agent, 1)).toHaveLength(10);
  });
});

describe('the witness', () => {
  const [repository, writer] = ['ab'.repeat(16), 'cd'.repeat(16)];
  const hash = (seq: number): string => seq.toString(16).padStart(64, '0');
  const head = (seq: number, more: object = {}) => ({
    repository_id: repository,
    writer,
    seq,
    hash: hash(seq),
    ...more,
  });
  const tell = async (agent: EnrolledAgent, seq: number, ...heads: readonly object[]) =>
    (await ask('POST', '/devices/self/reports', { key: agent.key, body: sentReport(seq, { heads }) })).data[
      'heads_refused'
    ];
  const remembered = async ({ key }: EnrolledAgent, query = '') =>
    await ask('GET', `/devices/self/heads?repository_id=${repository}${query}`, { key });

  test('tells a machine that is set up anew how far the repository had come', async () => {
    const old = await enrolledAgent(site);
    expect(await tell(old, 1, head(7))).toEqual([]);
    expect(await tell(old, 2, head(9))).toEqual([]);
    await ask('DELETE', `/devices/${old.id}`);
    const fresh = await enrolledAgent(site, old.customerId);
    const told = new Date(site.store.clock.now()).toISOString();
    expect((await remembered(fresh)).data).toEqual({
      items: [{ ...head(9), device_id: old.id, told_at: told }],
      has_more: false,
      next_cursor: null,
    });
    const elsewhere = await enrolledAgent(site);
    expect((await remembered(elsewhere)).data['items']).toEqual([]);
  });

  test('says which heads it does not believe, and keeps what it remembers', async () => {
    const agent = await enrolledAgent(site);
    await tell(agent, 1, head(9));
    const base = { repository_id: repository, writer, remembered_seq: 9 };
    expect(await tell(agent, 2, head(8))).toEqual([{ ...base, seq: 8, reason: 'rolled_back' }]);
    expect(await tell(agent, 3, head(9, { hash: hash(1) }))).toEqual([{ ...base, seq: 9, reason: 'forked' }]);
    expect((await remembered(agent)).data['items']).toMatchObject([head(9)]);
    expect((await auditActions(site.stores, site.partnerId)).at(-1)).toBe('snapshot_head.refused');
  });

  test('gives its answers in pages', async () => {
    const agent = await enrolledAgent(site);
    const writers = ['01', '02', '03'].map((pair) => pair.repeat(16));
    await tell(agent, 1, ...writers.map((one) => head(1, { writer: one })));
    const first = await remembered(agent, '&limit=2');
    expect(first.data).toMatchObject({
      items: [{ writer: writers[0] }, { writer: writers[1] }],
      has_more: true,
    });
    const rest = await remembered(agent, `&limit=2&cursor=${String(first.data['next_cursor'])}`);
    expect(rest.data).toMatchObject({ items: [{ writer: writers[2] }], has_more: false });
    const { key } = agent;
    expect(await ask('GET', '/devices/self/heads', { key })).toMatchObject({ code: 'MISSING_FIELD' });
    expect(await remembered(agent, '&cursor=wrong')).toMatchObject({ status: 400, code: 'INVALID_CURSOR' });
  });
});
