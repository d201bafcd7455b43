/** One agent whose snapshots lie in several repositories: what it tells of them is told of all. */
// Turn 4 of 8.
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { openLocalDestination } from '../../src/destination/local/local.ts';
import { momentOf, type FileQuery } from '../../src/jobs/agent.ts';
import type { Job } from '../../src/jobs/job.ts';
import { openRepository } from '../../src/repository/opening.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { rewriteSnapshot } from '../../src/repository/renew/replace-snapshot.ts';
import { listSnapshots } from '../../src/repository/snapshots.ts';
import { openDaemonSite, type DaemonSite } from '../support/daemon-site.ts';

interface Page {
  readonly data: {
    readonly items: readonly { readonly id: string; readonly path: string; readonly change: string }[];
    readonly has_more: boolean;
    readonly next_cursor: string | null;
  };
}

const { signal } = new AbortController();

/** Named by its URL, in no settings. */
function otherPlace({ directory }: DaemonSite): string {
  return pathToFileURL(join(directory, 'drive')).href;
}

async function backUpTo(
  site: DaemonSite,
  destination: string | undefined,
  source = site.source,
): Promise<Job> {
  const job = await site.ended(
    (await site.agent.requestBackup({ source, destination, options: {} }, 'api')).id,
  );
  expect(job).toMatchObject({ status: 'completed' });
  return job;
}

function secondSource({ directory }: DaemonSite): string {
  const path = join(directory, 'second');
  mkdirSync(path);
  writeFileSync(join(path, 'b.txt'), 'of the second source');
  return path;
}

/** All items of a list, asked for in pages. */
async function paged(
  site: DaemonSite,
  path: string,
  each: (ids: readonly string[]) => Promise<void> = async () => await Promise.resolve(),
): Promise<Page['data']['items']> {
  const items: Page['data']['items'][number][] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const more: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const { data }: Page = await site.get<Page>(`${path}${more}`);
    expect(data.has_more).toBe(data.next_cursor !== null);
    items.push(...data.items);
    cursor = data.next_cursor;
    await each(data.items.map(({ id }) => id));
  }
  return items;
}

async function contentOf(site: DaemonSite, snapshot: string, path: string): Promise<string> {
  const parts: Uint8Array[] = [];
  const { read } = await site.agent.content(snapshot, path);
  for await (const part of read(undefined, signal)) parts.push(part);
  return Buffer.concat(parts).toString();
}

const files = (parts: Partial<FileQuery> = {}): FileQuery => ({
  snapshot: 'latest',
  view: 'flat',
  sort: 'path',
  type: 'file',
  limit: 100,
  ...parts,
});

describe('a repository at a place that a request named by its URL', () => {
  test('is known after a restart of the agent as before', async () => {
    await using site = await openDaemonSite();
    site.write({ 'a.txt': 'one' });
    const place = otherPlace(site);
    const job = await backUpTo(site, place);
    const id = String(job.snapshot_id);
    const path = join(site.source, 'a.txt');

    await site.restart();

    expect((await site.get<Page>('/v1/snapshots')).data.items).toMatchObject([{ id }]);
    expect(await site.agent.snapshot(id)).toMatchObject({ id, destination: place });
    expect(await site.agent.newestOf(site.source, undefined)).toMatchObject({ id, destination: place });
    expect(await site.agent.snapshotOfBackup(job.id)).toMatchObject({ id, destination: place });
    expect((await site.agent.files(files())).items).toMatchObject([{ path, snapshot_id: id }]);
    expect(await site.agent.versions(path, undefined)).toMatchObject([{ path, change: 'added' }]);
    expect(await contentOf(site, id, path)).toBe('one');
    await site.agent.forgetSnapshot(id);
    expect((await site.get<Page>('/v1/snapshots')).data.items).toEqual([]);
  });

  test('answers from its catalog while it is away, and holds up nothing that is there', async () => {
    await using site = await openDaemonSite();
    site.write({ 'a.txt': 'one' });
    const { snapshot_id: here } = await backUpTo(site, undefined);
    const { snapshot_id: away } = await backUpTo(site, otherPlace(site), secondSource(site));

    // Both are taken in before the drive goes.
    expect(await site.agent.snapshots({ limit: 10 })).toHaveLength(2);
    await site.restart(() => renameSync(join(site.directory, 'drive'), join(site.directory, 'elsewhere')));

    const { data } = await site.get<Page>('/v1/snapshots');
    expect(data.items.map(({ id }) => id)).toEqual([away, here]);
    expect((await site.agent.files(files())).items.map(({ snapshot_id: id }) => id)).toEqual([away, here]);
    expect(await contentOf(site, 'latest', join(site.source, 'a.txt'))).toBe('one');
    const lost = contentOf(site, 'latest', join(site.directory, 'second', 'b.txt'));
    await expect(lost).rejects.toMatchObject({ side: 'destination' });
  });
});

