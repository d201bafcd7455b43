/** The real agent as a device of a Partner service: what it tells, also when the service is out of reach for a while. */
// Turn 4 of 8.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/daemon-site.ts';
import { refusal, send } from '../support/partner-stub.ts';
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

describe('an agent that enrolls', () => {
  let both: PartnerSite;
  beforeAll(async () => {
    both = await openPartnerSite();
  });
  afterAll(async () => await both[Symbol.asyncDispose]());

  test('takes the plan of the partner in place of its own, at once', async () => {
    const { plan, rate_limit: limit } = await statusOf(both.site);
    expect([plan, limit.limit]).toEqual(['pro', 1_000]);
  });

  test('keeps its key in a file for its user alone, and nowhere else', () => {
    const { site, stub } = both;
    const key = stub.deviceKey ?? 'none';
    const file = join(site.state, 'enrollment.json');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).toContain(key);
    for (const other of [site.configFile, join(site.state, 'state.db'), join(site.state, 'state.db-wal')])
      expect(readFileSync(other, 'latin1')).not.toContain(key);
    expect(site.log.join('\n')).not.toContain(key);
  });

  test('does not enroll a second time', async () => {
    const { site, stub } = both;
    const again = site.ask('enroll', { url: stub.address, token: 'hfe_other', name: 'x' });
    await expect(again).rejects.toMatchObject({
      code: 'ALREADY_ENROLLED',
      hint: expect.stringContaining('holdfast enroll --leave'),
    });
  });

  test('tells each backup once, in numbers alone, and what is stored', async () => {
    const { site, stub } = both;
    site.write({ 'b.txt': 'more content' });
    const job = await site.backUp();
    const dry = await site.backUp({ dry_run: true });
    expect(dry.status).toBe('completed');
    await inTime(site, () => stub.results().length > 0, 'the result');
    await reportedAgain(both);
    expect(stub.results()).toEqual([
      {
        kind: 'backup',
        status: 'completed',
        finished_at: new Date(job.finished_at ?? 0).toISOString(),
        duration_seconds: Math.round(job.duration_ms / 1000),
        files_backed_up: 2,
        size_bytes: job.size_bytes,
        uploaded_bytes: job.progress.bytes_uploaded,
        error_code: null,
      },
    ]);
    const stored = [...stub.reports.values()].flatMap(({ storage }) => storage ?? []);
    expect(stored.length).toBeGreaterThan(0);
    expect(stored.at(-1)?.bytes).toBeGreaterThan(0);
    expect([...stub.reports.keys()]).toEqual([...stub.reports.keys()].map((_, index) => index + 1));
    expect(stub.faults).toEqual([]);
  });

  test('tells restores and failures, with a code and no text', async () => {
    const { site, stub } = both;
    const before = stub.results().length;
    const [newest] = site.jobs('backup').filter((job) => job.snapshot_id !== null);
    const restore = await site.agent.submit(
      {
        type: 'restore',
        destination: 'default',
        snapshot_id: newest?.snapshot_id ?? '',
        paths: [],
        target: join(site.directory, 'restored'),
        options: {
          overwrite: 'never',
          dry_run: false,
          verify: true,
          delete_extra: false,
          restore_ownership: false,
        },
      },
      'api',
    );
    await site.ended(restore.id);
    const failing = await site.agent.submit(
      { ...restore.spec, type: 'restore', snapshot_id: `snap_${'0'.repeat(26)}` } as typeof restore.spec,
      'api',
    );
    expect((await site.ended(failing.id)).status).toBe('failed');
    await inTime(site, () => stub.results().length === before + 2, 'both results');
    expect(stub.results().slice(before)).toEqual([
      expect.objectContaining({ kind: 'restore', status: 'completed', files_restored: 2, error_code: null }),
      expect.objectContaining({ kind: 'restore', status: 'failed', error_code: expect.any(String) }),
    ]);
    expect(stub.faults).toEqual([]);
  });

  test('says what is expected of it: nothing without a schedule, else the longest pause of it', async () => {
    const { site, stub } = both;
    expect([...stub.reports.values()].at(-1)?.expected_every_seconds).toBeNull();
    await site.configure({
      sources: [{ path: site.source, schedule: 'every 4h', watch: false }],
      maintenance: MAINTENANCE,
    });
    await reportedAgain(both);
    expect([...stub.reports.values()].at(-1)?.expected_every_seconds).toBe(14_400);
  });

  test('leaves when it is told to: the key is gone, and the plan of the settings holds', async () => {
    const { site, stub } = both;
    await site.ask('end_enrollment', {});
    expect(() => statSync(join(site.state, 'enrollment.json'))).toThrow('ENOENT');
    expect((await statusOf(site)).plan).toBe('free_trial');
    expect(await site.ask('enrollment', {})).toBeNull();
    await expect(site.ask('end_enrollment', {})).rejects.toMatchObject({ code: 'NOT_ENROLLED' });
    const count = stub.requests.length;
    site.clock.skip(2 * DAY_MS);
    await site.backUp();
    expect(stub.requests).toHaveLength(count);
  });
});

