/** A destination that goes away, fills up or is swapped in the middle of a backup, through the real agent. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, type TestContext } from 'vitest';
import type { Job } from '../../src/jobs/job.ts';
import { eventually, openDaemonSite, type DaemonSite } from '../support/daemon-site.ts';

const MINUTE_MS = 60_000;

let site: DaemonSite;
let disk: string;
let sources = 0;

beforeAll(async () => {
  site = await openDaemonSite();
});
afterAll(async () => await site[Symbol.asyncDispose]());

const SLOW = { bandwidth: [{ from: '00:00', uploadLimit: '150 KiB' }] };

/** A new destination in a directory of its own, with a first backup of a new source. */
async function begin(directory: string): Promise<string> {
  disk = directory;
  mkdirSync(disk, { recursive: true });
  sources += 1;
  site.write({ [`s${sources}/first`]: randomBytes(20_000) });
  await configure({});
  const source = join(site.source, `s${sources}`);
  const { id } = await site.agent.requestBackup({ source, options: {} }, 'api');
  expect(await site.ended(id)).toMatchObject({ status: 'completed' });
  return source;
}

async function configure(more: object): Promise<void> {
  await site.configure({
    destinations: { disk: { url: disk, passphrase: null } },
    defaultDestination: 'disk',
    timeZone: 'UTC',
    ...more,
  });
}

/** A backup that is storing what will take it a while. */
async function beginSlowly(source: string): Promise<string> {
  site.write({ [`s${sources}/large`]: randomBytes(3_000_000) });
  await configure(SLOW);
  const before = bytesBelow(disk);
  const { id } = await site.agent.requestBackup({ source, options: {} }, 'api');
  await eventually(() => bytesBelow(disk) > before + 50_000, 'the first bytes');
  return id;
}

function bytesBelow(directory: string): number {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  return entries.reduce((sum, { parentPath, name }) => {
    const stat = statSync(join(parentPath, name), { throwIfNoEntry: false });
    return sum + (stat?.isFile() === true ? stat.size : 0);
  }, 0);
}

async function waits(id: string, reason: RegExp): Promise<Job> {
  return await eventually(() => {
    const job = site.agent.job(id);
    if (job !== undefined && job.finished_at !== null)
      throw new Error(`it has ended: ${JSON.stringify(job.error)}`);
    return job?.status === 'queued' && reason.test(job.waiting_for ?? '') && job;
  }, String(reason));
}

/** The next backup completes, and all that was committed is sound. */
async function expectSound(source: string): Promise<void> {
  const { id } = await site.agent.requestBackup({ source, options: {} }, 'api');
  expect(await site.ended(id)).toMatchObject({ status: 'completed', error: null });
  const check = await site.agent.submit({ type: 'check', destination: 'disk', read_data: 1 }, 'api');
  expect(await site.ended(check.id)).toMatchObject({ status: 'completed', error: null });
}

describe('in the middle of a backup, a directory', () => {
  test('in whose place an empty one turns up is waited for, nothing is put there, and the job goes on when it is back', async () => {
    const source = await begin(join(site.directory, 'emptied'));
    const id = await beginSlowly(source);
    renameSync(disk, `${disk}-away`);
    mkdirSync(disk);
    await configure({});
    await waits(id, /^The destination cannot be reached; Holdfast will try again\.$/);
    expect(readdirSync(disk, { recursive: true })).toEqual([]);
    renameSync(disk, `${disk}-empty`);
    renameSync(`${disk}-away`, disk);
    site.clock.skip(MINUTE_MS);
    expect(await site.ended(id)).toMatchObject({ status: 'completed', error: null });
    await expectSound(source);
  });

  test('that has gone is waited for by name, and the job goes on when it is back', async () => {
    const source = await begin(join(site.directory, 'unplugged'));
    const id = await beginSlowly(source);
    renameSync(disk, `${disk}-away`);
    await configure({});
    await waits(id, /cannot be reached/);
    site.clock.skip(MINUTE_MS);
    await waits(id, /^The destination is not available: connect or mount it\.$/);
    renameSync(`${disk}-away`, disk);
    site.clock.skip(MINUTE_MS);
    expect(await site.ended(id)).toMatchObject({ status: 'completed', error: null });
    await expectSound(source);
  });

  test('that another repository takes the place of is told from it, and nothing is written there', async () => {
    await begin(join(site.directory, 'other'));
    const other = disk;
    const source = await begin(join(site.directory, 'own'));
    const id = await beginSlowly(source);
    renameSync(disk, `${disk}-away`);
    renameSync(other, disk);
    await configure({});
    await waits(id, /cannot be reached/);
    const before = namesBelow(disk);
    site.clock.skip(MINUTE_MS);
    expect(await site.ended(id)).toMatchObject({
      status: 'failed',
      error: {
        code: 'DESTINATION_ERROR',
        message: expect.stringContaining('other backups are in its place'),
      },
    });
    expect(namesBelow(disk)).toEqual(before);
    renameSync(disk, other);
    renameSync(`${disk}-away`, disk);
    await expectSound(source);
  });
});

