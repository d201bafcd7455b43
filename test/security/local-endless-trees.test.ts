/**
 * Snapshots of a few hundred bytes that unfold to any number of paths or bytes, as whoever has a write-only key can store
 * them. Whatever reads trees ends soon and says what is wrong; copies of real directories, which share their chunks as
 * well, are read everywhere.
 */
import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { asByteString } from '../../src/base/byte-path.ts';
import { diffSnapshots } from '../../src/browse/diff.ts';
import { findEntries } from '../../src/browse/find.ts';
import { listEntries } from '../../src/browse/list.ts';
import { SnapshotTrees } from '../../src/browse/snapshot-trees.ts';
import { writeTar } from '../../src/browse/tar.ts';
import { copySnapshots } from '../../src/copier/copy.ts';
import { SILENT_CHECK, type Finding } from '../../src/repository/check/check-report.ts';
import { check } from '../../src/repository/check/check.ts';
import { loadIndex } from '../../src/repository/chunk-index.ts';
import type { Repository } from '../../src/repository/repository.ts';
import type { Snapshot } from '../../src/repository/snapshots.ts';
import { traverseTrees } from '../../src/repository/check/check-trees.ts';
import { directory, file, memoryRepository } from '../support/hand-made-snapshot.ts';
import {
  TYPE,
  hostileSnapshot,
  rawEntry,
  rawLeaf,
  rawList,
  type RawStore,
} from '../support/hostile-snapshot.ts';
import { openFixture } from '../unit/catalog/catalog-fixture.ts';

const never = new AbortController().signal;
const ROOT = asByteString('/');

interface Made {
  readonly id: Buffer;
  readonly entries: number;
  readonly files: number;
}

/** A directory of `names` that all are the same one. */
function copies(store: RawStore, names: readonly string[], { id, entries, files }: Made): Made {
  const totals = { entries, files, bytes: 0 };
  const entry = (name: string): Buffer => rawEntry({ type: TYPE.directory, name, directory: id, totals });
  return {
    id: store.tree(rawLeaf(names.map(entry))),
    entries: names.length * (1 + entries),
    files: names.length * files,
  };
}

function emptyFiles(store: RawStore, count: number): Made {
  const entries = numbered(count).map((name) => rawEntry({ type: TYPE.file, name, size: 0 }));
  return { id: store.tree(rawLeaf(entries)), entries: count, files: count };
}

function numbered(count: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => `n${String(i).padStart(6, '0')}`);
}

/** Levels of directories that hold the next one four times. */
function bomb(levels: number, said: (real: Made) => Made = (real) => real) {
  return (store: RawStore): Made => {
    let made = emptyFiles(store, 1);
    for (let level = 0; level < levels; level += 1) made = copies(store, ['a', 'b', 'c', 'd'], said(made));
    return made;
  };
}

async function store(repository: Repository, build: (to: RawStore) => Made): Promise<Snapshot> {
  let files = 0;
  const root = (to: RawStore): Buffer => {
    const made = build(to);
    ({ files } = made);
    return made.id;
  };
  const before = await memoryRepository(never);
  await hostileSnapshot(before, root, never);
  await before.close();
  const counts = {
    files,
    bytes: 0,
    directories: 0,
    links: 0,
    others: 0,
    new: 0,
    changed: 0,
    unchanged: 0,
    failed: 0,
  };
  return await hostileSnapshot(repository, root, never, { counts });
}

const BOMBS: readonly (readonly [string, ReturnType<typeof bomb>])[] = [
  ['25 levels, told truthfully', bomb(25)],
  ['12 levels, told truthfully', bomb(12)],
  ['25 levels that say nothing', bomb(25, (real) => ({ ...real, entries: 0, files: 0 }))],
  ['25 levels that say too little', bomb(25, (real) => ({ ...real, entries: 4, files: 1 }))],
];

async function count(items: AsyncIterable<unknown>): Promise<number> {
  let n = 0;
  for await (const _ of items) n += 1;
  return n;
}

