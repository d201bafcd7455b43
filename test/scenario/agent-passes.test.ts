/** One source that goes to several destinations, through the real agent: it is read once, and copied. */
// Turn 6 of 8.
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import type { Job } from '../../src/jobs/job.ts';
import { executable } from '../support/cli.ts';
import { eventually, openDaemonSite, type DaemonSite } from '../support/daemon-site.ts';
import { NAMES, openPassSite, type Name, type PassSite } from '../support/pass-site.ts';
import { startS3Store, type S3Store } from '../support/s3-store.ts';

const runProgram = promisify(execFile);
const FILES = { 'one.txt': 'hello', 'deep/two.txt': 'there', 'deep/three.bin': Buffer.alloc(200_000, 'abc') };
const BYTES = 200_010;

/** Ends of the jobs to these destinations. */
async function ends(
  { site }: PassSite,
  jobs: Readonly<Record<Name, Job>>,
  names: readonly Name[] = NAMES,
): Promise<readonly Job[]> {
  return await Promise.all(names.map(async (name) => await site.ended(jobs[name].id)));
}

const statusesOf = (jobs: readonly Job[]): readonly string[] => jobs.map(({ status }) => status);

test('three runs, with one destination away in the second: the others complete all, it catches up, each file is read once', async () => {
  await using here = await openPassSite(FILES);
  const { site } = here;
  const paths = Object.keys(FILES).map((name) => join(site.source, name));

  const first = await here.begin();
  expect(statusesOf(await ends(here, first))).toEqual(['completed', 'completed', 'completed']);
  expect(NAMES.map((name) => here.facts(first[name].id)['bytes_read'])).toEqual([`${BYTES}`, '0', '0']);
  expect(NAMES.map((name) => here.facts(first[name].id)['copied_from'])).toEqual([undefined, 'a', 'a']);
  expect(here.opened()).toEqual(new Map(paths.map((path) => [path, 1])));

  here.unplug('c');
  site.write({ 'one.txt': 'changed' });
  here.opened();
  const second = await here.beginInTime();
  expect(statusesOf(await ends(here, second, ['a', 'b']))).toEqual(['completed', 'completed']);
  await here.isAway(second.c.id);
  expect([...here.opened()]).toEqual([[paths[0], 1]]);

  site.write({ 'one.txt': 'once more' });
  here.opened();
  const third = await here.begin();
  // The job that waits for it is taken along, so that it gets the newest.
  expect(third.c.id).toBe(second.c.id);
  expect(statusesOf(await ends(here, third, ['a', 'b']))).toEqual(['completed', 'completed']);
  expect([...here.opened()]).toEqual([[paths[0], 1]]);
  expect((await site.agent.fullStatus()).sources.map(({ destination }) => destination)).toEqual(NAMES);
  here.plug('c');
  expect(await site.ended(third.c.id)).toMatchObject({
    status: 'completed',
    result: 'success',
    files_done: 3,
  });
  expect(here.facts(third.c.id)).toMatchObject({ copied_from: 'a', bytes_read: '0' });
  expect(here.opened().size).toBe(0);
  // It is as old as the others, though it was copied later.
  const asOf = (await site.agent.fullStatus()).sources.map(({ last_good_backup_at: at }) => at);
  expect(new Set(asOf).size).toBe(1);

  // Whom one would copy from is away as well: it reads for itself.
  here.unplug('c');
  const fourth = await here.begin();
  await ends(here, fourth, ['a', 'b']);
  await here.isAway(fourth.c.id);
  here.unplug('a');
  here.unplug('b');
  here.plug('c');
  expect(await site.ended(fourth.c.id)).toMatchObject({ status: 'completed', attempt: 2 });
  expect(here.facts(fourth.c.id)['from_changes']).toBe('false');
  here.plug('a');
  here.plug('b');

  // The first reader's repository is gone: it fails, the next one reads, and the third copies from that.
  for (const folder of ['keys', 'copies']) await rm(join(site.directory, 'a', folder), { recursive: true });
  const fifth = await here.begin();
  expect(statusesOf(await ends(here, fifth))).toEqual(['failed', 'completed', 'completed']);
  expect(NAMES.map((name) => here.facts(fifth[name].id)['copied_from'])).toEqual([undefined, undefined, 'b']);
  expect((await site.status()).checks).toContainEqual({
    name: 'destinations of a source',
    status: 'warning',
    message: 'The last backup to one destination failed, but the source has good backups elsewhere.',
  });
  const trouble = site.log.filter((line) => !/passphrase cost|catalog|restored/.test(line));
  expect(trouble).toEqual([]);
});

