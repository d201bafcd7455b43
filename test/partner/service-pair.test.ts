/**
 * Two instances of the real program on one PostgreSQL, asked over HTTP in turns: the rate limit counts in both together,
 * each webhook goes out once per attempt, and `kill -9` of either one in the midst of its work loses nothing.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { OWNER, somePartner } from '../support/partner-store-site.ts';
import { startLoad, type PairLoad } from './pair-load.ts';
import { ask, startPair, type ServicePair } from './service-pair.ts';
import { startWebhookLog, type WebhookLog } from './webhook-log.ts';

const LIMIT = 120;
const ASKED = 300;
const KILLS = process.env['HOLDFAST_LONG'] === '1' ? 8 : 4;
/** How long the claim of an instance holds that is gone. */
const LEASE_MS = 60_000;
/** Longer than from a claim to the arrival of what it is for. */
const UNTIL_ARRIVAL_MS = 5_000;
/** Longer than from there until the answer is noted. */
const UNDER_WAY_MS = 2_000;
const TIMEOUT_MS = 600_000;

let running: AsyncDisposableStack;
beforeEach(() => {
  running = new AsyncDisposableStack();
});
afterEach(async () => await running.disposeAsync());

test(
  '120 requests of a partner are accepted by both together, and no wait that is told is too short',
  { timeout: TIMEOUT_MS },
  async () => {
    const { instances, stores } = running.use(await startPair());
    const { id } = await somePartner(stores);
    const question = { path: '/account', key: (await stores.apiKeys.generate(id, 'many', OWNER)).secret };
    const answers = await Promise.all(
      Array.from({ length: ASKED }, async (_, count) => {
        const answer = await ask(instances[count % 2 === 0 ? 0 : 1], question);
        return { ...answer, instance: count % 2 };
      }),
    );
    const accepted = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status === 429);
    expect([accepted.length, refused.length]).toEqual([LIMIT, ASKED - LIMIT]);
    expect(new Set(accepted.map(({ instance }) => instance))).toEqual(new Set([0, 1]));

    // A restart forgives nothing.
    await instances[0].kill();
    await instances[0].restart();
    const after = await ask(instances[0], question);
    expect(after.status).toBe(429);

    const waits = [...refused, after].map(
      ({ at, headers }) => at + Number(headers.get('retry-after')) * 1_000,
    );
    await delay(Math.min(...waits) - performance.now());
    expect((await ask(instances[1], question)).status).toBe(200);
  },
);

test('what happens at either is delivered once', { timeout: TIMEOUT_MS }, async () => {
  const [pair, log] = await pairWithReceiver();
  const load = await startLoad(pair, log);
  const workers = new Set<string>();
  const endMs = performance.now() + 8_000;
  while (performance.now() < endMs) {
    const claims = await pair.database.reader.selectFrom('deliveries').select('claimed_by').execute();
    for (const { claimed_by: worker } of claims) if (worker !== null) workers.add(worker);
    await delay(100);
  }
  await load.stop();
  await untilDelivered(pair);
  expect(workers.size).toBe(2);
  await expectAllThere(pair, load, log);
  expect(log.arrivals).toHaveLength(load.reports.length + load.customers.length);
  expect(load.asker.cut).toEqual([]);
  expect(pair.instances.flatMap(({ errors }) => errors)).toEqual([]);
});

test(
  'kill -9 of either in the midst of its work loses nothing and repeats nothing',
  { timeout: TIMEOUT_MS },
  async () => {
    const [pair, log] = await pairWithReceiver();
    const load = await startLoad(pair, log);
    const { asker } = load;
    const kills: { readonly at: number; readonly instance: number }[] = [];
    for (let count = 0; count < KILLS; count += 1) {
      const instance = count % 2;
      const victim = pair.instances[instance] ?? expect.fail('no such instance');
      await delay(1_500);
      await vi.waitUntil(() => isAtWork(load, instance), { timeout: 30_000, interval: 1 });
      kills.push({ at: await victim.kill(), instance });
      await delay(1_000);
      await victim.restart();
    }
    await delay(1_500);
    await load.stop();
    await untilDelivered(pair);

    for (const { at, instance } of kills) {
      const cut = asker.cut.filter(
        (one) => one.instance === instance && at - one.askedAt > 0 && at - one.askedAt < 1_000,
      );
      expect(cut.length).toBeGreaterThan(0);
    }
    const paths = asker.cut.map(({ question }) => question.path);
    expect(new Set(paths)).toEqual(new Set(['/customers', '/devices/self/reports']));
    await expectAllThere(pair, load, log);
    const again = repeated(log);
    // Some were cut off, and are sent again when their claim has ended, not sooner: nobody else had them meanwhile.
    expect(again.length).toBeGreaterThan(0);
    for (const [first = 0, ...more] of again) {
      expect(more).toHaveLength(1);
      expect((more[0] ?? 0) - first).toBeGreaterThan(LEASE_MS - UNTIL_ARRIVAL_MS);
    }
    // What was sent at the last moment is read a little later.
    const toKill = again.map(([first = 0]) => kills.map(({ at }) => at - first));
    expect(toKill.filter((some) => !some.some((ms) => ms > -1_000 && ms < UNDER_WAY_MS))).toEqual([]);
    for (const { question, text } of load.customers) {
      const answer = await asker.ask(question);
      expect([answer.headers.get('idempotent-replayed'), answer.text]).toEqual(['true', text]);
    }
    expect(pair.instances.flatMap(({ errors }) => errors)).toEqual([]);
    process.stdout.write(figures(load, log, kills.length));
  },
);