async function treesOf(repository: Repository): Promise<SnapshotTrees> {
  return new SnapshotTrees(repository, await loadIndex(repository, { without: new Set() }, never));
}

const refused = { code: expect.stringMatching(/^(?:LIMIT_EXCEEDED|CORRUPT_DATA)$/) as string };

describe.each(BOMBS)('a tree that unfolds without end: %s', (_, build) => {
  test('lists, searches, comparisons and archives end', async () => {
    const repository = await memoryRepository(never);
    const snapshot = await store(repository, build);
    const other = await store(repository, (to) => emptyFiles(to, 2));
    const trees = await treesOf(repository);
    const options = { path: ROOT, recursive: true };
    await expect(count(listEntries(trees.reader(snapshot), snapshot, options, never))).rejects.toMatchObject(
      refused,
    );
    const [left, right] = [other, snapshot].map((one) => ({ snapshot: one, path: ROOT }));
    if (left === undefined || right === undefined) throw new Error('two snapshots');
    await expect(
      count(diffSnapshots(trees, left, right, { directoryTimes: true }, never)),
    ).rejects.toMatchObject(refused);
    const index = await loadIndex(repository, { without: new Set() }, never);
    const out = new PassThrough().resume();
    const tar = { path: ROOT, names: 'full' as const, onSkipped: () => {} };
    await expect(writeTar(repository, index, snapshot, tar, out, never)).rejects.toMatchObject(refused);
    // One such snapshot keeps nobody from what is in the others.
    const unread: string[] = [];
    const onUnreadable = (path: string): number => unread.push(path);
    const found = findEntries(trees, [snapshot, other], { patterns: ['n*'] }, { onUnreadable }, never);
    const paths: string[] = [];
    for await (const one of found) if (one.snapshot === other) paths.push(one.path);
    expect(paths).toEqual(['/n000000', '/n000001']);
    expect(unread.length).toBeGreaterThan(0);
  });

  test('a check names the snapshot, and ends', async () => {
    const repository = await memoryRepository(never);
    const snapshot = await store(repository, build);
    const { status, findings } = await check(
      repository,
      { readData: 'all', workers: 0 },
      SILENT_CHECK,
      never,
    );
    expect(status).toBe('damaged');
    expect(errorsOf(findings).some(({ snapshots }) => snapshots.includes(snapshot.id))).toBe(true);
  });

  test('the catalog takes nothing of it in, and says so', async () => {
    using fixture = await openFixture();
    await fixture.commit(directory({ a: file('') }));
    const snapshot = await store(fixture.repository, build);
    const { incomplete, unreadable } = await fixture.sync();
    expect(incomplete).toBe(1);
    expect(unreadable[0]?.snapshotId).toBe(snapshot.id);
    expect(fixture.count('node')).toBeLessThan(200);
  });

  test('a copy passes it over', async () => {
    const repository = await memoryRepository(never);
    const snapshot = await store(repository, build);
    const to = await memoryRepository(never);
    const failed: string[] = [];
    const observer = {
      begin: () => {},
      read: () => {},
      copied: () => {},
      failed: (one: Snapshot) => failed.push(one.id),
    };
    const request = { from: repository, to, snapshots: [snapshot], compression: { kind: 'none' as const } };
    await copySnapshots(request, observer, never);
    expect(failed).toEqual([snapshot.id]);
  });
});

describe('copies of real directories', () => {
  /** 1,000 copies of 20 directories with 20 files each. */
  const real = (to: RawStore): Made =>
    copies(to, numbered(1_000), copies(to, numbered(20), emptyFiles(to, 20)));
  const entries = 1_000 * (1 + 20 * 21);

  test('are read by everything', async () => {
    const repository = await memoryRepository(never);
    const snapshot = await store(repository, real);
    const trees = await treesOf(repository);
    const options = { path: ROOT, recursive: true };
    expect(await count(listEntries(trees.reader(snapshot), snapshot, options, never))).toBe(entries);
    expect(await count(findEntries(trees, [snapshot], { patterns: ['n000019'] }, {}, never))).toBe(21_001);
    const { findings } = await check(repository, { readData: 'all', workers: 0 }, SILENT_CHECK, never);
    expect(errorsOf(findings)).toEqual([]);
  });
});

