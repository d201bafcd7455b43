import { describe, expect, it } from 'vitest';
import { asByteString } from '../../../src/base/byte-path.ts';
import type { SearchRequest } from '../../../src/catalog/answers/file-search.ts';
import { directory, file } from '../../support/hand-made-snapshot.ts';
import { openFixture, type Fixture } from './catalog-fixture.ts';

function found({ reader }: Fixture, request: Partial<SearchRequest>): readonly string[] {
  const { items } = reader.search({
    q: '',
    source: undefined,
    isGone: false,
    limit: 100,
    after: undefined,
    ...request,
  });
  return items.map(({ item: { path, size_bytes: size } }) => `${path} ${size}`);
}

describe('searchFiles', () => {
  it('finds what any snapshot has, once, as it was last', async () => {
    using fixture = await openFixture();
    const first = await fixture.commit(
      directory({ d: directory({ 'note-a': file('1'), 'note-b': file('1') }) }),
    );
    const second = await fixture.commit(directory({ d: directory({ 'note-b': file('22') }) }));
    const third = await fixture.commit(
      directory({ d: directory({ 'note-b': file('22'), other: file('') }) }),
    );
    await fixture.sync();

    expect(found(fixture, { q: 'NOTE' })).toEqual(['/d/note-a 1', '/d/note-b 2']);
    const { items } = fixture.reader.search({
      q: 'note*',
      source: undefined,
      isGone: false,
      limit: 9,
      after: undefined,
    });
    expect(items.map(({ item }) => item.snapshot_id)).toEqual([first.id, third.id]);
    expect(second.id).not.toBe(third.id);
    expect(found(fixture, { q: 'nothing' })).toEqual([]);
  });

  it('tells what was last by when the snapshots were made, not by when they came', async () => {
    using fixture = await openFixture();
    // Copies of what another repository got in that order.
    const writer = '0'.repeat(32);
    const hours = (count: number) => ({ startedMs: count * 3_600_000, run: { writer, seq: count } });
    await fixture.commit(directory({ note: file('the newest'), gone: file('55555') }), hours(9));
    await fixture.sync();
    await fixture.commit(directory({ note: file('old'), gone: file('4444') }), hours(2));
    await fixture.commit(directory({ note: file('older'), before: file('22') }), hours(1));
    await fixture.sync();

    expect(found(fixture, { q: '*' })).toEqual(['/gone 5', '/note 10', '/before 2']);
    const [note] = fixture.reader.newestOf(['/note'], undefined);
    expect(note?.item).toMatchObject({ size_bytes: 10, backed_up_at: hours(9).startedMs });
  });

  it('tells what was last by the order of the snapshots where the clock of one was far ahead', async () => {
    using fixture = await openFixture();
    const at = (year: number) => ({ startedMs: Date.UTC(year, 0) });
    await fixture.commit(directory({ note: file('old') }), at(2030));
    const last = await fixture.commit(directory({ note: file('the newest') }), at(2026));
    await fixture.sync();
    const { items } = fixture.reader.search({
      q: 'note',
      source: undefined,
      isGone: false,
      limit: 9,
      after: undefined,
    });
    expect(items).toMatchObject([{ item: { snapshot_id: last.id, size_bytes: 10 } }]);
    // What it changed is told against the one that was made before it.
    const diff = fixture.reader.diff({ id: last.id, base: undefined, limit: 9, after: undefined });
    expect(diff.items).toMatchObject([{ path: '/note', change: 'modified' }]);
  });

  it('leaves out other sources when one is named', async () => {
    using fixture = await openFixture();
    const at = (path: string) => ({ paths: [asByteString(path)] });
    await fixture.commit(directory({ docs: directory({ a1: file('') }) }), at('/docs'));
    await fixture.commit(directory({ pictures: directory({ a2: file('') }) }), at('/pictures'));
    await fixture.sync();

    expect(found(fixture, { q: 'a' })).toEqual(['/docs/a1 0', '/pictures/a2 0']);
    expect(found(fixture, { q: 'a', source: '/pictures' })).toEqual(['/pictures/a2 0']);
    expect(found(fixture, { q: 'a', source: '/nowhere' })).toEqual([]);
  });

  it('gives pages that together are all', async () => {
    using fixture = await openFixture();
    const names = Array.from({ length: 70 }, (_, i) => `n${String(i).padStart(3, '0')}`);
    await fixture.commit(directory(Object.fromEntries(names.map((name) => [name, file('')]))));
    await fixture.sync();

    const all: string[] = [];
    let after: string | undefined;
    do {
      const page = fixture.reader.search({ q: 'n', source: undefined, isGone: false, limit: 32, after });
      all.push(...page.items.map(({ item }) => item.name));
      after = page.next ?? undefined;
    } while (after !== undefined);
    expect(all).toEqual(names);
  });

  it('refuses a cursor of another list', async () => {
    using fixture = await openFixture();
    await fixture.commit(directory({ a: file(''), b: file('') }));
    await fixture.sync();
    const listed = fixture.reader.files({
      snapshot: 'latest',
      view: 'flat',
      sort: 'path',
      limit: 1,
    });
    expect(() => found(fixture, { q: 'a', after: listed.next ?? '' })).toThrow('it belongs to another list');
  });
});
