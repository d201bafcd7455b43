/** What looks like damage to a source, through the real agent: it is told, and older snapshots stay until it is answered. */
// Turn 2 of 8.
import { randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { adviceOf } from '../../src/jobs/protection.ts';
import type { Job } from '../../src/jobs/job.ts';
import { eventually, openDaemonSite, type DaemonSite } from '../support/daemon-site.ts';

const FILES = 200;

/** At each prune every snapshot but the newest is forgotten. */
const settings = {
  retention: { keepLast: 1, keepDaily: null, keepWeekly: null, keepMonthly: null, keepWithin: null },
  maintenance: { prune: 'off', check: 'off', drill: 'off' },
};

let site: DaemonSite;

beforeAll(async () => {
  site = await openDaemonSite();
  await site.configure(settings);
});
afterAll(async () => await site[Symbol.asyncDispose]());

/** Text that compresses well. */
const text = (n: number): string => `line of file ${n}\n`.repeat(600);

/** A source of that name, in ten directories. */
function fill(name: string, files = FILES): string {
  for (let n = 0; n < files; n += 1) site.write({ [`${name}/d${n % 10}/file-${n}.txt`]: text(n) });
  return join(site.source, name);
}

async function backUp(source: string): Promise<Job> {
  return await site.ended((await site.agent.requestBackup({ source, options: {} }, 'api')).id);
}

async function prune(): Promise<readonly string[]> {
  const { id } = await site.ask('prune', { destination: 'default' });
  expect(await site.ended(id)).toMatchObject({ status: 'completed' });
  return site.agent.log(id).map((line) => line.text);
}

async function alarmCheck(): Promise<string | undefined> {
  const { checks } = await site.status();
  return checks.find(({ name }) => name === 'alarms')?.message;
}

test('an empty source is refused and told of, and keeps its snapshots until that is acknowledged', async () => {
  const source = fill('emptied');
  expect(await backUp(source)).toMatchObject({ status: 'completed', files_done: FILES });
  site.write({ 'emptied/d1/more.txt': 'more' });
  await backUp(source);

  const away = join(site.directory, 'away');
  renameSync(source, away);
  // As the place of a disk that is not mounted.
  mkdirSync(join(source, 'lost+found'), { recursive: true });
  const refused = await backUp(source);
  expect(refused).toMatchObject({
    status: 'failed',
    snapshot_id: null,
    error: {
      code: 'SOURCE_SUSPICIOUSLY_EMPTY',
      details: { path: source, files_before: FILES + 1, is_there: true },
    },
  });
  expect(refused.error?.message).toContain('mount it');
  expect((await site.status()).status).toBe('error');
  expect(await alarmCheck()).toMatch(/looks damaged \(empty\)/);
  expect(await alarmCheck()).not.toContain(source);

  await site.restart();
  expect((await backUp(source)).error?.code).toBe('SOURCE_SUSPICIOUSLY_EMPTY');
  expect(await site.ask('alarms', {})).toMatchObject([{ kind: 'empty', source }]);
  expect(await prune()).toContain('snapshots_frozen: 1');

  // It was a mistake. Mounted again, everything goes on, and the alarm is over.
  rmSync(source, { recursive: true });
  renameSync(away, source);
  expect(await backUp(source)).toMatchObject({ status: 'completed', files_done: FILES + 1 });
  expect(await site.ask('alarms', {})).toEqual([]);
  expect(await alarmCheck()).toBeUndefined();
  expect(await prune()).toContain('snapshots_forgotten: 2');
});

test('an empty source that is meant to be empty is saved as it is, once that is acknowledged', async () => {
  const source = fill('cleared');
  await backUp(source);
  for (let n = 0; n < 10; n += 1) rmSync(join(source, `d${n}`), { recursive: true });
  expect((await backUp(source)).error?.code).toBe('SOURCE_SUSPICIOUSLY_EMPTY');
  await site.ask('acknowledge', {});
  expect(await backUp(source)).toMatchObject({ status: 'completed', files_done: 0 });
  expect(await site.ask('alarms', {})).toEqual([]);
  site.write({ 'cleared/new': 'new' });
  expect(await backUp(source)).toMatchObject({ status: 'completed', files_done: 1 });
  // Files came since: what was acknowledged then says nothing of now. So does an answer to an alarm that is over.
  for (const content of ['again', undefined]) {
    rmSync(join(source, 'new'));
    expect((await backUp(source)).error?.code).toBe('SOURCE_SUSPICIOUSLY_EMPTY');
    if (content === undefined) break;
    site.write({ 'cleared/new': content });
    await backUp(source);
    await site.ask('acknowledge', {});
  }
  await site.ask('acknowledge', {});
});

test('a source that vanishes behind a link is noticed by the watcher, and told of', async () => {
  const source = fill('watched');
  const link = join(site.directory, 'link');
  symlinkSync(source, link);
  const known = site.jobs();
  await site.configure({ ...settings, sources: [{ path: link, schedule: 'off' }] });
  expect(await site.endOfNext('backup', known)).toMatchObject({ status: 'completed', files_done: FILES });
  await eventually(async () => (await site.agent.fullStatus()).watcher.directories > 10, 'watching');
  const before = site.jobs();
  renameSync(source, join(site.directory, 'gone'));
  // The watcher looks at the root every half minute, and then waits for quiet.
  const refused = await eventually(() => {
    site.clock.skip(10_000);
    return site.jobs('backup').find(({ id }) => !before.some((one) => one.id === id));
  }, 'a backup of what vanished');
  expect(refused.trigger).toBe('watch');
  expect((await site.ended(refused.id)).error).toMatchObject({
    code: 'SOURCE_SUSPICIOUSLY_EMPTY',
    details: { path: link, is_there: false },
  });
  expect(await site.ask('acknowledge', {})).toMatchObject([{ kind: 'empty', source: link }]);
  await site.configure(settings);
});

test('a source in whose place a link to nowhere stands is refused, and told of', async () => {
  const source = fill('linked', 3);
  const { spec } = await backUp(source);
  rmSync(source, { recursive: true });
  symlinkSync('nowhere', source);
  // As its schedule does it: what a person asks for is refused at once.
  const run = async (): Promise<Job> => await site.ended((await site.agent.submit(spec, 'schedule')).id);
  expect((await run()).error?.code).toBe('SOURCE_SUSPICIOUSLY_EMPTY');
  expect(await site.ask('acknowledge', {})).toMatchObject([{ kind: 'empty', source }]);
  // The link is not what was to be saved.
  expect((await run()).error?.code).toBe('INVALID_SOURCE');
});

test('a source that lost most files is told of; its older snapshots stay, those of others do not', async () => {
  const [source, other] = [fill('shrunk'), fill('other', 1)];
  await backUp(other);
  await backUp(other);
  await prune();
  await backUp(other);
  await backUp(source);
  for (let n = 0; n < 6; n += 1) rmSync(join(source, `d${n}`), { recursive: true });
  expect(await backUp(source)).toMatchObject({ status: 'completed', files_done: 80 });
  expect(await site.ask('alarms', {})).toMatchObject([
    { kind: 'shrunk', source, text: expect.stringContaining('120 of 200 files disappeared') },
  ]);
  expect(await alarmCheck()).toMatch(/shrunk/);
  expect(await prune()).toEqual(expect.arrayContaining(['snapshots_frozen: 1', 'snapshots_forgotten: 1']));
  await site.ask('acknowledge', {});
  expect(await prune()).toContain('snapshots_forgotten: 1');
});

test('the status names the snapshot from before a loss, and the alarm is over once the files are back', async () => {
  const source = fill('restored');
  const before = (await backUp(source)).snapshot_id ?? '';
  for (let n = 0; n < 6; n += 1) rmSync(join(source, `d${n}`), { recursive: true });
  await backUp(source);
  const { statements } = await site.agent.fullStatus();
  const lost = statements.find(({ code }) => code === 'files_disappeared');
  expect(lost).toMatchObject({
    figures: { files_gone: 120, files_before: FILES },
    before: { snapshot: before, destination: 'default' },
  });
  expect(lost && adviceOf(lost)).toContain(`restore ${before.slice(0, 8)} --in-place`);

  fill('restored');
  expect(await backUp(source)).toMatchObject({ files_done: FILES });
  expect(await site.ask('alarms', {})).toEqual([]);
  expect((await site.agent.fullStatus()).statements.map(({ code }) => code)).not.toContain(
    'files_disappeared',
  );
});

test('a backup by a request with exclude rules of its own is no loss, and hides none', async () => {
  const source = fill('narrowed');
  await backUp(source);
  const narrow = async (): Promise<Job> =>
    await site.ended((await site.agent.requestBackup({ source, options: { exclude: ['*'] } }, 'api')).id);
  expect(await narrow()).toMatchObject({ status: 'completed', files_done: 0 });
  expect(await site.ask('alarms', {})).toEqual([]);
  const [snapshot] = await site.agent.snapshots({ source, limit: 1 });
  expect(snapshot).toMatchObject({ tags: [], files: 0, backup_id: expect.stringMatching(/^bkp_/) });

  // What is new since is told by the one before, which has everything.
  site.write({ 'narrowed/more.txt': 'more' });
  expect(await backUp(source)).toMatchObject({ progress: { files_new: 1, files_unchanged: FILES } });
  await narrow();
  for (let n = 0; n < 6; n += 1) rmSync(join(source, `d${n}`), { recursive: true });
  expect(await backUp(source)).toMatchObject({ status: 'completed' });
  expect(await site.ask('acknowledge', {})).toMatchObject([{ kind: 'shrunk', source }]);

  await narrow();
  rmSync(source, { recursive: true });
  mkdirSync(source);
  expect((await backUp(source)).error).toMatchObject({ code: 'SOURCE_SUSPICIOUSLY_EMPTY' });
  await site.ask('acknowledge', {});
});

test('files rewritten as ransomware does are told of, also when several backups share them', async () => {
  const source = fill('rewritten');
  await backUp(source);
  // A normal day.
  site.clock.skip(86_400_000);
  site.write({ 'rewritten/d1/file-1.txt': 'changed' });
  await backUp(source);
  site.clock.skip(86_400_000);
  for (let part = 0; part < 2; part += 1) {
    expect(await site.ask('alarms', {})).toEqual([]);
    // Too few to be told of by themselves.
    for (let n = part * 60; n < part * 60 + 60; n += 1)
      site.write({ [`rewritten/d${n % 10}/file-${n}.txt`]: randomBytes(12_000) });
    expect((await backUp(source)).status).toBe('completed');
    site.clock.skip(60_000);
  }
  expect(await site.ask('acknowledge', {})).toMatchObject([{ kind: 'rewritten', source }]);
});

test('files that get an extension that no file had are told of', async () => {
  const source = fill('renamed');
  await backUp(source);
  for (let n = 0; n < 120; n += 1) {
    const path = join(source, `d${n % 10}/file-${n}.txt`);
    renameSync(path, `${path}.Locked`);
  }
  await backUp(source);
  expect(await site.ask('acknowledge', {})).toMatchObject([
    { kind: 'rewritten', text: expect.stringContaining('120 of them with the new extension .locked') },
  ]);
});
