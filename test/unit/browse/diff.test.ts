import { describe, expect, it } from 'vitest';
import { asByteString } from '../../../src/base/byte-path.ts';
import {
  NO_CHANGES,
  countChange,
  diffSnapshots,
  type Change,
  type DiffOptions,
} from '../../../src/browse/diff.ts';
import { SnapshotTrees } from '../../../src/browse/snapshot-trees.ts';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import type { SnapshotRecord } from '../../../src/format/records.ts';
import { loadIndex } from '../../../src/repository/chunk-index.ts';
import {
  HAND_MADE_NS,
  directory,
  file,
  handMadeSnapshot,
  memoryRepository,
  symlink,
  type HandMadeDirectory,
} from '../../support/hand-made-snapshot.ts';
import { recordingDestination } from '../../support/recording-destination.ts';

const { signal } = new AbortController();
const plainly: DiffOptions = { directoryTimes: false };

interface Compared {
  readonly changes: readonly Change[];
  /** Kind and path, in order. */
  readonly told: readonly string[];
  readonly segmentsRead: number;
}

async function compare(
  left: HandMadeDirectory,
  right: HandMadeDirectory,
  {
    paths = ['/', '/'],
    options = plainly,
    record = {},
  }: { paths?: [string, string]; options?: DiffOptions; record?: Partial<SnapshotRecord> } = {},
): Promise<Compared> {
  const destination = recordingDestination(createMemoryDestination());
  const repository = await memoryRepository(signal, destination);
  const before = await handMadeSnapshot(repository, left, {}, signal);
  const after = await handMadeSnapshot(repository, right, record, signal);
  const trees = new SnapshotTrees(repository, await loadIndex(repository, { without: new Set() }, signal));
  destination.reset();
  const changes: Change[] = [];
  for await (const change of diffSnapshots(
    trees,
    { snapshot: before, path: asByteString(paths[0]) },
    { snapshot: after, path: asByteString(paths[1]) },
    options,
    signal,
  )) {
    changes.push(change);
  }
  return {
    changes,
    told: changes.map(({ kind, path }) => `${kind} ${path}`),
    segmentsRead: destination.count('get', 'packs/'),
  };
}