test('what is asked for goes to all destinations, to one, or to the first, and each shows how it stands', async () => {
  await using here = await openPassSite(FILES, { schedule: 'off' });
  const { site } = here;
  await ends(here, await here.begin());
  const { source } = site;
  const waiting = site.jobs('backup').length;
  const dry = await site.agent.requestBackup({ source, options: { dry_run: true } }, 'api');
  const one = await site.agent.requestBackup({ source, destination: 'c', options: {} }, 'api');
  expect(site.jobs('backup')).toHaveLength(waiting + 2);
  expect([dry.spec.destination, one.spec.destination]).toEqual(['a', 'c']);
  const all = await site.agent.requestBackup({ source, options: { tags: ['asked'] } }, 'api');
  const asked = site.jobs('backup').slice(0, 3).toReversed();
  expect(asked.map(({ spec }) => spec.destination)).toEqual(NAMES);
  expect(asked[0]?.id).toBe(all.id);
  for (const { id } of [dry, one, ...asked]) expect((await site.ended(id)).status).toBe('completed');
  expect(here.facts(one.id)['bytes_read']).toBe('0');
  expect(here.facts(one.id)['copied_from']).toBeUndefined();
  expect(here.facts(asked[2]?.id ?? '')['copied_from']).toBe('a');

  const { data: status } = await site.get<{ data: { sources: { destination: string }[] } }>('/v1/status');
  expect(status.sources).toEqual(
    NAMES.map((destination) =>
      expect.objectContaining({
        path: source,
        destination,
        overdue: false,
        last_good_backup_at: expect.stringMatching(/Z$/),
      }),
    ),
  );
  expect((await shown(site, 'status')).match(/source +(?:just now|\d.* ago) .*[abc]$/gm)).toHaveLength(3);
  expect(
    (await shown(site, 'sources', 'list')).match(/source +[abc] +off +(?:just now|.*ago)$/gm),
  ).toHaveLength(3);
  expect((await shown(site, 'jobs', '--limit', '3')).match(/ [abc]$/gm)?.map((text) => text.trim())).toEqual([
    'c',
    'b',
    'a',
  ]);
});

test('a path of several entries goes to the destinations of each, read by itself by the rules of its own', async () => {
  await using site = await openDaemonSite();
  site.write({ 'a.txt': 'a', 'b.tmp': 'b' });
  const place = (name: string): object => ({ url: join(site.directory, name), passphrase: null });
  const entry = { path: site.source, schedule: 'off', watch: false };
  await site.configure({
    sources: [
      { ...entry, destination: 'usb', exclude: { patterns: ['*.tmp'] } },
      { ...entry, destinations: ['nas', 'off'] },
    ],
    destinations: { usb: place('usb'), nas: place('nas'), off: place('off') },
    defaultDestination: 'off',
  });
  const before = site.jobs('backup').map(({ id }) => id);
  const first = await site.backUp();
  const jobs = site.jobs('backup').filter(({ id }) => !before.includes(id));
  expect(first.spec.destination).toBe('usb');
  const files = new Map<string, number>();
  for (const { id } of jobs) {
    const job = await site.ended(id);
    expect(job).toMatchObject({ status: 'completed', result: 'success' });
    files.set(job.spec.destination, job.files_done);
  }
  expect(Object.fromEntries(files)).toEqual({ nas: 2, off: 2, usb: 1 });
});

