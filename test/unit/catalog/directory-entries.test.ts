import { describe, expect, it } from 'vitest';
import type { ByteString } from '../../../src/base/byte-path.ts';
import { RequestError } from '../../../src/base/errors.ts';
import type { EntriesRequest } from '../../../src/catalog/answers/directory-entries.ts';
import { directory, file, type HandMadeNode } from '../../support/hand-made-snapshot.ts';
import { openFixture, query, type Fixture } from './catalog-fixture.ts';

function entries({ reader }: Fixture, request: Partial<EntriesRequest> & { readonly snapshot: string }) {
  const page = reader.entries({ path: '/d', sort: 'name', offset: 0, limit: 100, ...request });
  return { names: page.items.map(({ item: { name } }) => name), total: page.total };
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

  const since = ({ reader }: Fixture, snapshot: string, path = '/d') =>
    Object.fromEntries(
      reader
        .entries({ snapshot, path, sort: 'name', offset: 0, limit: 100 })
        .items.map(({ item: { name }, since: became }) => [name, became]),
    );

  it('says what was deleted and changed since, by content and not by time', async () => {
    using fixture = await openFixture();
    const older = { same: file('1'), touched: file('2'), edited: file('3'), gone: file('4') };
    const first = await fixture.commit(
      directory({ d: directory({ ...older, in: directory({ f: file('5') }), left: directory({}) }) }),
    );
    const newer = { same: file('1'), touched: file('2', { mtimeNs: 7n }), edited: file('0') };
    const second = await fixture.commit(
      directory({ d: directory({ ...newer, in: directory({ f: file('6') }), left: directory({}) }) }),
    );
    await fixture.sync();
    expect(since(fixture, first.id)).toEqual({
      edited: 'changed',
      gone: 'deleted',
      in: 'changed',
      left: null,
      same: null,
      touched: null,
    });
    expect(Object.values(since(fixture, second.id))).toEqual([null, null, null, null, null]);
    const third = await fixture.commit(directory({}));
    await fixture.sync();
    expect(new Set(Object.values(since(fixture, second.id)))).toEqual(new Set(['deleted']));
    expect(since(fixture, third.id, '/')).toEqual({});
  });

  it('takes a folder for changed only if something in it is, at any depth', async () => {
    using fixture = await openFixture();
    const folder = (mtimeNs: bigint, more: Record<string, HandMadeNode> = {}) =>
      directory({ a: directory({ b: directory({ f: file('1', { mtimeNs }), ...more }) }) });
    const first = await fixture.commit(
      directory({ d: directory({ touched: folder(1n), moved: folder(1n, { x: file('2') }) }) }),
    );
    await fixture.commit(
      directory({ d: directory({ touched: folder(2n), moved: folder(1n, { y: file('2') }) }) }),
    );
    await fixture.sync();
    expect(since(fixture, first.id)).toEqual({ touched: null, moved: 'changed' });
    expect(since(fixture, first.id, '/d/moved/a')).toEqual({ b: 'changed' });
  });

  it('goes by the time of a large file, whose chunks may be cut elsewhere', async () => {
    using fixture = await openFixture();
    const files = (letter: string, mtimeNs: bigint) => ({
      large: file(letter.repeat(200_000), { mtimeNs: 1n }),
      later: file(letter.repeat(200_000), { mtimeNs }),
      small: file(letter.repeat(100_000), { mtimeNs: 1n }),
    });
    const first = await fixture.commit(directory({ d: directory(files('a', 1n)) }));
    await fixture.commit(directory({ d: directory(files('b', 2n)) }));
    await fixture.sync();
    expect(since(fixture, first.id)).toEqual({ large: null, later: 'changed', small: 'changed' });
  });

  it('does not take for deleted what the newest backup could not read', async () => {
    using fixture = await openFixture();
    const first = await fixture.commit(
      directory({ d: directory({ closed: file('1'), gone: file('2') }), e: directory({ f: file('3') }) }),
    );
    const problem = (path: string) => ({ path: path as ByteString, code: 'EACCES', message: '' });
    await fixture.commit(directory({ d: directory({}) }), {
      status: 'partial',
      errors: [problem('/d/closed'), problem('/e')],
    });
    await fixture.sync();
    expect(since(fixture, first.id)).toEqual({ closed: null, gone: 'deleted' });
    expect(since(fixture, first.id, '/e')).toEqual({ f: null });
  });

  it('says of a path that is not there whether other snapshots have it', async () => {
    using fixture = await openFixture();
    const ids: string[] = [];
    for (const names of [['a'], ['a', 'b'], ['b'], ['a', 'b', 'c']]) {
      const inside = Object.fromEntries(names.map((name) => [name, directory({})]));
      ids.push((await fixture.commit(directory({ d: directory(inside) }))).id);
    }
    await fixture.sync();
    const existed = (at: number, path: string): unknown => {
      try {
        return entries(fixture, { snapshot: ids[at] ?? '', path }).total;
      } catch (error) {
        return error instanceof RequestError ? [error.code, error.details['existed']] : error;
      }
    };
    expect(existed(0, '/d/b')).toEqual(['PATH_NOT_IN_SNAPSHOT', 'after']);
    expect(existed(2, '/d/a')).toEqual(['PATH_NOT_IN_SNAPSHOT', 'before_and_after']);
    expect(existed(3, '/d/z')).toEqual(['PATH_NOT_IN_SNAPSHOT', undefined]);
    ids.push((await fixture.commit(directory({}))).id);
    await fixture.sync();
    expect(existed(4, '/d/c')).toEqual(['PATH_NOT_IN_SNAPSHOT', 'before']);
  });
});