describe('what entries say of directories', () => {
  test('a check finds that a directory holds less than is said of it', async () => {
    const repository = await memoryRepository(never);
    const over = (to: RawStore): Made => {
      const real = emptyFiles(to, 3);
      return copies(to, ['a'], { ...real, entries: 4 });
    };
    await store(repository, over);
    const { findings } = await check(repository, { readData: false }, SILENT_CHECK, never);
    expect(errorsOf(findings).map(({ what }) => what)).toEqual([
      'this directory holds 3 entries, 3 files and 0 bytes; its entry says 4 entries, 3 files and 0 bytes',
    ]);
  });

  test('a check finds that two entries differ in what they say of one directory', async () => {
    const repository = await memoryRepository(never);
    const two = (to: RawStore): Made => {
      const real = emptyFiles(to, 3);
      const entry = (name: string, said: number): Buffer =>
        rawEntry({
          type: TYPE.directory,
          name,
          directory: real.id,
          totals: { entries: said, files: said, bytes: 0 },
        });
      return { id: to.tree(rawLeaf([entry('a', 2), entry('b', 3)])), entries: 7, files: 5 };
    };
    await store(repository, two);
    const { findings } = await check(repository, { readData: false }, SILENT_CHECK, never);
    expect(errorsOf(findings).map(({ what }) => what)).toEqual([expect.stringContaining('two entries')]);
  });

  test('a check finds that a snapshot says something else than its tree', async () => {
    const repository = await memoryRepository(never);
    const snapshot = await store(repository, (to) => ({ ...emptyFiles(to, 3), files: 2 }));
    const { findings } = await check(repository, { readData: false }, SILENT_CHECK, never);
    expect(errorsOf(findings)).toMatchObject([
      {
        object: `snapshot ${snapshot.id}`,
        what: 'it says that it has 2 files of 0 bytes, its tree has 3 of 0',
        snapshots: [snapshot.id],
      },
    ]);
  });
});

describe('a file of petabytes out of one chunk', () => {
  const petabytes = (to: RawStore): Made => {
    const id = to.data(Buffer.alloc(1_000_000, 'x'));
    const list = to.tree(rawList(Array.from({ length: 100_000 }, () => id)));
    const names = numbered(30);
    const ids = Array.from({ length: 10_000 }, () => list);
    const size = 1_000_000 * 100_000 * 10_000;
    const entries = names.map((name) => rawEntry({ type: TYPE.file, flags: 8, name, size, ids }));
    return { id: to.tree(rawLeaf(entries)), entries: 30, files: 30 };
  };

  test('is found by a check, which goes through its list once', async () => {
    const repository = await memoryRepository(never);
    const snapshot = await store(repository, petabytes);
    const index = await loadIndex(repository, { without: new Set() }, never);
    const started = performance.now();
    const { unsoundFiles } = await traverseTrees(repository, index, [snapshot], never);
    // Read each time, 30 thousand million names would take an hour.
    expect(performance.now() - started).toBeLessThan(20_000);
    expect(unsoundFiles).toHaveLength(30);
  });

  test('its chunks are not brought together in memory', async () => {
    const repository = await memoryRepository(never);
    const snapshot = await store(repository, petabytes);
    const reader = (await treesOf(repository)).reader(snapshot);
    const [first] = await reader.directory(snapshot.record.root, never);
    if (first?.type !== 'file') throw new Error('a file');
    await expect(reader.contentIds(first, never)).rejects.toMatchObject({ code: 'CORRUPT_DATA' });
  });
});

function errorsOf(findings: readonly Finding[]): readonly Finding[] {
  return findings.filter(({ severity }) => severity === 'error');
}
