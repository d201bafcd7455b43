/** What keeps jobs from running, and what lets them go on, through the real agent. */
// Turn 6 of 8.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Job } from '../../src/jobs/job.ts';
import { eventually, openDaemonSite, type DaemonSite } from '../support/daemon-site.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

let site: DaemonSite;
let onBattery = false;
let onMetered = false;
beforeAll(async () => {
  const circumstances = {
    onBattery: async () => await Promise.resolve(onBattery),
    onMetered: async () => await Promise.resolve(onMetered),
  };
  site = await openDaemonSite({ circumstances });
});
afterAll(async () => await site[Symbol.asyncDispose]());

/** A new source, whose first backup is scheduled at once. */
async function schedule(name: string, more: object = {}): Promise<string> {
  site.write({ [`${name}/a.txt`]: 'content' });
  const path = join(site.source, name);
  await site.configure({ sources: [{ path, schedule: 'off', watch: false }], timeZone: 'UTC', ...more });
  const [job] = site.agent.jobs({ types: ['backup'], source: path, limit: 1 });
  expect(job?.trigger).toBe('schedule');
  return job?.id ?? '';
}

/** Waits until the job says why it waits. */
async function waits(id: string, reason: RegExp): Promise<Job> {
  const waiting = await eventually(() => {
    const job = site.agent.job(id);
    return reason.test(job?.waiting_for ?? '') && job;
  }, String(reason));
  // The look that wrote this ends by waiting for the next one: a clock that is put forward before would leave that out.
  await delay(100);
  return waiting;
}

/** What lies in the repository, finished or not. */
function storedBytes(): number {
  const entries = readdirSync(join(site.state, 'repository'), { recursive: true, withFileTypes: true });
  return entries.reduce((sum, { parentPath, name }) => sum + sizeOf(join(parentPath, name)), 0);
}

function sizeOf(path: string): number {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat?.isFile() === true ? stat.size : 0;
}

const timeOfDay = (ms: number): string => new Date(ms).toISOString().slice(11, 16);

test('a pause holds everything up, is shown, and ends by itself at its time, restarts notwithstanding', async () => {
  site.write({ 'paused/a.txt': 'content' });
  await site.ask('pause', { until: site.clock.now() + HOUR_MS, interrupt: false });
  const source = join(site.source, 'paused');
  const { id } = await site.agent.requestBackup({ source, options: {} }, 'api');
  expect((await site.status()).status).toBe('paused');
  await site.restart();
  expect(await site.status()).toMatchObject({ status: 'paused', jobs: { running: 0, queued: 1 } });
  site.clock.skip(HOUR_MS - MINUTE_MS);
  expect(site.agent.job(id)?.status).toBe('queued');
  site.clock.skip(MINUTE_MS);
  expect((await site.ended(id)).status).toBe('completed');
  expect((await site.status()).status).toBe('starting');
});

test('on battery a scheduled backup waits, and one that a person asks for does not', async () => {
  onBattery = true;
  const id = await schedule('battery');
  await waits(id, /^The computer runs on battery\.$/);
  const listed = await site.get<{ data: { waiting_for: string } }>(`/v1/backup/${id}`);
  expect(listed.data.waiting_for).toBe('The computer runs on battery.');
  const source = join(site.source, 'battery');
  const asked = await site.agent.requestBackup({ source, options: {} }, 'api');
  expect((await site.ended(asked.id)).status).toBe('completed');
  expect(site.agent.job(id)?.status).toBe('queued');
  onBattery = false;
  site.clock.skip(MINUTE_MS);
  expect(await site.ended(id)).toMatchObject({ status: 'completed', waiting_for: null });
});

test('in quiet hours it waits until they are over', async () => {
  const [from, to] = [site.clock.now() - HOUR_MS, site.clock.now() + 2 * HOUR_MS].map(timeOfDay);
  const id = await schedule('quiet', { conditions: { quietHours: `${from}-${to}` } });
  await waits(id, new RegExp(`^Quiet hours until ${to}\\.$`));
  site.clock.skip(2 * HOUR_MS + MINUTE_MS);
  expect((await site.ended(id)).status).toBe('completed');
});

test('on a metered network a scheduled backup to a far place waits, and one to this machine does not', async () => {
  onMetered = true;
  const here = await schedule('metered-here', { conditions: { onMetered: 'wait' } });
  expect((await site.ended(here)).status).toBe('completed');
  const destinations = { far: { url: 'sftp://ann@127.0.0.1:1/backup', passphrase: null } };
  const id = await schedule('metered-far', {
    conditions: { onMetered: 'wait' },
    destinations,
    defaultDestination: 'far',
  });
  await waits(id, /metered/);
  await site.ask('cancel', { id });
  expect((await site.ended(id)).status).toBe('canceled');
  onMetered = false;
});

