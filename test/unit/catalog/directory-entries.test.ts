import { describe, expect, it } from 'vitest';
import type { EntriesRequest } from '../../../src/catalog/answers/directory-entries.ts';
import { directory, file } from '../../support/hand-made-snapshot.ts';
import { openFixture, query, type Fixture } from './catalog-fixture.ts';

function entries({ reader }: Fixture, request: Partial<EntriesRequest> & { readonly snapshot: string }) {
  const page = reader.entries({ path: '/d', sort: 'name', offset: 0, limit: 100, ...request });
  return { names: page.items.map(({ name }) => name), total: page.total };
}

describe('directoryEntries', () => {
  it.each(['name', 'size', 'modified'] as const)(
    'gives from any place on what the list by %s has there',
    async (sort) => {
      using fixture = await openFixture();
      const names = Array.from({ length: 70 }, (_, i) => `n${String((i * 37) % 70).padStart(3, '0')}`);
      const files = names.map(
        (name, i) =>
          [
            name,
            file('x'.repeat((i * 13) % 29), { mtimeNs: BigInt((i * 7) % 31) * 1_000_000_000n }),
          ] as const,
      );
      const deeper = directory({ 'not here': file('') });
      const { id } = await fixture.commit(
        directory({ d: directory({ ...Object.fromEntries(files), deeper }), beside: file('') }),
      );
      await fixture.sync();
      const listed = query({ snapshot: id, path: '/d', view: 'tree', sort, limit: 1_000 });
      const all = fixture.reader.files(listed).items.map(({ name }) => name);
      expect(all).toHaveLength(71);

      for (const [offset, limit] of [
        [0, 10],
        [0, 1_000],
        [10, 10],
        [65, 10],
        [71, 10],
        [0, 10],
      ] as const) {
        const expected = { names: all.slice(offset, offset + limit), total: 71 };
        expect(entries(fixture, { snapshot: id, sort, offset, limit })).toEqual(expected);
      }
    },
  );

  it('tells snapshots and directories from each other, and what was written since', async () => {
    using fixture = await openFixture();
    const first = await fixture.commit(directory({ d: directory({ a: file(''), b: file('') }) }));
    await fixture.sync();
    expect(entries(fixture, { snapshot: first.id, offset: 1 })).toEqual({ names: ['b'], total: 2 });
    const second = await fixture.commit(
      directory({ d: directory({ b: file(''), c: file('') }), e: file('') }),
    );
    await fixture.sync();
    expect(entries(fixture, { snapshot: second.id, offset: 1 })).toEqual({ names: ['c'], total: 2 });
    expect(entries(fixture, { snapshot: first.id, offset: 1 })).toEqual({ names: ['b'], total: 2 });
    expect(entries(fixture, { snapshot: second.id, path: '/', offset: 1 })).toEqual({
      names: ['e'],
      total: 2,
    });
  });

  it('gives a file by itself, and nothing that is not there', async () => {
    using fixture = await openFixture();
    const { id } = await fixture.commit(directory({ f: file('1'), empty: directory({}) }));
    await fixture.sync();
    expect(entries(fixture, { snapshot: id, path: '/f' })).toEqual({ names: ['f'], total: 1 });
    expect(entries(fixture, { snapshot: id, path: '/empty' })).toEqual({ names: [], total: 0 });
    expect(() => entries(fixture, { snapshot: id, path: '/g' })).toThrow('/g is not in the backup');
    expect(() => entries(fixture, { snapshot: 'ab'.repeat(32) })).toThrow('There is no snapshot');
  });
});
