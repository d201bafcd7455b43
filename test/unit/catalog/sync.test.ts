// Turn 2 of 8.
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { asByteString } from '../../../src/base/byte-path.ts';
import { sweep } from '../../../src/catalog/ingest/sweep.ts';
import { versionsOf } from '../../../src/catalog/answers/path-versions.ts';
import { rewriteSnapshot } from '../../../src/repository/renew/replace-snapshot.ts';
import { forgetSnapshots } from '../../../src/repository/snapshots.ts';
import { TreeReader } from '../../../src/repository/contents/tree-reader.ts';
import { directory, file, type HandMadeDirectory } from '../../support/hand-made-snapshot.ts';
import { openFixture, shownPaths, signal, type Fixture } from './catalog-fixture.ts';

/** 30 directories of 30 files; one file of one of them as given. */
function tree(content: string, more: Readonly<Record<string, HandMadeDirectory>> = {}): HandMadeDirectory {
  const folders = Array.from({ length: 30 }, (_, i) => {
    const files = Array.from(
      { length: 30 },
      (_, j) => [`f${j}`, file(i === 7 && j === 3 ? content : '')] as const,
    );
    return [`d${i}`, directory(Object.fromEntries(files))] as const;
  });
  return directory({ ...Object.fromEntries(folders), ...more });
}

/** A run that ends with an error after it has read so many parts of trees. */
async function interrupted(fixture: Fixture, reads: number): Promise<void> {
  const { chunk } = TreeReader.prototype;
  let left = reads;
  const spy = vi.spyOn(TreeReader.prototype, 'chunk').mockImplementation(async function (
    this: TreeReader,
    ...args
  ) {
    left -= 1;
    if (left < 0) throw new Error('the storage does not answer');
    return await chunk.apply(this, args);
  });
  try {
    await expect(fixture.sync()).rejects.toThrow('does not answer');
  } finally {
    spy.mockRestore();
  }
}

