/** What the storage does not give for a moment, and what it does not give any more. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DestinationError } from '../../../src/base/errors.ts';
import { versionsOf } from '../../../src/catalog/answers/path-versions.ts';
import { forgetSnapshots } from '../../../src/repository/snapshots.ts';
import { TreeReader } from '../../../src/repository/contents/tree-reader.ts';
import { directory, file, type HandMadeDirectory } from '../../support/hand-made-snapshot.ts';
import { openFixture, query, shownPaths, signal, type Fixture } from './catalog-fixture.ts';

const { chunk } = TreeReader.prototype;
/** Parts of trees that were asked for while some could not be read. */
let reads = 0;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** The storage has no directory in which a file of this name lies. */
function away(name: string): void {
  reads = 0;
  vi.spyOn(TreeReader.prototype, 'chunk').mockImplementation(async function (this: TreeReader, ...args) {
    reads += 1;
    const part = await chunk.apply(this, args);
    const isIt = part.form === 'leaf' && part.entries.some((entry) => entry.name === name);
    if (isIt) throw new DestinationError('not-found', 'it is not there');
    return part;
  });
}

function back(): void {
  vi.restoreAllMocks();
}

/** A run that ends with an error after it has read so many parts of trees. */
async function interruptedAfter(fixture: Fixture, left: number): Promise<void> {
  back();
  let rest = left;
  vi.spyOn(TreeReader.prototype, 'chunk').mockImplementation(async function (this: TreeReader, ...args) {
    rest -= 1;
    if (rest < 0) throw new Error('the storage does not answer');
    return await chunk.apply(this, args);
  });
  await expect(fixture.sync()).rejects.toThrow('does not answer');
  back();
}

function later(hours: number): void {
  vi.setSystemTime(Date.now() + hours * 3_600_000);
}

function tree(content: string): HandMadeDirectory {
  return directory({
    home: directory({ letters: directory({ letter: file(content) }), beside: file('') }),
    other: directory({ more: file('') }),
  });
}

const UNREAD = expect.objectContaining({
  side: 'repository',
  code: 'CORRUPT_DATA',
  message: expect.stringContaining('/home/letters could not be read'),
  retry: 'later',
});

function failureOf(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return expect.fail('there is an answer');
}

function changes({ reader }: Fixture, id: string): ReturnType<Fixture['reader']['diff']> {
  return reader.diff({ id, base: undefined, limit: 99, after: undefined });
}