async function openDrive(site: DaemonSite): Promise<Repository> {
  return await openRepository(
    await openLocalDestination(join(site.directory, 'drive')),
    { kind: 'passphrase', text: 'correct horse battery staple' },
    { clock: systemClock, stateDirectory: undefined, allowWeakCost: true },
    signal,
  );
}

test('the list of snapshots is the same in pages as at once, also when they are deleted on the way', async () => {
  await using site = await openDaemonSite();
  for (let i = 0; i < 3; i += 1) {
    site.write({ 'a.txt': String(i) });
    await backUpTo(site, undefined);
    await backUpTo(site, otherPlace(site));
  }
  const { data } = await site.get<Page>('/v1/snapshots?limit=100');
  const all = data.items.map(({ id }) => id);
  expect(all).toHaveLength(6);
  expect((await paged(site, '/v1/snapshots?limit=1')).map(({ id }) => id)).toEqual(all);
  expect((await paged(site, '/v1/snapshots?limit=4')).map(({ id }) => id)).toEqual(all);

  const path = encodeURIComponent(join(site.source, 'a.txt'));
  const versions = await paged(site, `/v1/files/versions?path=${path}&limit=1`);
  // Every second snapshot has what the one before it, in the other repository, has.
  expect(versions.map(({ change }) => change)).toEqual([
    'unchanged',
    'modified',
    'unchanged',
    'modified',
    'unchanged',
    'added',
  ]);

  const deleted = await paged(site, '/v1/snapshots?limit=2', async (ids) => {
    for (const id of ids) await site.agent.forgetSnapshot(id);
  });
  expect(deleted.map(({ id }) => id)).toEqual(all);
  expect(await paged(site, '/v1/snapshots?limit=2')).toEqual([]);
});

test('files are those of the newest snapshot of every source, wherever it lies, and can be had from there', async () => {
  await using site = await openDaemonSite();
  const second = secondSource(site);
  const [a, b] = [join(site.source, 'a.txt'), join(second, 'b.txt')];
  site.write({ 'a.txt': 'old', 'gone.txt': '' });
  const old = await backUpTo(site, undefined);
  const { created_at: between } = await site.agent.snapshot(String(old.snapshot_id));
  await backUpTo(site, undefined, second);
  site.write({ 'a.txt': 'new', 'c.txt': '' });
  rmSync(join(site.source, 'gone.txt'));
  await backUpTo(site, otherPlace(site));

  const newest = (await paged(site, '/v1/files?type=file&limit=100')).map(({ path }) => path);
  expect(newest).toEqual([b, a, join(site.source, 'c.txt')]);
  for (const sort of ['path', 'name', 'size', 'modified']) {
    const whole = await paged(site, `/v1/files?sort=${sort}&limit=1000`);
    expect(await paged(site, `/v1/files?sort=${sort}&limit=1`)).toEqual(whole);
  }
  expect((await site.agent.files(files({ snapshot: momentOf(between) }))).items).toMatchObject([
    { path: a, snapshot_id: old.snapshot_id },
    { path: join(site.source, 'gone.txt') },
  ]);

  // What a list shows can be downloaded by the same choice.
  expect(await contentOf(site, 'latest', a)).toBe('new');
  expect(await contentOf(site, 'latest', b)).toBe('of the second source');
  expect(await contentOf(site, momentOf(between), a)).toBe('old');
  await expect(contentOf(site, momentOf(between), b)).rejects.toMatchObject({ code: 'PATH_NOT_IN_SNAPSHOT' });
  await expect(contentOf(site, momentOf(0), a)).rejects.toMatchObject({ code: 'SNAPSHOT_NOT_FOUND' });
  expect((await site.agent.versions(a, undefined)).map(({ change }) => change)).toEqual([
    'modified',
    'added',
  ]);
  expect(await site.agent.versions(join(site.source, 'gone.txt'), undefined)).toMatchObject([
    { change: 'removed' },
    { change: 'added', snapshot_id: old.snapshot_id },
  ]);
});

test('the snapshot of a backup is found after it was tagged, which gave it another id', async () => {
  await using site = await openDaemonSite();
  site.write({ 'a.txt': 'one' });
  const job = await backUpTo(site, otherPlace(site));
  const repository = await openDrive(site);
  const [made] = (await listSnapshots(repository, signal)).live;
  if (made === undefined) throw new Error('nothing was saved');
  const tags = [...made.record.tags, 'kept'];
  const { id } = await rewriteSnapshot(repository, made, { tags, pinned: true }, signal);
  await repository.close();
  expect(id).not.toBe(job.snapshot_id);

  await site.restart();

  expect(await site.agent.snapshotOfBackup(job.id)).toMatchObject({ id, tags: ['kept'], backup_id: job.id });
  await site.agent.forgetSnapshot(id);
  await expect(site.agent.snapshotOfBackup(job.id)).rejects.toMatchObject({ code: 'SNAPSHOT_NOT_FOUND' });
});