describe('while the service is out of reach', () => {
  let both: PartnerSite;
  beforeAll(async () => {
    both = await openPartnerSite();
  });
  afterAll(async () => await both[Symbol.asyncDispose]());

  test('results wait, across a restart too, and are told once each when it is back', async () => {
    const { site, stub } = both;
    await reportedAgain(both);
    stub.instead = (_request, response) => {
      response.destroy();
      return true;
    };
    const jobs = [await site.backUp(), await site.backUp()];
    await site.restart();
    jobs.push(await site.backUp());
    expect(stub.results()).toEqual([]);
    stub.instead = () => false;
    await inTime(site, () => stub.results().length >= 3, 'the results');
    await reportedAgain(both);
    expect(stub.results().map(({ finished_at: at }) => Date.parse(at))).toEqual(
      jobs.map((job) => job.finished_at),
    );
    expect(stub.faults).toEqual([]);
  });

  test('a report whose answer was lost is sent again as it was, and counts once', async () => {
    const { site, stub } = both;
    const before = stub.results().length;
    const sent = (): readonly string[] =>
      stub.requests.filter(({ path }) => path.endsWith('/reports')).map(({ body }) => body);
    const first = sent().length;
    stub.lose = ({ path }) => path.endsWith('/reports');
    await site.backUp();
    await inTime(site, () => stub.results().length === before + 1, 'the result');
    await inTime(site, () => sent().length > first + 1, 'a second try');
    // The process ends between sending and noting the answer.
    await site.restart();
    stub.lose = () => false;
    await reportedAgain(both);
    const again = sent()
      .slice(first)
      .filter((body) => JSON.parse(body).results.length > 0);
    expect(again.length).toBeGreaterThan(1);
    expect(new Set(again).size).toBe(1);
    expect(stub.results()).toHaveLength(before + 1);
  });

  test('it waits as long as it was asked to', async () => {
    const { site, stub } = both;
    const at: number[] = [];
    stub.instead = async (request, response) => {
      if (!request.path.endsWith('/reports')) return false;
      at.push(site.clock.now());
      send(request, response, refusal(429, 'RATE_LIMIT_EXCEEDED'), site.clock, { 'retry-after': '1800' });
      return await Promise.resolve(true);
    };
    await site.backUp();
    await inTime(site, () => at.length === 2, 'a second try');
    stub.instead = () => false;
    expect((at[1] ?? 0) - (at[0] ?? 0)).toBeGreaterThanOrEqual(1_800_000);
  });

  test('the plan holds until its grace is over, then the limits of the free trial do; backups go on', async () => {
    const { site, stub } = both;
    stub.instead = (_request, response) => {
      response.destroy();
      return true;
    };
    site.clock.skip(13 * DAY_MS);
    expect((await statusOf(site)).rate_limit.limit).toBe(1_000);
    await site.restart();
    expect((await statusOf(site)).rate_limit.limit).toBe(1_000);
    site.clock.skip(2 * DAY_MS);
    const { plan, rate_limit: limit, checks } = await statusOf(site);
    expect([plan, limit.limit]).toEqual(['free_trial', 100]);
    expect(checks.filter(({ name }) => name === 'partner')).toEqual([
      expect.objectContaining({ status: 'warning', message: expect.stringContaining('free trial') }),
    ]);
    expect((await site.backUp({}, 'schedule')).status).toBe('completed');
    stub.instead = () => false;
    await planAsked(both);
    await eventually(async () => (await statusOf(site)).plan === 'pro', 'the plan in force');
  });

  test('a device that the service does not know any more says so, and asks seldom', async () => {
    const { site, stub } = both;
    const key = stub.deviceKey;
    stub.deviceKey = undefined;
    const check = async (): Promise<string | undefined> =>
      (await statusOf(site)).checks.find(({ name }) => name === 'partner')?.message;
    await site.backUp();
    await eventually(async () => {
      site.clock.skip(61_000);
      return (await check())?.includes('no longer knows this device');
    }, 'the check');
    const count = stub.requests.length;
    site.clock.skip(20 * 60_000);
    await site.backUp();
    expect(stub.requests).toHaveLength(count);
    stub.deviceKey = key;
    await reportedAgain(both);
    expect(await check()).toBeUndefined();
  });
});
