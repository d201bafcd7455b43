/** Retention, prune, check and restore drills on schedules of their own, through the real agent. */
// Turn 5 of 8.
import { randomBytes } from 'node:crypto';
import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkRestoreDrill } from '../../src/cli/doctor/drills.ts';
import type { Finding } from '../../src/daemon/doctor/finding.ts';
import type { JobType } from '../../src/jobs/job.ts';
import { protectionOf } from '../../src/jobs/protection.ts';
import { openDaemonSite, type DaemonSite } from '../support/daemon-site.ts';

const HOUR_MS = 3_600_000;

const settings = {
  retention: { keepLast: 1, keepDaily: null, keepWeekly: null, keepMonthly: null, keepWithin: null },
  maintenance: {
    prune: 'every 3h',
    check: 'every 5h',
    drill: 'every 7h',
    drillFiles: 4,
    checkReadData: '100%',
    jitter: '0s',
  },
};

let site: DaemonSite;
// One for each: the clock that is skipped ahead is the agent's alone, and how old a backup is begins with the engine's.
beforeEach(async () => {
  site = await openDaemonSite();
  for (let n = 0; n < 20; n += 1) site.write({ [`file-${n}`]: randomBytes(2_000) });
  await site.backUp();
  site.write({ more: 'more' });
  await site.backUp();
  // What the usual schedules have promised for tonight would hold, were they not ended first.
  await site.configure({ maintenance: { prune: 'off', check: 'off', drill: 'off' } });
  await site.configure(settings);
});
afterEach(async () => await site[Symbol.asyncDispose]());

const logOf = (id: string): readonly string[] => site.agent.log(id).map(({ text }) => text);
const types = (): readonly JobType[] =>
  site
    .jobs()
    .map(({ type }) => type)
    .toSorted();

const whatDoctorSays = async (): Promise<Finding> =>
  await checkRestoreDrill({
    env: { HOLDFAST_STATE_DIR: site.state },
    signal: new AbortController().signal,
  });

interface Drilled {
  readonly data: {
    readonly items: readonly { readonly id: string; readonly last_drill: { readonly id: string } | null }[];
  };
}

test('each runs when it is due, and what a drill found is kept with the snapshot', async () => {
  let known = site.jobs();
  site.clock.skip(3 * HOUR_MS);
  const prune = await site.endOfNext('prune', known);
  expect(prune).toMatchObject({ status: 'completed', trigger: 'schedule' });
  expect(logOf(prune.id)).toContain('snapshots_forgotten: 1');
  expect(types()).toEqual(['backup', 'backup', 'prune']);

  site.clock.skip(2 * HOUR_MS);
  const check = await site.endOfNext('check', known);
  expect(check).toMatchObject({ status: 'completed', trigger: 'schedule' });
  expect(logOf(check.id).join('\n')).toMatch(/packs_read: [1-9]/);

  site.clock.skip(2 * HOUR_MS);
  const drill = await site.endOfNext('drill', known);
  expect(drill).toMatchObject({ status: 'completed', result: 'success', files_done: 4 });
  const [snapshot, ...others] = await site.agent.snapshots({ limit: 10 });
  expect(others).toEqual([]);
  expect(snapshot?.last_drill).toEqual({
    job_id: drill.id,
    at: expect.any(Number),
    files: 4,
    files_failed: 0,
  });
  expect(await whatDoctorSays()).toMatchObject({
    status: 'ok',
    message: expect.stringContaining('4 files from "default" restored correctly'),
  });
  const listed = await site.get<Drilled>('/v1/snapshots');
  expect(listed.data.items).toMatchObject([
    { id: snapshot?.id, last_drill: { id: drill.id, files_count: 4, files_failed: 0 } },
  ]);

  // Prune was due a second time. What was missed while the machine was off is caught up once.
  known = site.jobs();
  await site.restart(() => site.clock.skip(100 * HOUR_MS));
  for (const type of ['prune', 'check', 'drill'] as const) await site.endOfNext(type, known);
  expect(types().join(' ')).toBe('backup backup check check drill drill prune prune prune');
});

test('a drill and a check over damaged data fail; the snapshot says so, and nobody is called protected', async () => {
  await site.configure({ ...settings, sources: [{ path: site.source, schedule: 'off', watch: false }] });
  const packs = join(site.state, 'repository', 'packs');
  const stored = readdirSync(packs, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  for (const { parentPath, name } of stored) {
    const path = join(parentPath, name);
    const bytes = readFileSync(path);
    // The largest holds the contents; trees must still be found.
    if (statSync(path).size > 20_000) writeFileSync(path, bytes.fill(7, 2_000, 40_000));
  }
  let known = site.jobs();
  site.clock.skip(7 * HOUR_MS);
  const drill = await site.endOfNext('drill', known);
  expect(drill).toMatchObject({ status: 'failed', error: { code: 'CORRUPT_DATA' } });
  expect(await whatDoctorSays()).toMatchObject({ status: 'error', hint: `See: holdfast jobs ${drill.id}` });
  const [snapshot] = await site.agent.snapshots({ limit: 1 });
  expect(snapshot?.last_drill).toMatchObject({ job_id: drill.id, files: 4 });
  expect(snapshot?.last_drill?.files_failed).toBeGreaterThan(0);
  const whatStatusSays = async (): Promise<readonly unknown[]> => {
    const status = await site.status();
    const errors = status.checks.filter((one) => one.status === 'error').map(({ name }) => name);
    const { level } = protectionOf(await site.ask('status', {}), site.clock.now());
    return [status.status, errors, level];
  };
  const check = await site.endOfNext('check', known);
  expect(check).toMatchObject({ status: 'failed', error: { code: 'CORRUPT_DATA' } });
  expect(await whatStatusSays()).toEqual(['error', ['damage', 'restore drills'], 'bad']);

  // A new backup stores again what is missing, and the next ones find that.
  await site.backUp();
  known = site.jobs();
  site.clock.skip(7 * HOUR_MS);
  for (const type of ['check', 'drill'] as const)
    expect(await site.endOfNext(type, known)).toMatchObject({ status: 'completed' });
  expect(await whatStatusSays()).toMatchObject([
    expect.anything(),
    [],
    expect.stringMatching(/good|warning/),
  ]);
});

test('a drill of a destination that the settings no longer have is not told of', async () => {
  const drive = join(site.directory, 'drive');
  const places = { default: join(site.state, 'repository'), drive };
  const destinations = Object.fromEntries(Object.entries(places).map(([name, url]) => [name, { url }]));
  await site.configure({ ...settings, destinations });
  const { id } = await site.agent.submit({ type: 'drill', destination: 'drive', files: 4 }, 'api');
  expect(await site.ended(id)).toMatchObject({ status: 'failed' });
  expect(await whatDoctorSays()).toMatchObject({ status: 'warning' });
  await site.configure(settings);
  expect(await whatDoctorSays()).toMatchObject({ status: 'ok', message: 'No drill has finished yet' });
});

test('a backup by a request with exclude rules of its own takes the place of no whole one', async () => {
  await site.configure({ ...settings, sources: [{ path: site.source, schedule: 'off', watch: false }] });
  const whole = await site.backUp();
  const narrowed = await site.backUp({ exclude: ['more'] });
  const expected = [narrowed.snapshot_id, whole.snapshot_id];
  site.clock.skip(3 * HOUR_MS);
  expect(await site.endOfNext('prune', site.jobs())).toMatchObject({ status: 'completed' });
  expect((await site.agent.snapshots({ limit: 10 })).map(({ id }) => id)).toEqual(expected);
});
