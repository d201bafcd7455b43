/** The page's search and lists of directories, asked of the real agent: what is gone is found as well as what is there. */
// Turn 5 of 8.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { ListingOf } from '../../src/api/framework/route.ts';
import { Entries, SearchHit } from '../../src/api/schemas/page/entries.ts';
import { openDaemonSite } from '../support/daemon-site.ts';
import { openPage } from '../support/daemon-page.ts';

const List = ListingOf(SearchHit);

interface Found {
  readonly items: readonly SearchHit[];
  readonly next_cursor: string | null;
}

it('gives the entries of a directory from any place on', async () => {
  await using site = await openDaemonSite();
  site.write({ 'many/a': '', 'many/b': '22', 'many/c': '333', other: 'x' });
  const { snapshot_id: snapshot } = await site.backUp();
  const page = await openPage(site.daemon);
  const entries = async (more: Record<string, string>): Promise<readonly unknown[]> => {
    const query = new URLSearchParams({
      snapshot: String(snapshot),
      path: join(site.source, 'many'),
      ...more,
    });
    const { data } = await page.ask<Entries>('GET', `/entries?${query}`, Entries);
    return [data.total, ...data.items.map(({ name }) => name)];
  };
  expect(await entries({})).toEqual([3, 'a', 'b', 'c']);
  expect(await entries({ offset: '1', limit: '1' })).toEqual([3, 'b']);
  expect(await entries({ offset: '2', sort: 'size' })).toEqual([3, 'a']);
  expect(await entries({ offset: '3' })).toEqual([3]);

  const refused = async (query: string) => (await page.refused('GET', `/entries?${query}`)).error?.code;
  expect(await refused(`snapshot=${String(snapshot)}`)).toBe('MISSING_FIELD');
  expect(await refused(`snapshot=${String(snapshot)}&path=/nowhere`)).toBe('PATH_NOT_IN_SNAPSHOT');
  expect(await refused(`snapshot=${'ab'.repeat(32)}&path=/`)).toBe('SNAPSHOT_NOT_FOUND');
});

it('finds each path of any snapshot once, as it was last', async () => {
  await using site = await openDaemonSite();
  site.write({ 'report 1': 'one', 'old/report 2': 'two', other: 'x' });
  const first = await site.backUp();
  rmSync(join(site.source, 'old'), { recursive: true });
  site.write({ 'report 1': 'longer' });
  const second = await site.backUp();
  const page = await openPage(site.daemon);
  const ask = async (query: string): Promise<Found> =>
    (await page.ask<Found>('GET', `/search?${query}`, List)).data;

  const { items } = await ask('q=REPORT');
  const facts = items.map(({ path, size_bytes: size, snapshot_id: id }) => [path, size, id]);
  expect(facts).toHaveLength(2);
  expect(facts).toContainEqual([join(site.source, 'report 1'), 6, second.snapshot_id]);
  expect(facts).toContainEqual([join(site.source, 'old/report 2'), 3, first.snapshot_id]);

  // What was deleted is listed without a search: the folder, and not each file in it.
  const gone = await ask('of=deleted');
  expect(gone.items.map(({ path, deleted }) => [path, deleted])).toEqual([[join(site.source, 'old'), true]]);
  expect((await ask('of=deleted&q=report')).items.map(({ path }) => path)).toEqual([
    join(site.source, 'old/report 2'),
  ]);

  const begin = await ask('q=report&limit=1');
  const rest = await ask(`q=report&limit=1&cursor=${encodeURIComponent(begin.next_cursor ?? '')}`);
  expect([...begin.items, ...rest.items]).toEqual(items);
  expect(rest.next_cursor).toBeNull();
  expect((await ask(`q=report&source=${encodeURIComponent('/elsewhere')}`)).items).toEqual([]);

  const other = await page.refused('GET', `/search?q=other&cursor=${begin.next_cursor ?? ''}`);
  expect(other.error?.code).toBe('INVALID_CURSOR');
  expect((await page.refused('GET', '/search')).error?.code).toBe('MISSING_FIELD');
});

it('finds what lies in another repository, too', async () => {
  await using site = await openDaemonSite();
  site.write({ 'report 1': 'one' });
  await site.backUp();
  const second = join(site.directory, 'second');
  mkdirSync(second);
  writeFileSync(join(second, 'report 2'), 'two');
  const destination = pathToFileURL(join(site.directory, 'drive')).href;
  for (const source of [second, site.source]) {
    const { id } = await site.agent.requestBackup({ source, destination, options: {} }, 'api');
    expect(await site.ended(id)).toMatchObject({ status: 'completed' });
  }
  const page = await openPage(site.daemon);
  const ask = async (query: string): Promise<Found> =>
    (await page.ask<Found>('GET', `/search?${query}`, List)).data;

  const { items, next_cursor: next } = await ask('q=report');
  expect(items.map(({ path }) => path)).toEqual([join(site.source, 'report 1'), join(second, 'report 2')]);
  expect(next).toBeNull();
  const begin = await ask('q=report&limit=1');
  const rest = await ask(`q=report&limit=1&cursor=${encodeURIComponent(begin.next_cursor ?? '')}`);
  expect([...begin.items, ...rest.items]).toEqual(items);
});

it('sends a folder of a snapshot as an archive that tar unpacks', async () => {
  await using site = await openDaemonSite();
  site.write({ 'many/a': 'one', 'many/below/b': 'two', other: 'x' });
  const { snapshot_id: snapshot } = await site.backUp();
  const page = await openPage(site.daemon);
  const query = new URLSearchParams({ snapshot: String(snapshot), path: join(site.source, 'many') });
  const reply = await page.fetch('GET', `/archive?${query}`);
  expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'application/x-tar']);
  expect(reply.headers.get('content-disposition')).toContain('filename="many.tar"');
  const target = join(site.directory, 'unpacked');
  mkdirSync(target);
  execFileSync('tar', ['-x', '-C', target], { input: Buffer.from(await reply.arrayBuffer()) });
  expect(readFileSync(join(target, 'many/a'), 'utf8')).toBe('one');
  expect(readFileSync(join(target, 'many/below/b'), 'utf8')).toBe('two');
  expect((await page.refused('GET', `/archive?snapshot=${String(snapshot)}&path=/nowhere`)).error?.code).toBe(
    'PATH_NOT_IN_SNAPSHOT',
  );
});
