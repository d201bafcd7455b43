/** The real agent as a device of a Partner service that may say anything: plans, orders, the standing of the account. */
// Turn 8 of 8.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/daemon-site.ts';
import type { PartnerStub } from '../support/partner-stub.ts';
import {
  DAY_MS,
  MAINTENANCE,
  inTime,
  openPartnerSite,
  planAsked,
  reportedAgain,
  statusOf,
  type PartnerSite,
} from '../support/partner-device-site.ts';

describe('what the service says', () => {
  let both: PartnerSite;
  beforeAll(async () => {
    both = await openPartnerSite();
  });
  afterAll(async () => await both[Symbol.asyncDispose]());

  test('another plan changes the limit of the Desktop API with the next report', async () => {
    const { site, stub } = both;
    Object.assign(stub.plan, { slug: 'business', requests: 10_000 });
    await planAsked(both);
    await eventually(async () => (await statusOf(site)).rate_limit.limit === 10_000, 'the limit');
    expect((await statusOf(site)).plan).toBe('business');
  });

  test.each([
    [
      'signed by somebody else',
      async (stub: PartnerStub) => await stub.signPlan({}, { key: stub.strangersKey }),
    ],
    [
      'for another device',
      async (stub: PartnerStub) => await stub.signPlan({ aud: `dev_${'0'.repeat(26)}` }),
    ],
    ['over', async (stub: PartnerStub) => await stub.signPlan({ iat: 1_000, exp: 2_000 })],
    ['signed as something else', async (stub: PartnerStub) => await stub.signPlan({}, { type: 'JWT' })],
    ['of another key', async (stub: PartnerStub) => await stub.signPlan({}, { kid: 'two' })],
    ['without a limit', async (stub: PartnerStub) => await stub.signPlan({ plan: { slug: 'pro' } })],
  ])('a plan that is %s changes nothing', async (_what, forge) => {
    const { site, stub } = both;
    stub.plan.requests = stub.plan.requests === 1_000 ? 100 : 1_000;
    stub.forgedPlan = async () => await forge(stub);
    await planAsked(both);
    // So the answer to the first question was judged before.
    await planAsked(both);
    expect((await statusOf(site)).rate_limit.limit).toBe(10_000);
    stub.forgedPlan = undefined;
  });

  test('a plan that was changed on the disk does not count', async () => {
    const { site, stub } = both;
    const file = join(site.state, 'enrollment.json');
    stub.instead = (_request, response) => {
      response.destroy();
      return true;
    };
    await site.restart(() => {
      const { signedPlan, ...more } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
      const [head = '', body = '', signature = ''] = (signedPlan ?? '').split('.');
      const claims = { ...JSON.parse(Buffer.from(body, 'base64url').toString()), grace_until: 9_999_999_999 };
      const changed = Buffer.from(JSON.stringify(claims)).toString('base64url');
      writeFileSync(file, JSON.stringify({ ...more, signedPlan: [head, changed, signature].join('.') }));
    });
    expect((await statusOf(site)).rate_limit.limit).toBe(100);
    stub.instead = () => false;
    Object.assign(stub.plan, { slug: 'business', requests: 10_000 });
    await planAsked(both);
    await eventually(async () => (await statusOf(site)).rate_limit.limit === 10_000, 'the limit');
  });

  test('P10: an order to back up is carried out once, however often it comes, and acknowledged', async () => {
    const { site, stub } = both;
    const before = site.jobs('backup');
    stub.orders = [await stub.signOrder({ order: 'run_backup' })];
    await reportedAgain(both);
    const job = await site.endOfNext('backup', before);
    expect(job).toMatchObject({ trigger: 'api', status: 'completed' });
    await site.restart();
    await reportedAgain(both);
    await reportedAgain(both);
    expect(site.jobs('backup')).toHaveLength(before.length + 1);
    const taken = stub.requests.filter(({ body }) => body.includes('"orders_taken":["ord_'));
    expect(taken.length).toBeGreaterThan(0);
    stub.orders = [];
  });

  test('P10: nothing else is carried out: other kinds, other signers, other devices, other times', async () => {
    const { site, stub } = both;
    const [backups, others] = [site.jobs('backup'), site.jobs()];
    const now = Math.floor(site.clock.now() / 1000);
    stub.orders = [
      await stub.signOrder({ order: 'prune' }),
      await stub.signOrder({ order: 'forget', snapshot: 'latest' }),
      await stub.signOrder({ order: 'run_backup', source: '/etc' }),
      await stub.signOrder({}, { key: stub.strangersKey }),
      await stub.signOrder({ aud: `dev_${'0'.repeat(26)}` }),
      await stub.signOrder({ exp: now + 90_000 }),
      await stub.signOrder({ iat: now - 3_000, exp: now - 1 }),
      await stub.signOrder({ iat: now + 7_000, exp: now + 9_000 }),
      await stub.signOrder({ jti: 'ord_1' }),
      await stub.signPlan(),
    ];
    await reportedAgain(both);
    await reportedAgain(both);
    expect(site.jobs('backup')).toEqual(backups);
    expect(site.jobs()).toEqual(others);
    const noted = site.log.filter((line) => line.includes('an order of the partner was refused'));
    // Each once, though they came with two receipts.
    expect(noted).toHaveLength(10);
    stub.orders = [];
  });

  test('an order to report is a report soon, long before the next sign of life', async () => {
    const { site, stub } = both;
    expect(stub.plan.reportEvery).toBe(900);
    await reportedAgain(both);
    stub.orders = [await stub.signOrder({ order: 'report' })];
    await reportedAgain(both);
    stub.orders = [];
    const [before, beganAt] = [stub.reports.size, site.clock.now()];
    await eventually(() => {
      site.clock.skip(5_000);
      return stub.reports.size > before;
    }, 'the report');
    expect(site.clock.now() - beganAt).toBeLessThan(600_000);
    expect(stub.faults).toEqual([]);
  });
});