describe('a directory that could not be read', () => {
  it('is not told as empty: whoever lists it, or what is below it, gets an error', async () => {
    using fixture = await openFixture();
    const { id } = await fixture.commit(tree('1'));
    away('letter');
    expect(await fixture.sync()).toMatchObject({ unreadableCount: 1, incomplete: 1 });
    const { reader } = fixture;

    for (const view of ['tree', 'flat'] as const) {
      for (const path of ['/home/letters', '/home/letters/letter', '/home/letters/a/b']) {
        expect(failureOf(() => reader.files(query({ snapshot: id, path, view })))).toEqual(UNREAD);
      }
    }
    const page = { snapshot: id, path: '/home/letters', sort: 'name', offset: 0, limit: 9 } as const;
    expect(failureOf(() => reader.entries(page))).toEqual(UNREAD);
    expect(failureOf(() => reader.entry(id, '/home/letters/letter'))).toEqual(UNREAD);
    expect(reader.entry(id, '/home/letters')).toMatchObject({ type: 'directory' });
    const states = reader.states('/home/letters/letter', undefined);
    expect(failureOf(() => versionsOf([states], '/home/letters/letter'))).toMatchObject({
      code: 'CORRUPT_DATA',
    });
    // What lies elsewhere is known to be there, or not.
    expect(shownPaths(fixture, { path: '/other', view: 'tree' })).toEqual(['/other/more']);
    expect(() => reader.entry(id, '/home/nothing')).toThrow('is not in the backup');
  });

  it('is counted in lists of what is around it, in searches and in differences', async () => {
    using fixture = await openFixture();
    await fixture.commit(tree('1'));
    await fixture.sync();
    const { id } = await fixture.commit(
      directory({
        home: directory({ letters: directory({ letter: file('22') }) }),
        other: directory({ more: file('') }),
      }),
    );
    away('letter');
    await fixture.sync();
    const { reader } = fixture;

    expect(reader.files(query({ snapshot: id, path: '/home' }))).toMatchObject({ unreadable: 1 });
    expect(reader.files(query({ snapshot: id, path: '/other' }))).toMatchObject({ unreadable: 0 });
    expect(
      reader.search({ q: 'letter', source: undefined, isGone: false, limit: 9, after: undefined }),
    ).toMatchObject({
      unreadable: 1,
    });
    expect(reader.snapshot(id)).toMatchObject({ unreadable: 1 });
    // Nothing passes for removed that nobody could look at.
    const { items, unreadable } = changes(fixture, id);
    expect(items.map(({ path, change }) => `${change} ${path}`)).toEqual(['removed /home/beside']);
    expect(unreadable).toBe(1);
  });

  it('is taken in by the next run when the storage has it again', async () => {
    using fixture = await openFixture();
    const first = await fixture.commit(tree('1'));
    const second = await fixture.commit(tree('22'));
    away('letter');
    await fixture.sync();
    back();

    const report = await fixture.sync();

    expect(report).toMatchObject({ unreadableCount: 0, incomplete: 0 });
    expect(report.added.toSorted()).toEqual([first.id, second.id].toSorted());
    for (const { id } of [first, second]) {
      expect(shownPaths(fixture, { snapshot: id, path: '/home/letters' })).toEqual(['/home/letters/letter']);
      expect(fixture.reader.snapshot(id)).toMatchObject({ complete: true, unreadable: 0 });
    }
    expect(changes(fixture, second.id).items).toMatchObject([
      { path: '/home/letters/letter', change: 'modified', size_before: 1, size_after: 2 },
    ]);
    expect(fixture.count('snapshot')).toBe(2);
    expect(fixture.count('gap')).toBe(0);
  });

  it('leaves its snapshot to be seen as it was until it is taken in again', async () => {
    using fixture = await openFixture();
    const { id } = await fixture.commit(tree('1'));
    away('letter');
    await fixture.sync();
    await interruptedAfter(fixture, 2);
    expect(shownPaths(fixture, { snapshot: id, path: '/other' })).toEqual(['/other/more']);
    expect(failureOf(() => fixture.reader.files(query({ path: '/home/letters' })))).toEqual(UNREAD);

    expect(await fixture.sync()).toMatchObject({ incomplete: 0 });
    expect(shownPaths(fixture, { path: '/home/letters' })).toEqual(['/home/letters/letter']);
  });

  it('costs little when it is lost for good: it is tried once an hour, or when the index is another one', async () => {
    using fixture = await openFixture();
    await fixture.commit(tree('1'));
    away('letter');
    await fixture.sync();
    const readsOfSync = async (): Promise<number> => {
      reads = 0;
      expect(await fixture.sync()).toMatchObject({ added: [], incomplete: 1 });
      return reads;
    };
    expect([await readsOfSync(), await readsOfSync(), await readsOfSync()]).toEqual([1, 0, 0]);
    later(1);
    expect([await readsOfSync(), await readsOfSync()]).toEqual([1, 0]);
    await fixture.repository.destination.put(`index/${'0'.repeat(64)}`, Buffer.from('another'), signal);
    expect([await readsOfSync(), await readsOfSync()]).toEqual([1, 0]);
  });

  it('is taken in again ever more seldom where something else of it cannot be read each time', async () => {
    using fixture = await openFixture();
    await fixture.commit(tree('1'));
    away('letter');
    await fixture.sync();
    const turns: number[] = [];
    for (let hour = 0; hour < 40; hour += 1) {
      back();
      // It is there when it is tried, and not when all is read.
      let asked = 0;
      vi.spyOn(TreeReader.prototype, 'chunk').mockImplementation(async function (this: TreeReader, ...args) {
        asked += 1;
        const part = await chunk.apply(this, args);
        const isIt = part.form === 'leaf' && part.entries.some(({ name }) => name === 'letter');
        if (isIt && asked > 1) throw new DestinationError('not-found', 'it is not there');
        return part;
      });
      if ((await fixture.sync()).added.length > 0) turns.push(hour);
      later(1);
    }
    expect(turns).toEqual([0, 1, 3, 7, 15, 31]);
  });

  it('is forgotten with its snapshot, also while that is being taken in again', async () => {
    using fixture = await openFixture();
    const { id } = await fixture.commit(tree('1'));
    away('letter');
    await fixture.sync();
    await interruptedAfter(fixture, 2);
    await forgetSnapshots(fixture.repository, [id], 'test', signal);
    expect(await fixture.sync()).toMatchObject({ added: [], forgotten: 1, incomplete: 0 });
    expect(['snapshot', 'gap', 'version'].map((table) => fixture.count(table))).toEqual([0, 0, 0]);
  });
});
