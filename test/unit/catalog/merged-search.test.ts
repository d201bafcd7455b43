import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FULL_KEYS } from '../../../src/base/stored-by.ts';
import { asByteString } from '../../../src/base/byte-path.ts';
import { decodeCursor } from '../../../src/catalog/answers/list-order.ts';
import {
  cursorBehind,
  type FoundFile,
  type SearchRequest,
} from '../../../src/catalog/answers/file-search.ts';
import { searchAll, type SearchedCatalog } from '../../../src/catalog/answers/merged-search.ts';
import { directory, file } from '../../support/hand-made-snapshot.ts';
import { openFixture, type Fixture } from './catalog-fixture.ts';

const REQUEST: SearchRequest = { q: 'n', source: undefined, isGone: false, limit: 100, after: undefined };

function catalogOf(repositoryId: string, { reader }: Fixture): SearchedCatalog {
  return {
    repositoryId,
    search: async (request) => await Promise.resolve(reader.search(request)),
    newestOf: async (paths, source) => await Promise.resolve(reader.newestOf(paths, source)),
  };
}

/** A path and when it was backed up. */
type Saved = readonly [name: string, time: number];

/** A catalog that finds these. */
function finds(repositoryId: string, saved: readonly Saved[]): SearchedCatalog & { asked: number } {
  const files = saved.map(([name, time], i): FoundFile => ({
    host: 'host',
    path: asByteString(`/${name}`),
    node: i + 1,
    isGone: false,
    item: {
      path: `/${name}`,
      path_b64: null,
      name,
      type: 'file',
      size_bytes: 0,
      modified_at: 0,
      mode: 0,
      link_target: null,
      children_count: null,
      snapshot_id: `${repositoryId} ${time}`,
      backup_id: null,
      source: '/',
      stored_by: FULL_KEYS,
      backed_up_at: time,
    },
  }));
  return {
    repositoryId,
    asked: 0,
    async search({ limit, after }) {
      this.asked += 1;
      const from = after === undefined ? 0 : decodeCursor(after, repositoryId, 'search').tie;
      const items = files.slice(from, from + limit);
      const last = items.at(-1);
      const isAll = from + limit >= files.length || last === undefined;
      const next = isAll ? null : cursorBehind({ epoch: repositoryId }, last);
      return await Promise.resolve({ epoch: repositoryId, items, unreadable: 0, next });
    },
    newestOf: async (paths) =>
      await Promise.resolve(files.filter(({ path }) => paths.some((one) => one === path))),
  };
}

async function paged(catalogs: readonly SearchedCatalog[], limit: number): Promise<readonly string[]> {
  const found: string[] = [];
  let after: string | undefined;
  do {
    const { items, next } = await searchAll(catalogs, { ...REQUEST, limit, after });
    expect(items.length).toBeLessThanOrEqual(limit);
    found.push(...items.map(({ item: { path, snapshot_id: id } }) => `${path} ${id}`));
    after = next ?? undefined;
  } while (after !== undefined);
  return found;
}

/** Each path where the first list has it, with the list and the time that it was last saved in and at. */
function newestOf(lists: readonly (readonly Saved[])[]): readonly string[] {
  const newest = new Map<string, { readonly list: number; readonly time: number }>();
  for (const [list, saved] of lists.entries()) {
    for (const [name, time] of saved) {
      if (time > (newest.get(name)?.time ?? 0)) newest.set(name, { list, time });
    }
  }
  return [...newest].map(([name, { list, time }]) => `/${name} ${list} ${time}`);
}

describe('a search in several catalogs', () => {
  it('finds what any of them has, once, as it was last', async () => {
    using one = await openFixture();
    using other = await openFixture();
    await one.commit(directory({ 'n-both': file('1'), 'n-newer-there': file('1'), 'n-here': file('1') }));
    await other.commit(directory({}));
    await other.commit(directory({ 'n-newer-there': file('22'), 'n-there': file('22') }));
    await one.commit(directory({}));
    await one.commit(directory({ 'n-both': file('333') }));
    await other.commit(directory({ 'n-both': file('22') }), { startedMs: 7_200_000 });
    await one.sync();
    await other.sync();

    const { items, next } = await searchAll([catalogOf('a', one), catalogOf('b', other)], REQUEST);
    expect(items.map(({ item: { path, size_bytes: size } }) => `${path} ${size}`)).toEqual([
      '/n-both 3',
      '/n-here 1',
      '/n-newer-there 2',
      '/n-there 2',
    ]);
    expect(next).toBeNull();
  });

  it('keeps apart what other machines have at the same path', async () => {
    using one = await openFixture();
    using other = await openFixture();
    await one.commit(directory({ note: file('1') }));
    await other.commit(directory({ note: file('22') }), { host: 'another' });
    await one.sync();
    await other.sync();

    const { items } = await searchAll([catalogOf('a', one), catalogOf('b', other)], REQUEST);
    expect(items.map(({ item }) => item.size_bytes)).toEqual([1, 2]);
  });

  it('is the same in pages of any size', async () => {
    const names = Array.from({ length: 12 }, (_, i) => `n${i}`);
    const time = fc.integer({ min: 1, max: 9 });
    const saved = fc.uniqueArray(fc.tuple(fc.constantFrom(...names), time), { selector: ([name]) => name });
    const limits = fc.integer({ min: 1, max: 14 });
    await fc.assert(
      fc.asyncProperty(fc.array(saved, { minLength: 1, maxLength: 4 }), limits, async (lists, limit) => {
        const catalogs = lists.map((list, i) => finds(String(i), list));
        expect(await paged(catalogs, limit)).toEqual(newestOf(lists));
      }),
    );
  });

  it('passes over the copy of a large one in a bounded number of questions, with a cursor', async () => {
    const all = Array.from({ length: 12_000 }, (_, i): Saved => [`n${i}`, 1]);
    const copy = finds('copy', [...all, ['only there', 1]]);
    const { next } = await searchAll([finds('first', all), copy], { ...REQUEST, limit: 12_000 });
    expect(copy.asked).toBe(0);
    const passed = await searchAll([finds('first', all), copy], { ...REQUEST, after: next ?? '' });
    expect(passed.items).toEqual([]);
    expect(copy.asked).toBe(10);
    const rest = await searchAll([finds('first', all), copy], { ...REQUEST, after: passed.next ?? '' });
    expect(rest.items.map(({ item }) => item.name)).toEqual(['only there']);
    expect(rest.next).toBeNull();
  });

  it.each([
    ['none', 'nonsense'],
    ['of another kind', '[1,null]'],
    ['of a repository that is not known any more', '["gone",null]'],
  ])('refuses a cursor that is %s', async (_, after) => {
    await expect(searchAll([finds('a', [])], { ...REQUEST, after })).rejects.toMatchObject({
      code: 'INVALID_CURSOR',
    });
  });
});