describe('by the standing of the account', () => {
  let both: PartnerSite;
  beforeAll(async () => {
    both = await openPartnerSite();
  });
  afterAll(async () => await both[Symbol.asyncDispose]());

  async function stands(standing: Partial<PartnerStub['plan']>): Promise<void> {
    const { site, stub } = both;
    Object.assign(stub.plan, standing);
    await planAsked(both);
    await eventually(
      async () => (await site.ask('enrollment', {}))?.plan?.status === stub.plan.status,
      'the plan in force',
    );
  }

  test('backups go on while it is suspended, and the status says so', async () => {
    await stands({ status: 'suspended' });
    const { checks } = await statusOf(both.site);
    expect(checks.find(({ name }) => name === 'partner')).toMatchObject({ status: 'warning' });
    expect((await both.site.backUp({}, 'schedule')).status).toBe('completed');
  });

  test('after a trial backups by schedule wait a week later; what is asked for runs', async () => {
    const { site } = both;
    const endedAt = Math.floor(site.clock.now() / 1000);
    await stands({ status: 'trial_expired', trialEndsAt: endedAt });
    expect((await site.backUp({}, 'schedule')).status).toBe('completed');
    site.clock.skip(8 * DAY_MS);
    const { id } = await site.agent.requestBackup({ source: site.source, options: {} }, 'schedule');
    await eventually(
      () => site.agent.job(id)?.waiting_for === 'The partner’s free trial is over.',
      'the reason',
    );
    const { checks } = await statusOf(site);
    expect(checks.find(({ name }) => name === 'partner')).toMatchObject({ status: 'error' });
    expect((await site.backUp({}, 'cli')).status).toBe('completed');
    await site.configure({
      sources: [{ path: site.source, schedule: 'off', watch: false }],
      maintenance: MAINTENANCE,
      partner: { afterTrial: 'run' },
    });
    expect((await site.ended(id)).status).toBe('completed');
  });
});

test('P09: nothing that names or opens anything of the machine is in the traffic', async () => {
  const canary = 'canary-7f3a';
  await using both = await openPartnerSite();
  const { site, stub } = both;
  mkdirSync(join(site.source, `${canary}-directory`));
  site.write({ [`${canary}-directory/${canary}-file.txt`]: `${canary}-content` });
  const elsewhere = join(site.directory, `${canary}-destination`);
  const passphrase = join(site.directory, 'named-passphrase');
  writeFileSync(passphrase, `${canary}-passphrase`, { mode: 0o600 });
  const gone = join(site.directory, `${canary}-gone`);
  mkdirSync(gone);
  await site.configure({
    destinations: { [canary]: { url: elsewhere, passphrase: { file: passphrase } } },
    sources: [
      { path: site.source, destination: canary, schedule: 'off', watch: false, tags: [`${canary}-tag`] },
      { path: gone, schedule: 'off', watch: false, hooks: { before: `echo ${canary}-hook; false` } },
    ],
    maintenance: MAINTENANCE,
  });
  await site.endOfNext('backup', site.jobs('backup').slice(0, 1));
  const failed = await eventually(
    () => site.jobs('backup').find(({ status }) => status === 'failed'),
    'a failure',
  );
  expect(JSON.stringify(failed)).toContain(canary);
  // Before the clock moves on: an engine that is not ready in time, by that clock, is ended.
  await eventually(
    () => site.jobs('backup').every(({ finished_at: at }) => at !== null),
    'the end of the other backup',
  );
  await inTime(site, () => stub.results().some(({ status }) => status === 'failed'), 'the failure');
  await inTime(site, () => stub.results().some(({ status }) => status === 'completed'), 'the backup');
  const sent = JSON.stringify(stub.requests);
  const secrets = ['machine.key', 'token.key', 'passphrase', 'journal/key'].flatMap((name) => {
    try {
      const bytes = readFileSync(join(site.state, name));
      return [bytes.toString('utf8').trim(), bytes.toString('hex'), bytes.toString('base64')];
    } catch {
      // This agent has none of that kind.
      return [];
    }
  });
  expect(secrets.length).toBeGreaterThanOrEqual(9);
  const ids = site.jobs().map(({ id }) => id);
  for (const text of [canary, site.directory, 'a.txt', 'echo', ...secrets, ...ids])
    expect(sent).not.toContain(text);
  expect(stub.faults).toEqual([]);
});
