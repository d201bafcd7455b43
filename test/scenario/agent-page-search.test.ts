/** The page's search over all snapshots, asked of the real agent: what is gone is found as well as what is there. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PageOf } from '../../src/api/route.ts';
import { File } from '../../src/api/schemas/file.ts';
import { openDaemonSite } from '../support/daemon-site.ts';
import { openPage } from '../support/daemon-page.ts';

const List = PageOf(File);

interface Found {
  readonly items: readonly File[];
  readonly next_cursor: string | null;
}

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

  const begin = await ask('q=report&limit=1');
  const rest = await ask(`q=report&limit=1&cursor=${encodeURIComponent(begin.next_cursor ?? '')}`);
  expect([...begin.items, ...rest.items]).toEqual(items);
  expect(rest.next_cursor).toBeNull();
  expect((await ask(`q=report&source=${encodeURIComponent('/elsewhere')}`)).items).toEqual([]);

  const other = await page.refused('GET', `/search?q=other&cursor=${begin.next_cursor ?? ''}`);
  expect(other.error?.code).toBe('INVALID_CURSOR');
  expect((await page.refused('GET', '/search')).error?.code).toBe('MISSING_FIELD');
});
