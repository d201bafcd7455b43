// Turn 5 of 8.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SearchRequest } from '../../../src/catalog/answers/file-search.ts';
import { searchAll } from '../../../src/catalog/answers/merged-search.ts';
import { directory, file, type HandMadeDirectory } from '../../support/hand-made-snapshot.ts';
import { openFixture, type Fixture } from './catalog-fixture.ts';

const REQUEST: SearchRequest = { q: '', source: undefined, isGone: true, limit: 100, after: undefined };

function gone({ reader }: Fixture, request: Partial<SearchRequest> = {}): readonly string[] {
  const { items } = reader.search({ ...REQUEST, ...request });
  return items.map(({ item: { path, size_bytes: size } }) => `${path} ${size}`);
}

describe('what is gone', () => {
  it('is what the newest snapshot lacks, the last to disappear first, as it was last', async () => {
    using fixture = await openFixture();
    await fixture.commit(directory({ early: file('1'), late: file('1'), stays: file('1') }));
    await fixture.commit(directory({ late: file('22'), stays: file('22') }));
    const last = await fixture.commit(directory({ late: file('333'), stays: file('333') }));
    await fixture.commit(directory({ stays: file('4444') }));
    await fixture.sync();

    expect(gone(fixture)).toEqual(['/late 3', '/early 1']);
    expect(fixture.reader.search(REQUEST).items[0]?.item.snapshot_id).toBe(last.id);
    expect(gone(fixture, { q: 'EAR' })).toEqual(['/early 1']);
    expect(gone(fixture, { q: 'stays' })).toEqual([]);
    // A search of everything says of each hit whether it is gone.
    const all = fixture.reader.search({ ...REQUEST, q: '*', isGone: false });
    expect(all.items.map(({ path, isGone }) => [path, isGone])).toEqual([
      ['/early', true],
      ['/late', true],
      ['/stays', false],
    ]);
  });

  it('is nothing that came back', async () => {
    using fixture = await openFixture();
    await fixture.commit(directory({ a: file('1') }));
    await fixture.commit(directory({ b: file('1') }));
    await fixture.commit(directory({ a: file('1'), b: file('1') }));
    await fixture.sync();
    expect(gone(fixture)).toEqual([]);
  });

  it('is a directory and not each file in it, but each file that was gone before it', async () => {
    using fixture = await openFixture();
    await fixture.commit(
      directory({ d: directory({ a: file('1'), b: file('22'), e: directory({ c: file('') }) }) }),
    );
    await fixture.commit(directory({ d: directory({ b: file('22'), e: directory({ c: file('') }) }) }));
    await fixture.commit(directory({}));
    await fixture.sync();
    expect(gone(fixture)).toEqual(['/d 2', '/d/a 1']);
  });

  it('is of each source by its own newest snapshot', async () => {
    using fixture = await openFixture();
    const at = (path: string) => ({ paths: [path as never] });
    await fixture.commit(directory({ docs: directory({ a: file('1') }) }), at('/docs'));
    await fixture.commit(directory({ pictures: directory({ b: file('22') }) }), at('/pictures'));
    await fixture.commit(directory({ docs: directory({}) }), at('/docs'));
    await fixture.sync();
    expect(gone(fixture)).toEqual(['/docs/a 1']);
    expect(gone(fixture, { source: '/pictures' })).toEqual([]);
  });

  it('is not what another repository has in a newer snapshot', async () => {
    using one = await openFixture();
    using other = await openFixture();
    await one.commit(directory({ note: file('1'), lost: file('') }));
    await one.commit(directory({}));
    await other.commit(directory({ note: file('22') }), { startedMs: 9 * 3_600_000 });
    await one.sync();
    await other.sync();
    const catalogs = [one, other].map(({ reader }, index) => ({
      repositoryId: String(index),
      search: async (request: SearchRequest) => await Promise.resolve(reader.search(request)),
      newestOf: async (paths: readonly string[], source: string | undefined) =>
        await Promise.resolve(reader.newestOf(paths, source)),
    }));
    const { items } = await searchAll(catalogs, REQUEST);
    expect(items.map(({ item }) => item.path)).toEqual(['/lost']);
  });

  it('comes in pages that together are all, for any history', async () => {
    const names = fc.subarray(['a', 'b', 'c', 'd/a', 'd/b', 'd/e/a', 'd/e/b']);
    await fc.assert(
      fc.asyncProperty(fc.array(names, { minLength: 1, maxLength: 6 }), async (history) => {
        using fixture = await openFixture();
        for (const state of history) await fixture.commit(treeOf(state));
        await fixture.sync();
        const paths: string[] = [];
        let after: string | undefined;
        do {
          const page = fixture.reader.search({ ...REQUEST, limit: 2, after });
          paths.push(...page.items.map(({ item }) => item.path));
          after = page.next ?? undefined;
        } while (after !== undefined);
        expect(new Set(paths).size).toBe(paths.length);
        expect(paths.toSorted()).toEqual(expected(history).toSorted());
      }),
      { numRuns: 60 },
    );
  });
});

function treeOf(paths: readonly string[]): HandMadeDirectory {
  const heads = [...new Set(paths.map((path) => path.split('/', 1)[0] ?? ''))];
  return directory(
    Object.fromEntries(
      heads.map((head) => {
        const below = paths
          .filter((path) => path.startsWith(`${head}/`))
          .map((path) => path.slice(head.length + 1));
        return [head, below.length === 0 ? file('x') : treeOf(below)];
      }),
    ),
  );
}

/** Every entry with the last state that had it, unless its directory was last there at the same time. */
function expected(history: readonly (readonly string[])[]): readonly string[] {
  const last = new Map<string, number>();
  for (const [index, state] of history.entries())
    for (const path of state.flatMap(withDirectories)) last.set(path, index);
  return [...last].flatMap(([path, index]) => {
    const above = path.slice(0, path.lastIndexOf('/'));
    return index === history.length - 1 || last.get(above) === index ? [] : [path];
  });
}

function withDirectories(path: string): readonly string[] {
  const parts = path.split('/');
  return parts.map((_, index) => `/${parts.slice(0, index + 1).join('/')}`);
}