describe('diffSnapshots', () => {
  it('finds nothing between two snapshots of the same tree', async () => {
    const tree = directory({ a: file('1'), d: directory({ b: file('2') }) });

    expect((await compare(tree, tree)).changes).toEqual([]);
  });

  it('tells apart added, removed, changed content, changed metadata and changed type', async () => {
    const { changes, told } = await compare(
      directory({
        changed: file('old'),
        gone: file('x'),
        link: symlink('old-target'),
        mode: file('same'),
        same: file('same'),
        was: file('a file'),
      }),
      directory({
        changed: file('new!', { mtimeNs: HAND_MADE_NS + 1n }),
        fresh: file('y'),
        link: symlink('new-target'),
        mode: file('same', { mode: 0o600, uid: 0, mtimeNs: 1n }),
        same: file('same'),
        was: directory({ in: file('z') }),
      }),
    );

    expect(told).toEqual([
      'modified /changed',
      'added /fresh',
      'removed /gone',
      'modified /link',
      'metadata /mode',
      'type /was',
      'added /was/in',
    ]);
    expect(changes[0]).toMatchObject({ before: { size: 3 }, after: { size: 4 }, fields: ['mtime'] });
    expect(changes[4]).toMatchObject({ fields: ['mode', 'owner', 'mtime'] });
  });

  it('notices a changed attribute and moved holes', async () => {
    const xattr = (value: string) => [{ name: asByteString('user.a'), value: Buffer.from(value) }];
    const data = [Buffer.alloc(100, 1)];
    const { changes, told } = await compare(
      directory({
        x: file('same', { xattrs: xattr('1') }),
        holes: file(data, { holes: [{ offset: 0, length: 10 }] }),
      }),
      directory({
        x: file('same', { xattrs: xattr('2') }),
        holes: file(data, { holes: [{ offset: 100, length: 10 }] }),
      }),
    );

    expect(told).toEqual(['modified /holes', 'metadata /x']);
    expect(changes[1]).toMatchObject({ fields: ['xattrs'] });
  });

  it('leaves out time of change and inode number', async () => {
    const { told } = await compare(
      directory({ a: file('same', { ctimeNs: 1n, inode: 1 }) }),
      directory({ a: file('same', { ctimeNs: 2n, inode: 2 }) }),
    );

    expect(told).toEqual([]);
  });

  it('reports a directory of which only the time differs when asked to', async () => {
    const left = directory({ d: directory({ a: file('1') }) });
    const right = directory({ d: directory({ a: file('1'), b: file('2') }, { mtimeNs: HAND_MADE_NS + 1n }) });

    expect((await compare(left, right)).told).toEqual(['added /d/b']);
    expect((await compare(left, right, { options: { directoryTimes: true } })).told).toEqual([
      'metadata /d',
      'added /d/b',
    ]);
  });

  it('lists everything below a directory that came or went', async () => {
    const sub = directory({ deep: directory({ x: file('1'), y: file('2') }) });

    expect((await compare(directory({}), directory({ sub }))).told).toEqual([
      'added /sub',
      'added /sub/deep',
      'added /sub/deep/x',
      'added /sub/deep/y',
    ]);
    expect((await compare(directory({ sub }), directory({}))).told).toEqual([
      'removed /sub',
      'removed /sub/deep',
      'removed /sub/deep/x',
      'removed /sub/deep/y',
    ]);
  });

  it('does not read directories that are the same on both sides', async () => {
    // Larger than a segment, so that reading it would show.
    const big = directory(
      Object.fromEntries(Array.from({ length: 4_000 }, (_, i) => [`file-${i}`, file(`content ${i}`)])),
    );

    const { told, segmentsRead } = await compare(
      directory({ big, note: file('1') }),
      directory({ big, note: file('2') }),
    );

    expect(told).toEqual(['modified /note']);
    expect(segmentsRead).toBeLessThanOrEqual(2);
  });

  it('reads only the leaf of a split directory in which something changed', async () => {
    const entries = Object.fromEntries(
      Array.from({ length: 30_000 }, (_, i) => [`file-${String(i).padStart(5, '0')}`, file('')]),
    );
    const { 'file-00007': _, ...without } = entries;
    const more = { ...without, 'file-15000-b': file('new'), zzz: file('last') };

    const { told, segmentsRead } = await compare(directory(entries), directory(more));
    const everything = await compare(directory({}), directory(entries));

    expect(told).toEqual(['removed /file-00007', 'added /file-15000-b', 'added /zzz']);
    expect(everything.told).toHaveLength(30_000);
    expect(segmentsRead).toBeLessThan(everything.segmentsRead / 2);
  });

  it('compares one subtree, also with another one of other name', async () => {
    const left = directory({ a: directory({ x: file('1') }), b: file('left') });
    const right = directory({
      a: directory({ x: file('2') }),
      b: file('right'),
      c: directory({ y: file('3') }),
    });

    expect((await compare(left, right, { paths: ['/a', '/a'] })).told).toEqual(['modified /a/x']);
    expect((await compare(left, right, { paths: ['/a', '/c'] })).told).toEqual([
      'removed /c/x',
      'added /c/y',
    ]);
    expect((await compare(left, right, { paths: ['/', '/c'] })).told).toEqual([
      'removed /c/a',
      'removed /c/a/x',
      'removed /c/b',
      'added /c/y',
    ]);
  });

  it('takes a path that one side lacks as added or removed, and refuses one that both lack', async () => {
    const left = directory({ a: file('1') });
    const right = directory({ b: file('2') });

    expect((await compare(left, right, { paths: ['/b', '/b'] })).told).toEqual(['added /b']);
    expect((await compare(left, right, { paths: ['/a', '/a'] })).told).toEqual(['removed /a']);
    await expect(compare(left, right, { paths: ['/c', '/c'] })).rejects.toMatchObject({
      code: 'PATH_NOT_IN_SNAPSHOT',
    });
  });

  it('goes by size and time where the chunks of both snapshots have keys of their own', async () => {
    const { told } = await compare(
      directory({ d: directory({ same: file('1234'), touched: file('1234') }), grown: file('1') }),
      directory({
        d: directory({ same: file('1234'), touched: file('1234', { mtimeNs: 5n }) }),
        grown: file('12'),
      }),
      { record: { salt: Buffer.alloc(16, 7) } },
    );

    expect(told).toEqual(['modified /d/touched', 'modified /grown']);
  });
});

describe('countChange', () => {
  it('adds up files, directories, others and bytes', async () => {
    const { changes } = await compare(
      directory({
        gone: file('12345'),
        log: file('1'),
        mode: file('123'),
        typed: file('1234567'),
        old: directory({ l: symlink('x') }),
      }),
      directory({
        fresh: file('12'),
        log: file('1234'),
        mode: file('123', { mode: 0 }),
        typed: symlink('x'),
        new: directory({}),
      }),
    );

    expect(changes.reduce(countChange, NO_CHANGES)).toEqual({
      added: { files: 1, directories: 1, others: 1, bytes: 2 },
      removed: { files: 2, directories: 1, others: 1, bytes: 12 },
      modified: { files: 1, directories: 0, others: 0, bytes: 4 },
      metadata: { files: 1, directories: 0, others: 0, bytes: 0 },
      typeChanged: 1,
    });
  });
});