test('without its destination everything for it waits, and nothing is made in its place', async () => {
  const disk = join(site.directory, 'disk');
  mkdirSync(disk);
  const destinations = { usb: { url: disk, passphrase: null } };
  const first = await schedule('unplugged', { destinations, defaultDestination: 'usb' });
  expect((await site.ended(first)).status).toBe('completed');
  renameSync(disk, `${disk}-away`);
  const source = join(site.source, 'unplugged');
  const { id } = await site.agent.requestBackup({ source, options: {} }, 'api');
  await waits(id, /^The destination is not available: connect or mount it\.$/);
  expect((await site.status()).checks).toContainEqual(
    // The last backup is minutes old: nothing is wrong with a disk that is unplugged.
    expect.objectContaining({
      name: 'destinations',
      status: 'ok',
      message: 'One destination cannot be reached; the last backups there are recent.',
    }),
  );
  renameSync(`${disk}-away`, disk);
  site.clock.skip(MINUTE_MS);
  expect((await site.ended(id)).status).toBe('completed');
});

describe('a drive that is unplugged during its first backup', () => {
  const NOT_THERE = /^The destination is not available: connect or mount it\.$/;
  const SLOW = { bandwidth: [{ from: '00:00', uploadLimit: '100 KiB' }] };
  /** The mount point, which goes with the drive, and the repository below it. */
  let mounted: string;
  let repository: string;
  let source: string;
  beforeEach(async ({ task }) => {
    const name = `first-${task.id}`;
    mounted = join(site.directory, name, 'media', 'usb');
    repository = join(mounted, 'backup');
    source = join(site.source, name);
    mkdirSync(mounted, { recursive: true });
    site.write({ [`${name}/large`]: randomBytes(3_000_000) });
    const destinations = { usb: { url: repository, passphrase: null } };
    await site.configure({ destinations, defaultDestination: 'usb', timeZone: 'UTC', ...SLOW });
  });

  const unplug = (): void => renameSync(mounted, `${mounted}-away`);
  const plugIn = (): void => renameSync(`${mounted}-away`, mounted);
  /** A backup that has made the repository, and is far from its end. */
  const begin = async (): Promise<string> => {
    const { id } = await site.agent.requestBackup({ source, options: {} }, 'api');
    await eventually(() => existsSync(join(repository, 'leases')), 'the first lease');
    return id;
  };
  /** Rather than to be made somewhere else. */
  const waitsForIt = async (id: string): Promise<void> => {
    const job = await eventually(() => {
      const now = site.agent.job(id);
      return (now?.finished_at !== null || NOT_THERE.test(now.waiting_for ?? '')) && now;
    }, 'a reason to wait, or the end');
    expect(job).toMatchObject({ status: 'queued', waiting_for: expect.stringMatching(NOT_THERE) });
    expect(existsSync(mounted)).toBe(false);
  };
  const letGo = async (): Promise<void> => {
    const destinations = { usb: { url: repository, passphrase: null } };
    await site.configure({ destinations, defaultDestination: 'usb', timeZone: 'UTC' });
  };
  /** The only one that was ever made. */
  const expectOneRepository = (): void => {
    expect(readdirSync(join(mounted, '..'))).toEqual(['usb']);
    expect(readdirSync(join(repository, 'config'))).toHaveLength(1);
  };

  test('is waited for, and the same backup goes on there', async () => {
    const id = await begin();
    unplug();
    await letGo();
    await waits(id, /cannot be reached|is not there/);
    site.clock.skip(MINUTE_MS);
    await waitsForIt(id);
    plugIn();
    site.clock.skip(MINUTE_MS);
    expect((await site.ended(id)).status).toBe('completed');
    expectOneRepository();
  });

  test('is waited for by the next backup when the first one has come to nothing', async () => {
    const first = await begin();
    await site.ask('cancel', { id: first });
    expect((await site.ended(first)).status).toBe('canceled');
    unplug();
    await letGo();
    const { id } = await site.agent.requestBackup({ source, options: {} }, 'api');
    await waitsForIt(id);
    plugIn();
    site.clock.skip(MINUTE_MS);
    expect((await site.ended(id)).status).toBe('completed');
    expectOneRepository();
  });

  test('is waited for by an agent that was started again meanwhile', async () => {
    const id = await begin();
    await site.restart(unplug);
    await waitsForIt(id);
    plugIn();
    await letGo();
    site.clock.skip(MINUTE_MS);
    expect((await site.ended(id)).status).toBe('completed');
    expectOneRepository();
  });
});

test('the limit of the time of day holds uploads back, and another one holds at once', async () => {
  site.write({ 'limited/large': randomBytes(6_000_000) });
  const source = join(site.source, 'limited');
  await site.configure({ timeZone: 'UTC', bandwidth: [{ from: '00:00', uploadLimit: '100 KiB' }] });
  const before = storedBytes();
  const { id } = await site.agent.requestBackup({ source, options: {} }, 'api');
  await eventually(() => storedBytes() > before + 50_000, 'the first bytes');
  await site.configure({ timeZone: 'UTC', bandwidth: [{ from: '00:00', uploadLimit: '100 MiB' }] });
  // Under the first limit it would take a minute.
  expect(site.agent.job(id)?.status).toBe('running');
  expect(await site.ended(id)).toMatchObject({ status: 'completed', files_done: 1 });
});
