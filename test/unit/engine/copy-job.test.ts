/** Copies in place of backups, in the real engine process. */
// Turn 1 of 8.
import { mkdirSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { NARROWED_TAG } from '../../../src/base/job-tag.ts';
import { openLocalDestination } from '../../../src/destination/local/local.ts';
import { NOTHING_TO_COPY, type CopyOrigin, type EngineJob } from '../../../src/engine/protocol.ts';
import { openRepository } from '../../../src/repository/opening.ts';
import type { Repository } from '../../../src/repository/repository.ts';
import { listSnapshots, type Snapshot } from '../../../src/repository/snapshots.ts';
import { isWhole } from '../../../src/repository/check/whole-snapshot.ts';
import { never } from '../../support/engine.ts';
import {
  PASSPHRASE,
  completed,
  failed,
  notesOf,
  openSite,
  startEngine,
  type EngineProcess,
  type EngineSite,
} from './engine-process.ts';

let engine: EngineProcess;
let site: EngineSite;

beforeAll(async () => {
  engine = await startEngine();
});
afterAll(async () => await engine[Symbol.asyncDispose]());

/** A site that removes itself, with its backup in `a`. */
function begin(): EngineSite {
  site = openSite();
  for (const path of places()) mkdirSync(path);
  site.write({ 'a.txt': 'hello', 'deep/b.txt': 'there', 'large.bin': Buffer.alloc(300_000, 'content ') });
  return site;
}

const at = (name: string): string => join(site.directory, name);
const place = (name: string): EngineJob['destination'] => ({
  name,
  url: at(name),
  secret: { kind: 'passphrase', text: PASSPHRASE },
  repositoryId: null,
  uploadLimit: null,
});

/** What the agent has no backup take in. */
const places = (): readonly string[] => ['a', 'b', 'c'].map(at);

async function backUp(name: string, tags: readonly string[] = []): Promise<CopyOrigin> {
  const job = site.job(site.backup({ tags }), { destination: place(name), never: places() });
  const { snapshotId } = completed(await engine.run(job));
  return { destination: place(name), jobId: job.id, snapshotId: snapshotId ?? '' };
}

function copyJob(name: string, copyFrom: readonly CopyOrigin[]): EngineJob {
  const alike = copyFrom.map(({ destination }) => destination);
  const pass = { copyFrom, alike, spool: null };
  return site.job(site.backup(), { destination: place(name), pass });
}

async function opened<T>(name: string, work: (repository: Repository) => Promise<T>): Promise<T> {
  const repository = await openRepository(
    await openLocalDestination(at(name)),
    { kind: 'passphrase', text: PASSPHRASE },
    { clock: systemClock, stateDirectory: undefined, allowWeakCost: true },
    never,
  );
  try {
    return await work(repository);
  } finally {
    await repository.close();
  }
}

async function snapshotsIn(name: string): Promise<readonly Snapshot[]> {
  return await opened(name, async (repository) => (await listSnapshots(repository, never)).live);
}

test('a copy is the same run, under the tag of its own job, in a repository made like the other', async () => {
  using _site = begin();
  const origin = await backUp('a', ['mine']);
  const job = copyJob('b', [origin]);
  const outcome = completed(await engine.run(job));
  expect(outcome).toMatchObject({
    result: 'success',
    files: 3,
    warnings: 0,
    compared: null,
    hasReadSource: false,
    facts: { copied_from: 'a', bytes_read: 0 },
    progress: { percent: 100, files_new: 3 },
  });
  const [[first], [copy]] = [await snapshotsIn('a'), await snapshotsIn('b')];
  expect(copy?.id).toBe(outcome.snapshotId);
  expect(copy?.record.tags).toEqual(['mine', `job:${job.id}`]);
  expect(first?.record.tags).toEqual(['mine', `job:${origin.jobId}`]);
  const { startedMs, finishedMs, host, paths, counts, status } = first?.record ?? {};
  expect(copy?.record).toMatchObject({ startedMs, finishedMs, host, paths, counts, status });
  // It is no newer than what it was copied from, however often the job is attempted.
  expect([outcome.sourceReadAt, completed(await engine.run(job)).sourceReadAt]).toEqual([
    startedMs,
    startedMs,
  ]);
  // Made alike: the same ids, and so the same root.
  expect(copy?.record.root.equals(first?.record.root ?? Buffer.alloc(0))).toBe(true);
  const keys = async (name: string) =>
    await opened(name, async ({ keyring }) => await Promise.resolve(keyring));
  const [a, b] = [await keys('a'), await keys('b')];
  expect(b.idData.equals(a.idData)).toBe(true);
  expect(b.repository.equals(a.repository)).toBe(false);
  expect(b.generations).not.toEqual(a.generations);
});

test('a copy says as its original does that the request had exclude rules of its own', async () => {
  using _site = begin();
  const spec = site.backup({ exclude: ['*.bin'] });
  const first = site.job(spec, { destination: place('a'), never: places() });
  const { snapshotId } = completed(await engine.run(first));
  const origin = { destination: place('a'), jobId: first.id, snapshotId: snapshotId ?? '' };
  const pass = { copyFrom: [origin], alike: [place('a')], spool: null };
  const job = site.job(spec, { destination: place('b'), pass });
  expect(completed(await engine.run(job))).toMatchObject({ files: 2 });
  const tagsIn = async (name: string) => (await snapshotsIn(name)).map(({ record }) => record.tags);
  expect(await tagsIn('a')).toEqual([[`job:${first.id}`, NARROWED_TAG]]);
  expect(await tagsIn('b')).toEqual([[`job:${job.id}`, NARROWED_TAG]]);
});

test('what an earlier attempt at a backup stored too late, without its data, is made again', async () => {
  using _site = begin();
  const job = site.job(site.backup(), { destination: place('b'), never: places() });
  const first = completed(await engine.run(job));
  rmSync(join(at('b'), 'packs'), { recursive: true });
  const again = await engine.run(job);
  const { snapshotId, warnings } = completed(again);
  expect(notesOf(again).join()).toContain('of an earlier attempt lacks data');
  expect(warnings).toBe(1);
  const isThere = async (repository: Repository): Promise<readonly [string, boolean][]> => {
    const { live } = await listSnapshots(repository, never);
    return await Promise.all(
      live.map(async (one) => [one.id, await isWhole(repository, one, never)] as [string, boolean]),
    );
  };
  const found = new Map(await opened('b', isThere));
  // The first one may have got back what it lacked: its content is the same.
  expect(new Set(found.keys())).toEqual(new Set([first.snapshotId, snapshotId]));
  expect(snapshotId).not.toBe(first.snapshotId);
  expect(found.get(snapshotId ?? '')).toBe(true);
});

test('an empty source is refused though the only snapshot of it is that of an attempt that lacks data', async () => {
  using _site = begin();
  const job = site.job(site.backup(), { destination: place('b'), never: places() });
  completed(await engine.run(job));
  rmSync(join(at('b'), 'packs'), { recursive: true });
  rmSync(site.source, { recursive: true });
  mkdirSync(site.source);
  expect(failed(await engine.run(job)).code).toBe('SOURCE_SUSPICIOUSLY_EMPTY');
});

test('a copy that lacks data is no copy: the source is backed up instead', async () => {
  using _site = begin();
  const origin = await backUp('a');
  const job = copyJob('b', [origin]);
  completed(await engine.run(job));
  rmSync(join(at('b'), 'packs'), { recursive: true });
  for (const next of [job, copyJob('b', [origin])])
    expect(failed(await engine.run(next)).code).toBe(NOTHING_TO_COPY);
});

test('the source is not looked at, and a second attempt at the job finds what the first has made', async () => {
  using _site = begin();
  const origin = await backUp('a');
  rmSync(site.source, { recursive: true });
  const job = copyJob('b', [origin]);
  const first = completed(await engine.run(job));
  const again = await engine.run(job);
  expect(completed(again)).toMatchObject({ snapshotId: first.snapshotId, hasReadSource: false });
  expect(notesOf(again).join()).toContain('had already completed');
  expect(await snapshotsIn('b')).toHaveLength(1);
});

test('a run that was copied there by somebody else is not copied once more', async () => {
  using _site = begin();
  const origin = await backUp('a');
  const { snapshotId } = completed(await engine.run(copyJob('b', [origin])));
  expect(completed(await engine.run(copyJob('b', [origin]))).snapshotId).toBe(snapshotId);
});

test('the next reading there compares with the copy, and takes the changes that were watched', async () => {
  using _site = begin();
  // What was written just before a run is read again by the next one.
  await delay(50);
  const origin = await backUp('a');
  const since = (await snapshotsIn('a'))[0]?.record.startedMs ?? 0;
  const copy = completed(await engine.run(copyJob('b', [origin])));
  site.write({ 'deep/b.txt': 'changed' });
  const changes = { paths: [join(site.source, 'deep')], since };
  const job = site.job(site.backup(), { destination: place('b'), never: places().toReversed(), changes });
  const outcome = completed(await engine.run(job));
  expect(outcome.facts).toMatchObject({ from_changes: true, bytes_read: 'changed'.length });
  expect((await snapshotsIn('b')).at(-1)?.record.parent).toBe(copy.snapshotId);
});

test('what cannot be had from one is copied from the next, and nothing is left unsaid', async () => {
  using _site = begin();
  const [a, b] = [await backUp('a'), await backUp('b')];
  truncatePacks('a');
  const gone = { ...a, destination: { ...a.destination, name: 'gone', url: at('nowhere') } };
  const forgotten = { ...b, snapshotId: 'f'.repeat(64), jobId: 'backup_x' };
  const ended = await engine.run(copyJob('c', [gone, forgotten, a, b]));
  expect(completed(ended).facts).toMatchObject({ copied_from: 'b' });
  const notes = notesOf(ended).filter((text) => text.startsWith('Nothing is copied from'));
  expect(notes.map((text) => /from (\S+):/.exec(text)?.[1])).toEqual(['gone', 'b', 'a']);
});

test('a copy of which nothing can be had says so, for the source to be read', async () => {
  using _site = begin();
  const a = await backUp('a');
  truncatePacks('a');
  expect(failed(await engine.run(copyJob('b', [a])))).toMatchObject({ code: NOTHING_TO_COPY });
  expect(failed(await engine.run(copyJob('b', [])))).toMatchObject({ code: NOTHING_TO_COPY });
  expect(await snapshotsIn('b')).toEqual([]);
});

test('what its own destination does is what the job fails with', async () => {
  using _site = begin();
  const a = await backUp('a');
  const job = copyJob('b', [a]);
  const other = { ...job, destination: { ...job.destination, repositoryId: 'f'.repeat(32) } };
  expect(failed(await engine.run(other)).message).toContain('"b"');
});

test('when its own destination breaks in the middle of a copy no other origin is tried', async () => {
  using _site = begin();
  completed(await engine.run(copyJob('b', [await backUp('a')])));
  site.write({ 'new.txt': 'new' });
  const a = await backUp('a');
  rmSync(join(at('b'), 'packs'), { recursive: true });
  writeFileSync(join(at('b'), 'packs'), 'in its place');
  const ended = await engine.run(copyJob('b', [a, a]));
  expect(failed(ended).code).toMatch(/^DESTINATION_/);
  expect(notesOf(ended).join()).not.toContain('Nothing is copied');
});

test('one that reads first makes its repository like that of the other destination', async () => {
  using _site = begin();
  await backUp('a');
  const pass = { copyFrom: null, alike: [place('nowhere'), place('a')], spool: null };
  const ended = await engine.run(site.job(site.backup(), { destination: place('b'), pass }));
  completed(ended);
  const ids = await Promise.all(
    ['a', 'b'].map(
      async (name) => await opened(name, async ({ keyring: { idTree } }) => await Promise.resolve(idTree)),
    ),
  );
  expect(ids[0]?.equals(ids[1] ?? Buffer.alloc(0))).toBe(true);
  expect(notesOf(ended).join()).toContain('could not be set up like that of nowhere');
});

function truncatePacks(name: string): void {
  const packs = join(at(name), 'packs');
  const files = readdirSync(packs, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  expect(files.length).toBeGreaterThan(0);
  for (const { parentPath, name: file } of files) {
    const path = join(parentPath, file);
    truncateSync(path, Math.floor(statSync(path).size / 2));
  }
}