async function pairWithReceiver(): Promise<readonly [ServicePair, WebhookLog]> {
  const log = running.use(await startWebhookLog());
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-pair-'));
  running.defer(async () => await rm(directory, { recursive: true }));
  const caFile = join(directory, 'ca.pem');
  await writeFile(caFile, log.authority);
  const testTargets = [{ target: `localhost:${log.port}`, caFile }];
  return [running.use(await startPair({ webhooks: { testTargets } })), log];
}

/** It has been asked for customers and told of backups, and has not answered yet. */
function isAtWork({ asker }: PairLoad, instance: number): boolean {
  const paths = [...asker.underWay]
    .filter((one) => one.instance === instance)
    .map(({ question }) => question.path);
  const count = (path: string): number => paths.filter((one) => one === path).length;
  return count('/customers') >= 2 && count('/devices/self/reports') >= 2;
}

async function untilDelivered({ database }: ServicePair): Promise<void> {
  const pending = database.reader.selectFrom('deliveries').select('id').where('status', '=', 'pending');
  await vi.waitUntil(async () => (await pending.execute()).length === 0, { timeout: 240_000, interval: 200 });
}

/** What was acknowledged is stored, once, with one event; each event is delivered by one attempt that counts. */
async function expectAllThere(
  { database: { reader } }: ServicePair,
  { reports, customers }: PairLoad,
  { arrivals, faults }: WebhookLog,
): Promise<void> {
  const rows = await reader.selectFrom('reports').select(['device_id', 'seq']).execute();
  expect(sorted(rows.map(({ device_id: id, seq }) => `${id} ${seq}`))).toEqual(
    sorted(reports.map(({ deviceId, seq }) => `${deviceId} ${seq}`)),
  );
  const added = await reader.selectFrom('customers').select('name').where('name', '!=', 'Ada').execute();
  expect(sorted(added.map(({ name }) => name))).toEqual(sorted(customers.map(({ name }) => name)));

  const deliveries = await reader
    .selectFrom('deliveries')
    .innerJoin('events', 'events.id', 'deliveries.event_id')
    .select(['deliveries.event_id', 'deliveries.status', 'deliveries.attempts', 'events.data'])
    .execute();
  expect(sorted(deliveries.map(({ data }) => toldOf(data)))).toEqual(
    sorted([
      ...customers.map(({ name }) => name),
      ...reports.map(({ deviceId, finishedAt }) => `${deviceId} ${finishedAt}`),
    ]),
  );
  expect(deliveries.filter(({ status, attempts }) => status !== 'succeeded' || attempts !== 1)).toEqual([]);
  const ids = deliveries.map(({ event_id: id }) => id);
  expect(sorted([...new Set(arrivals.map(({ eventId }) => eventId))])).toEqual(sorted(ids));
  expect(faults).toEqual([]);
}

/** What an event tells of that no other one does. */
function toldOf(data: string): string {
  const { name, device_id: deviceId, finished_at: finishedAt } = JSON.parse(data) as Record<string, string>;
  return name ?? `${deviceId} ${finishedAt}`;
}

/** When those came that came more than once. */
function repeated({ arrivals }: WebhookLog): readonly (readonly number[])[] {
  const times = Map.groupBy(arrivals, ({ eventId }) => eventId);
  return [...times.values()].filter((some) => some.length > 1).map((some) => some.map(({ at }) => at));
}

function sorted(texts: readonly string[]): readonly string[] {
  return texts.toSorted();
}

function figures({ asker, reports, customers }: PairLoad, log: WebhookLog, kills: number): string {
  const cut = (path: string): number => asker.cut.filter(({ question }) => question.path === path).length;
  return [
    `${kills} kills: ${reports.length} reports (${cut('/devices/self/reports')} requests cut)`,
    `${customers.length} customers (${cut('/customers')} cut)`,
    `${log.arrivals.length} webhooks (${repeated(log).length} sent again)\n`,
  ].join(', ');
}
