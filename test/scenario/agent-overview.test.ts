/** The first page of the agent's own page, as the real agent answers for it. */
// Turn 3 of 8.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Overview } from '../../src/api/schemas/page/overview.ts';
import { openDaemonSite, eventually, type DaemonSite } from '../support/daemon-site.ts';
import { openPage, type DaemonPage } from '../support/daemon-page.ts';

const DAY_MS = 86_400_000;

async function overviewOf(page: DaemonPage): Promise<Overview> {
  return (await page.ask<Overview>('GET', '/overview', Overview)).data;
}

/** One source that nothing but a test backs up, after its first backup. */
async function beginWith(site: DaemonSite, destinations?: readonly string[]): Promise<void> {
  const manual = { path: site.source, schedule: 'off', watch: false };
  const places = (destinations ?? []).map((name) => [name, { url: join(site.directory, name) }]);
  await site.configure(
    destinations === undefined
      ? { sources: [manual] }
      : {
          sources: [{ ...manual, destinations }],
          destinations: Object.fromEntries(places),
          defaultDestination: destinations[0],
        },
  );
  await allEnded(site, destinations?.length ?? 1);
}

async function allEnded(site: DaemonSite, count: number): Promise<void> {
  const ended = (): number => site.jobs('backup').filter((one) => one.finished_at !== null).length;
  await eventually(() => ended() === count, `the end of ${count} backups`);
}

it('shows a new agent that has nothing to protect', async () => {
  await using site = await openDaemonSite();
  const overview = await overviewOf(await openPage(site.daemon));
  expect(overview).toMatchObject({
    version: '0.0.0',
    headline: { level: 'bad', code: 'no_source', paths: [], to: [], since: null, more: 0 },
    sources: [],
    active: [],
    recent: [],
    saved: { snapshot_bytes: 0, snapshots: 0, stored_bytes: 0 },
    alarms: 0,
    pause: null,
    recovery_kit: 'none',
    upload_limit: null,
  });
});

it('shows each destination of a source with its runs, what is stored, and what was saved', async () => {
  await using site = await openDaemonSite();
  site.write({ a: 'x'.repeat(100_000), b: 'two' });
  await beginWith(site, ['near', 'other']);
  const page = await openPage(site.daemon);
  site.write({ c: 'three' });
  await site.backUp();
  await allEnded(site, 4);
  const overview = await overviewOf(page);
  expect(overview.headline).toMatchObject({ level: 'good', code: 'protected', paths: [site.source], to: [] });
  expect(overview.headline.sentence).toMatch(/^Protected: the last good backup is /);
  expect(overview.sources.map(({ path, destination }) => [path, destination])).toEqual([
    [site.source, 'near'],
    [site.source, 'other'],
  ]);
  for (const source of overview.sources) {
    expect(source).toMatchObject({ files: 3, size_bytes: 100_008 });
    expect(source.history).toHaveLength(2);
    expect(source.history.map(({ status, result }) => [status, result])).toEqual([
      ['completed', 'success'],
      ['completed', 'success'],
    ]);
    const [first, second] = source.history;
    expect(Date.parse(first?.finished_at ?? '')).toBeLessThan(Date.parse(second?.finished_at ?? ''));
  }
  const [near] = overview.sources;
  expect(near?.history.map(({ files_changed: files }) => files)).toEqual([2, 1]);
  expect(near?.history[0]?.bytes_uploaded).toBeGreaterThan(0);

  for (const destination of overview.destinations) {
    expect(destination.stored).toHaveLength(1);
    expect(destination.stored[0]?.bytes).toBe(destination.used_bytes);
    expect(destination.free_bytes).toBeGreaterThan(0);
  }
  expect(overview.destinations.map((one) => one.is_default)).toEqual([true, false]);
  const stored = overview.destinations.map(({ used_bytes: bytes }) => bytes ?? 0);
  const stored_bytes = (stored[0] ?? 0) + (stored[1] ?? 0);
  // The catalogs take a snapshot in after its job has ended. Each counts by itself, in each place.
  await expect
    .poll(async () => (await overviewOf(page)).saved, { timeout: 20_000 })
    .toEqual({ snapshots: 4, snapshot_bytes: 2 * 100_003 + 2 * 100_008, stored_bytes });
  expect(overview.recent).toHaveLength(4);
  expect(overview.active).toEqual([]);
});

