import { describe, expect, it } from 'vitest';
import { asByteString } from '../../../src/base/byte-path.ts';
import { momentOf } from '../../../src/jobs/agent.ts';
import { HAND_MADE_NS, directory, file, symlink } from '../../support/hand-made-snapshot.ts';
import { openFixture, query, shownPaths } from './catalog-fixture.ts';

const docs = directory({ docs: directory({ a: file('1'), b: file('22') }) });

describe('listFiles', () => {
  it('lists the newest snapshot of every source when none is named', async () => {
    using fixture = await openFixture();
    const at = (path: string) => ({ paths: [asByteString(path)] });
    await fixture.commit(directory({ old: file('') }), at('/docs'));
    const older = await fixture.commit(docs, at('/docs'));
    await fixture.commit(directory({ pictures: directory({ c: file('3') }) }), at('/pictures'));
    await fixture.commit(directory({ docs: directory({ a: file('1') }) }), { ...at('/docs'), host: 'other' });
    await fixture.sync();

    expect(
      fixture.reader.files(query({ type: 'file' })).items.map(({ path, source }) => `${source} ${path}`),
    ).toEqual(['/docs /docs/a', '/docs /docs/a', '/docs /docs/b', '/pictures /pictures/c']);
    expect(shownPaths(fixture, { source: '/pictures', type: 'file' })).toEqual(['/pictures/c']);
    expect(shownPaths(fixture, { snapshot: momentOf(3_600_000) })).toEqual(['/old']);
    expect(shownPaths(fixture, { snapshot: momentOf(1) })).toEqual([]);
    expect(shownPaths(fixture, { snapshot: older.id.slice(0, 8), q: 'B' })).toEqual(['/docs/b']);
  });

  it('tells what an entry is', async () => {
    using fixture = await openFixture();
    const mtimeNs = HAND_MADE_NS + 1_999_999n;
    await fixture.commit(
      directory({
        d: directory({ f: file('abc', { mtimeNs, mode: 0o600 }), g: directory({}) }),
        l: symlink('d/f'),
      }),
      { tags: ['job:bkp_7'] },
    );
    const [snapshot] = await fixture.sync().then(() => fixture.reader.snapshots({ limit: 1 }));

    expect(fixture.reader.files(query()).items).toMatchObject([
      { path: '/d', type: 'directory', children_count: 2, size_bytes: 3 },
      {
        path: '/d/f',
        path_b64: null,
        name: 'f',
        type: 'file',
        size_bytes: 3,
        mode: 0o600,
        modified_at: Number(HAND_MADE_NS / 1_000_000n) + 1,
        link_target: null,
        children_count: null,
        backup_id: 'bkp_7',
        snapshot_id: snapshot?.id,
        backed_up_at: 3_600_000,
      },
      { path: '/d/g', type: 'directory', children_count: 0, size_bytes: 0 },
      { path: '/l', type: 'symlink', link_target: 'd/f' },
    ]);
  });

  it('tells of one entry by its very name, and of the root', async () => {
    using fixture = await openFixture();
    const { id } = await fixture.commit(directory({ docs: directory({ a: file('1'), A: file('22') }) }));
    const { id: empty } = await fixture.commit(directory({}));
    await fixture.sync();

    const entry = (path: string, of = id) => fixture.reader.entry(of, path);
    expect(entry('/docs/A')).toMatchObject({ path: '/docs/A', type: 'file', size_bytes: 2 });
    expect(entry('/docs/')).toMatchObject({ path: '/docs', type: 'directory', children_count: 2 });
    expect(entry('/')).toMatchObject({ path: '/', type: 'directory', children_count: 1 });
    for (const path of ['/docs/b', '/docs/a/b', '/doc'])
      expect(() => entry(path), path).toThrow(expect.objectContaining({ code: 'PATH_NOT_IN_SNAPSHOT' }));
    expect(() => entry('/docs', empty)).toThrow(expect.objectContaining({ code: 'PATH_NOT_IN_SNAPSHOT' }));
    expect(() => entry('/', 'f'.repeat(64))).toThrow(expect.objectContaining({ code: 'SNAPSHOT_NOT_FOUND' }));
  });

  it('gives the file itself when the path is none of a directory', async () => {
    using fixture = await openFixture();
    await fixture.commit(docs);
    await fixture.sync();
    expect(shownPaths(fixture, { path: '/docs/a' })).toEqual(['/docs/a']);
    expect(shownPaths(fixture, { path: '/docs/a', q: 'b' })).toEqual([]);
    expect(() => shownPaths(fixture, { path: '/docs/x' })).toThrow('/docs/x is not in the backup');
  });

  it('goes on with the snapshots that it began with', async () => {
    using fixture = await openFixture();
    await fixture.commit(docs);
    await fixture.sync();
    const { items, next } = fixture.reader.files(query({ limit: 2 }));
    expect(items.map(({ path }) => path)).toEqual(['/docs', '/docs/a']);
    await fixture.commit(directory({ docs: directory({ aa: file('') }) }));
    await fixture.sync();
    expect(shownPaths(fixture, { limit: 2, after: next ?? '' })).toEqual(['/docs/b']);
  });

  it('refuses a cursor of another list', async () => {
    using fixture = await openFixture();
    await fixture.commit(docs);
    await fixture.sync();
    const { next } = fixture.reader.files(query({ limit: 1 }));
    expect(next).not.toBeNull();
    for (const parts of [{ sort: 'size' }, { view: 'tree' }] as const) {
      expect(() => fixture.reader.files(query({ ...parts, after: next ?? '' }))).toThrow('to another list');
    }
    for (const after of ['', 'AAAA', Buffer.from('[1]').toString('base64url')]) {
      expect(() => fixture.reader.files(query({ after }))).toThrow('cannot be continued');
    }
  });

  it('finds capital letters beyond ASCII that have small ones in it', async () => {
    using fixture = await openFixture();
    const names = ['\u212Aelvin', 'Tek', '\u0130stanbul ik', 'ki'].map((name) =>
      Buffer.from(name).toString('latin1'),
    );
    const files = Object.fromEntries(names.map((name) => [name, file('')]));
    await fixture.commit(directory(files));
    await fixture.sync();
    expect(shownPaths(fixture, { q: 'K' })).toEqual(['/Tek', '/ki', '/İstanbul ik', '/\u212Aelvin']);
    expect(shownPaths(fixture, { q: 'i' })).toEqual(['/\u212Aelvin', '/ki', '/İstanbul ik'].toSorted());
    expect(shownPaths(fixture, { q: 'ik' })).toEqual(['/İstanbul ik']);
  });

  it('says so while a snapshot is not yet in', async () => {
    using fixture = await openFixture();
    await fixture.commit(docs);
    await fixture.sync();
    const [{ id } = { id: '' }] = fixture.reader.snapshots({ limit: 1 });
    fixture.database.exec('UPDATE snapshot SET state = 1');
    expect(fixture.reader.files(query())).toMatchObject({ items: [], next: null });
    expect(() => fixture.reader.files(query({ snapshot: id }))).toThrow('are still being listed');
    expect(fixture.reader.snapshot(id).complete).toBe(false);
  });
});