const STORES = ['near', 'far'] as const;

/** Two buckets, and a disk that is named last. */
async function configureStores(site: DaemonSite, stores: readonly S3Store[]): Promise<void> {
  const file = join(site.directory, 's3-secret');
  writeFileSync(file, 'secret\n', { mode: 0o600 });
  const s3 = { accessKeyId: 'AKTEST', secretAccessKey: { file } };
  const buckets = Object.fromEntries(
    stores.map(({ endpoint }, index) => [
      STORES[index] ?? '',
      { url: `s3://bucket/laptop?endpoint=${endpoint}`, passphrase: null, access: { s3 } },
    ]),
  );
  await site.configure({
    sources: [{ path: site.source, destinations: [...STORES, 'disk'], schedule: 'off', watch: false }],
    destinations: { ...buckets, disk: { url: join(site.directory, 'disk'), passphrase: null } },
    defaultDestination: 'near',
  });
}

const packsRead = (...stores: readonly S3Store[]): number =>
  stores.flatMap(({ requests }) =>
    requests.filter(({ method, key }) => method === 'GET' && key.startsWith('laptop/packs/')),
  ).length;

test('the disk is read for before buckets, and what was kept of the first bucket goes to all others', async () => {
  await using near = await startS3Store();
  await using far = await startS3Store();
  await using site = await openDaemonSite();
  const disk = join(site.directory, 'disk');
  const spool = join(site.state, 'spool');
  const logOf = (id: string): string =>
    site.agent
      .log(id)
      .map(({ text }) => text)
      .join('\n');
  /** The last three jobs, by their destinations. */
  const lastPass = (): ReadonlyMap<string, string> =>
    new Map(
      site
        .jobs('backup')
        .toReversed()
        .map(({ spec, id }) => [spec.destination, id]),
    );
  const completed = async (name: string): Promise<string> => {
    const id = lastPass().get(name) ?? '';
    expect(await site.ended(id)).toMatchObject({ status: 'completed', error: null });
    return logOf(id);
  };
  const next = async (file: string): Promise<void> => {
    site.write({ [file]: `content of ${file}` });
    await site.agent.requestBackup({ source: site.source, options: {} }, 'schedule');
  };

  site.write(FILES);
  await configureStores(site, [near, far]);
  expect(await completed('disk')).toContain(`bytes_read: ${BYTES}`);
  for (const name of STORES) expect(await completed(name)).toContain('copied_from: disk');
  expect(existsSync(spool)).toBe(false);

  renameSync(disk, `${disk}-unplugged`);
  await next('four.txt');
  expect(await completed('near')).toContain('bytes_read: 19');
  expect(await completed('far')).toContain('copied_from: near');
  renameSync(`${disk}-unplugged`, disk);
  site.clock.skip(30_000);
  expect(await completed('disk')).toContain('copied_from: ');
  expect(packsRead(near, far)).toBe(0);
  await eventually(() => readdirSync(spool).length === 0, 'the spool to be removed');

  // A spool that cannot be written costs a download and nothing else.
  await rm(spool, { recursive: true });
  writeFileSync(spool, '', { mode: 0o600 });
  renameSync(disk, `${disk}-unplugged`);
  await next('five.txt');
  expect(await completed('near')).toContain('Packs are not kept for other destinations');
  expect(await completed('far')).toContain('copied_from: near');
  expect(packsRead(near)).toBeGreaterThan(0);
  await site.restart();
  expect(existsSync(spool)).toBe(false);
});

/** What the built program says. */
async function shown({ state }: DaemonSite, ...words: readonly string[]): Promise<string> {
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, HOLDFAST_STATE_DIR: state };
  const { stdout, stderr } = await runProgram(process.execPath, [executable, ...words], {
    env,
    timeout: 60_000,
  });
  return stdout + stderr;
}
