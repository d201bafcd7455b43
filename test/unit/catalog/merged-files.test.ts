import { describe, expect, it } from 'vitest';
import { mergePages, openCursor, type CatalogPage } from '../../../src/catalog/answers/merged-files.ts';
import type { FileQuery } from '../../../src/jobs/agent.ts';
import { directory, file } from '../../support/hand-made-snapshot.ts';
import { openFixture, query, type Fixture } from './catalog-fixture.ts';

/** All pages of a list of two catalogs. */
function listed(fixtures: Readonly<Record<string, Fixture>>, parts: Partial<FileQuery>): readonly string[] {
  const asked = query(parts);
  const page = (repositoryId: string, after?: string): CatalogPage => ({
    repositoryId,
    page: fixtures[repositoryId]?.reader.files({ ...asked, after }) ?? expect.fail(repositoryId),
  });
  const paths: string[] = [];
  let pages = Object.keys(fixtures).map((id) => page(id));
  for (;;) {
    const { items, next } = mergePages(pages, asked);
    paths.push(...items.map(({ path, source }) => `${source} ${path}`));
    if (next === null) return paths;
    expect(items).toHaveLength(asked.limit);
    pages = openCursor(next, asked).map(({ repositoryId, after }) => page(repositoryId, after));
  }
}

async function openTwo(): Promise<Disposable & { readonly both: Readonly<Record<string, Fixture>> }> {
  const [one, two] = [await openFixture(), await openFixture()];
  const docs = { a: file('1'), b: file('22'), 'b.txt': file('22'), sub: directory({ a: file('333') }) };
  await one.commit(directory({ docs: directory(docs), 'only in one': file('1') }), {
    paths: ['/one'] as never,
  });
  await two.commit(directory({ docs: directory({ ...docs, z: file('4444') }), y: file('22') }), {
    paths: ['/two'] as never,
  });
  await one.sync();
  await two.sync();
  return {
    both: { one, two },
    [Symbol.dispose]: () => {
      one[Symbol.dispose]();
      two[Symbol.dispose]();
    },
  };
}

describe('lists of several catalogs', () => {
  it.each(['path', 'name', 'size', 'modified'] as const)(
    'are one list by %s, the same in pages of any size',
    async (sort) => {
      using site = await openTwo();
      for (const view of ['flat', 'tree'] as const) {
        const path = view === 'flat' ? '/' : '/docs';
        const whole = listed(site.both, { sort, view, path, limit: 1_000 });
        expect(whole.toSorted()).toEqual(
          Object.values(site.both)
            .flatMap(({ reader }) => reader.files(query({ view, path, limit: 1_000 })).items)
            .map(({ path: at, source }) => `${source} ${at}`)
            .toSorted(),
        );
        for (const limit of [1, 2, 3, 5]) {
          expect(listed(site.both, { sort, view, path, limit }), `${view} ${limit}`).toEqual(whole);
        }
      }
    },
  );

  it('come in the order of each of them', async () => {
    using site = await openTwo();
    expect(listed(site.both, { path: '/docs', type: 'file', limit: 2 })).toEqual([
      '/one /docs/a',
      '/two /docs/a',
      '/one /docs/b',
      '/two /docs/b',
      '/one /docs/b.txt',
      '/two /docs/b.txt',
      '/one /docs/sub/a',
      '/two /docs/sub/a',
      '/two /docs/z',
    ]);
  });

  it('give the entry itself where the path is nowhere a directory', async () => {
    using site = await openTwo();
    expect(listed(site.both, { path: '/docs/a' })).toEqual(['/one /docs/a', '/two /docs/a']);
  });

  it('refuse a cursor that none of their pages ended with', () => {
    for (const text of ['', '{}', '[]', '["files flat path","/a",[1]]', '["files tree path","/a",[]]']) {
      expect(() => openCursor(text, query()), text).toThrow('cannot be continued');
    }
  });
});