describe('syncCatalog', () => {
  it('stores what did not change once, and reads no directory that it knows', async () => {
    using fixture = await openFixture();
    await fixture.commit(tree('1'));
    await fixture.sync();
    expect(fixture.count('version')).toBe(931);
    const reads = vi.spyOn(TreeReader.prototype, 'chunk');
    try {
      for (const content of ['2', '2', '3', '3', '3']) await fixture.commit(tree(content));
      await fixture.sync();
      // The root, which is looked at first as well, and one directory, twice.
      expect(reads).toHaveBeenCalledTimes(6);
    } finally {
      reads.mockRestore();
    }
    // And the file in it, twice.
    expect(fixture.count('version')).toBe(931 + 6);
    expect(fixture.count('node')).toBe(931);
    expect(
      versionsOf([fixture.reader.states('/d7/f3', undefined)], '/d7/f3').map(({ change }) => change),
    ).toEqual(['unchanged', 'unchanged', 'modified', 'unchanged', 'modified', 'added']);
  });

  it('stores files that did not change once even where their snapshots share no names of chunks', async () => {
    using fixture = await openFixture();
    for (let i = 1; i < 5; i += 1) await fixture.commit(tree('1'), { salt: Buffer.alloc(16, i) });
    await fixture.sync();
    expect(fixture.count('version')).toBe(931);
    expect(fixture.count('snapshot')).toBe(4);
  });

  it('lets a forgotten snapshot vanish at once, and what only it had with the next sweep', async () => {
    using fixture = await openFixture();
    await fixture.commit(tree('1'));
    const middle = await fixture.commit(
      tree('2', { gone: directory({ a: file(''), b: directory({ c: file('') }) }) }),
    );
    await fixture.commit(tree('3'));
    await fixture.sync();
    const before = fixture.count('version');
    const names = fixture.database.prepare<[], number>('SELECT sum(count) FROM names').pluck();
    // All but the root, and `gone` with three entries.
    expect(names.get()).toBe(930 + 4);
    await forgetSnapshots(fixture.repository, [middle.id], 'test', signal);
    await fixture.sync();
    expect(() => shownPaths(fixture, { snapshot: middle.id })).toThrow('There is no snapshot');

    await sweep(fixture.database, signal);

    // `gone` with three entries, the root, `d7` and the file in it.
    expect(fixture.count('version')).toBe(before - 7);
    expect(fixture.count('node')).toBe(931);
    expect(names.get()).toBe(930);
    expect(shownPaths(fixture, { path: '/d7', q: 'f3' })).toEqual(['/d7/f3']);
  });

  it.each([1, 2, 3, 4, 6, 8, 10, 12, 14, 16])(
    'is whole after a sweep that was broken off after %d commits',
    async (commits) => {
      using fixture = await openFixture();
      const sources = (i: number) => directory({ a: file(String(i)) });
      const more = directory({ a: file('9'), z: directory({ deep: directory({ wanted: file('') }) }) });
      for (let i = 1; i <= 5; i += 1) await fixture.commit(sources(i));
      const gone = await fixture.commit(more);
      await fixture.sync();
      await forgetSnapshots(fixture.repository, [gone.id], 'test', signal);
      await fixture.sync();

      const stop = new AbortController();
      const ended = sweep(fixture.database, stop.signal, 1).catch((error: unknown) => {
        if (!stop.signal.aborted) throw error;
      });
      for (let left = commits; left > 0; left -= 1) await setImmediate();
      stop.abort();
      await ended;

      await fixture.commit(more);
      await fixture.sync();
      expect(shownPaths(fixture, { q: 'wanted' })).toEqual(['/z/deep/wanted']);
      expect(shownPaths(fixture, { path: '/z/deep' })).toEqual(['/z/deep/wanted']);
    },
  );

  it('reads nothing again when a snapshot got other tags', async () => {
    using fixture = await openFixture();
    const old = await fixture.commit(tree('1'));
    await fixture.commit(tree('2'));
    await fixture.sync();
    const rewritten = await rewriteSnapshot(
      fixture.repository,
      old,
      { tags: ['kept'], pinned: true },
      signal,
    );
    const reads = vi.spyOn(TreeReader.prototype, 'chunk');
    try {
      expect(await fixture.sync()).toMatchObject({ added: [], forgotten: 0 });
      expect(reads).not.toHaveBeenCalled();
    } finally {
      reads.mockRestore();
    }
    expect(fixture.reader.snapshot(rewritten.id)).toMatchObject({
      tags: ['kept'],
      pinned: true,
      complete: true,
    });
    expect(shownPaths(fixture, { snapshot: rewritten.id, q: 'f3', path: '/d7' })).toEqual(['/d7/f3']);
  });

  it('undoes what a snapshot left that was forgotten before it was taken in completely', async () => {
    using fixture = await openFixture();
    await fixture.commit(tree('1'));
    await fixture.sync();
    const half = await fixture.commit(tree('2', { a: directory({}), z: directory({ y: file('') }) }));
    await interrupted(fixture, 3);
    await forgetSnapshots(fixture.repository, [half.id], 'test', signal);
    await fixture.commit(tree('1'));
    await fixture.sync();
    expect(
      versionsOf([fixture.reader.states('/d7/f3', undefined)], '/d7/f3').map(({ change }) => change),
    ).toEqual(['unchanged', 'added']);
    expect(fixture.count('version')).toBe(931);
  });

  it('takes nothing for deleted where more could not be read than a snapshot lists', async () => {
    using fixture = await openFixture();
    const f = directory({ f: file('') });
    await fixture.commit(f);
    await fixture.commit(directory({}), { errorsMore: 1 });
    await fixture.commit(f);
    await fixture.commit(directory({}));
    await fixture.sync();
    expect(versionsOf([fixture.reader.states('/f', undefined)], '/f').map(({ change }) => change)).toEqual([
      'removed',
      'unchanged',
      'added',
    ]);
  });

  it('still knows what it had found gone before it was interrupted', async () => {
    using fixture = await openFixture();
    const folder = { s: directory({ f: file('') }) };
    await fixture.commit(directory({ a: directory({ ...folder, b: file('') }) }));
    await fixture.sync();
    await fixture.commit(directory({ a: directory(folder) }), { salt: Buffer.alloc(16) });
    // The root and `a`: `b` is gone, `s` cannot be read.
    await interrupted(fixture, 2);
    await fixture.sync();
    const [newest] = fixture.reader.snapshots({ limit: 1 });
    const { items } = fixture.reader.diff({
      id: newest?.id ?? '',
      base: undefined,
      limit: 9,
      after: undefined,
    });
    expect(items).toMatchObject([{ path: '/a/b', change: 'removed', size_before: 0, size_after: null }]);
  });

  it('does not take for removed what could not be read at the time', async () => {
    using fixture = await openFixture();
    await fixture.commit(directory({ a: directory({ f: file('1') }) }));
    const errors = [{ path: asByteString('/a'), code: 'EACCES', message: 'denied' }];
    await fixture.commit(directory({}), { errors, status: 'partial' });
    await fixture.commit(directory({}));
    await fixture.sync();
    expect(
      versionsOf([fixture.reader.states('/a/f', undefined)], '/a/f').map(({ change }) => change),
    ).toEqual(['removed', 'added']);
    const [, partial] = fixture.reader.snapshots({ limit: 3 });
    expect(partial).toMatchObject({ partial: true, unreadable: 0 });
  });
});