it('has one amount a day of what is stored, the newest at once', async () => {
  await using site = await openDaemonSite();
  const page = await openPage(site.daemon);
  const stored = async () => (await overviewOf(page)).destinations[0]?.stored ?? [];
  expect(await stored()).toEqual([]);
  site.write({ a: 'one' });
  await beginWith(site);
  const [first] = await stored();
  await eventually(async () => (await overviewOf(page)).saved.snapshots === 1, 'the count of snapshots');
  site.write({ b: 'two' });
  await site.backUp();
  const same = await stored();
  expect(same).toHaveLength(1);
  expect(same[0]?.bytes).toBeGreaterThan(first?.bytes ?? 0);
  site.clock.skip(DAY_MS);
  site.write({ c: 'three' });
  await site.backUp();
  // The session has not been used for a day.
  const next = (await overviewOf(await openPage(site.daemon))).destinations[0]?.stored ?? [];
  expect(next).toHaveLength(2);
  expect(next[0]).toEqual(same[0]);
  await site.restart();
  const again = (await overviewOf(await openPage(site.daemon))).destinations[0]?.stored;
  expect(again).toEqual(next);
});

it('takes a dry run for no backup', async () => {
  await using site = await openDaemonSite();
  site.write({ a: 'one' });
  await site.agent.pause(null, false);
  await site.configure({ sources: [{ path: site.source, schedule: 'off', watch: false }] });
  for (const { id } of site.jobs('backup')) await site.agent.cancel(id);
  await site.agent.resume();
  expect(await site.backUp({ dry_run: true })).toMatchObject({ status: 'completed', files_done: 1 });
  const overview = await overviewOf(await openPage(site.daemon));
  expect(overview.headline).toMatchObject({ level: 'bad', code: 'never_backed_up', paths: [site.source] });
  expect(overview.sources).toMatchObject([{ last_good_backup_at: null, files: null }]);
  expect(overview.sources[0]?.history.map(({ status }) => status)).toEqual(['canceled']);
  expect(overview.saved.snapshot_bytes).toBe(0);
  expect(overview.recent[0]).toMatchObject({ status: 'completed', type: 'backup' });
});

it('tells of what failed, what is paused, and the recovery kit that is still here', async () => {
  await using site = await openDaemonSite();
  site.write({ a: 'one' });
  await beginWith(site);
  const page = await openPage(site.daemon);
  await site.agent.pause(null, false);
  expect(await overviewOf(page)).toMatchObject({
    pause: { until: null },
    headline: { level: 'warning', code: 'paused', paths: [site.source] },
  });
  const queued = await site.agent.requestBackup({ source: site.source, options: {} }, 'api');
  expect((await overviewOf(page)).active).toMatchObject([{ id: queued.id, status: 'queued' }]);
  await site.agent.cancel(queued.id);
  await site.agent.resume();
  const canceled = await overviewOf(page);
  expect(canceled).toMatchObject({ pause: null, active: [] });
  expect(canceled.recent[0]).toMatchObject({ id: queued.id, status: 'canceled' });
  expect(canceled.sources[0]?.history.map(({ status }) => status)).toEqual(['completed', 'canceled']);

  const check = await site.agent.submit({ type: 'check', destination: 'default', read_data: 0 }, 'api');
  await site.ended(check.id);
  expect((await overviewOf(page)).destinations[0]?.last_check).toMatchObject({
    status: 'completed',
    result: 'success',
  });
  const kit = join(site.state, 'recovery-kit.txt');
  writeFileSync(kit, 'words', { mode: 0o600 });
  expect((await overviewOf(page)).recovery_kit).toBe('unsaved');
  rmSync(kit);
  expect((await overviewOf(page)).recovery_kit).toBe('none');
});