function namesBelow(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' }).toSorted();
}

describe('in the middle of a backup, a file system', () => {
  test('that is unmounted is waited for, nothing is put into its mount point, and the job goes on when it is back', async (context) => {
    await using mounted = mountTmpfs(context, 'unmounted', '40m');
    const source = await begin(mounted.directory);
    const id = await beginSlowly(source);
    // Kept in sight elsewhere, as a drive keeps what it holds.
    const elsewhere = join(site.directory, 'elsewhere');
    mkdirSync(elsewhere);
    execFileSync('mount', ['--bind', disk, elsewhere]);
    try {
      execFileSync('umount', ['-l', disk]);
      await configure({});
      await waits(id, /cannot be reached/);
      expect(readdirSync(disk)).toEqual([]);
      execFileSync('mount', ['--bind', elsewhere, disk]);
      site.clock.skip(MINUTE_MS);
      expect(await site.ended(id)).toMatchObject({ status: 'completed', error: null });
      await expectSound(source);
    } finally {
      execFileSync('umount', ['-l', elsewhere]);
    }
  });

  test('that runs full ends it with that reason and no snapshot, and with room the next one is whole', async (context) => {
    await using mounted = mountTmpfs(context, 'full', '2m');
    const source = await begin(mounted.directory);
    const id = await beginSlowly(source);
    await configure({});
    expect(await site.ended(id)).toMatchObject({
      status: 'failed',
      snapshot_id: null,
      error: {
        code: 'INSUFFICIENT_STORAGE',
        message: expect.stringMatching(/no space left.*Free up some space/),
      },
    });
    execFileSync('mount', ['-o', 'remount,size=40m', disk]);
    await expectSound(source);
  });

  test('that becomes read-only ends it with that reason and no snapshot, and writable the next one is whole', async (context) => {
    await using mounted = mountTmpfs(context, 'read-only', '40m');
    const source = await begin(mounted.directory);
    const id = await beginSlowly(source);
    // What is being written keeps a file system from becoming so; a broken one does not ask.
    execFileSync('mount', ['--bind', '-o', 'ro', disk, disk]);
    execFileSync('mount', ['-o', 'remount,bind,ro', disk]);
    await configure({});
    const job = await site.ended(id);
    execFileSync('umount', ['-l', disk]);
    expect(job).toMatchObject({
      status: 'failed',
      snapshot_id: null,
      error: {
        code: 'DESTINATION_ERROR',
        message: expect.stringMatching(/read-only.*Mount it with write access/),
      },
    });
    await expectSound(source);
  });
});

interface Mounted extends AsyncDisposable {
  readonly directory: string;
}

/** Skips the test, with the reason, where mounting is refused. */
function mountTmpfs(context: TestContext, name: string, size: string): Mounted {
  const directory = join(site.directory, name);
  mkdirSync(directory);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', directory], { stdio: 'pipe' });
  } catch (error) {
    context.skip(`a file system cannot be mounted here: ${String(error)}`);
  }
  return {
    directory,
    [Symbol.asyncDispose]: async () => {
      // An engine may have it open for a minute yet.
      execFileSync('umount', ['-l', directory], { stdio: 'pipe' });
      await Promise.resolve();
    },
  };
}
