import { describe, expect, it } from 'vitest';
import { asByteString, bytesOfText, pathNames, pathOf } from '../../../src/base/byte-path.ts';
import { findPath, lookUpPath } from '../../../src/browse/locate.ts';
import { SnapshotTrees } from '../../../src/browse/snapshot-trees.ts';
import { loadIndex } from '../../../src/repository/chunk-index.ts';
import {
  directory,
  file,
  type HandMadeDirectory,
  handMadeSnapshot,
  memoryRepository,
  symlink,
} from '../../support/hand-made-snapshot.ts';

const { signal } = new AbortController();

async function browse(root: HandMadeDirectory) {
  const repository = await memoryRepository(signal);
  const snapshot = await handMadeSnapshot(repository, root, {}, signal);
  const index = await loadIndex(repository, { without: new Set() }, signal);
  return { snapshot, reader: new SnapshotTrees(repository, index).reader(snapshot) };
}

const home = directory({
  home: directory({
    u: directory({ 'a.txt': file('hello'), link: symlink('a.txt'), '\xff\xfe': file('raw') }),
  }),
});

describe('findPath', () => {
  it('finds files, directories, links and names that are not UTF-8', async () => {
    const { reader, snapshot } = await browse(home);

    const text = await findPath(reader, snapshot, asByteString('/home/u/a.txt'), signal);
    const link = await findPath(reader, snapshot, asByteString('/home/u/link'), signal);
    const raw = await findPath(reader, snapshot, asByteString('/home/u/\xff\xfe'), signal);
    const parent = await findPath(reader, snapshot, asByteString('/home/u'), signal);

    expect(text.entry).toMatchObject({ type: 'file', size: 5 });
    expect(text.tree).toBeUndefined();
    expect(link.entry).toMatchObject({ type: 'symlink', target: 'a.txt' });
    expect(raw).toMatchObject({ path: '/home/u/\xff\xfe', entry: { size: 3 } });
    expect(parent.entry).toMatchObject({ type: 'directory', totals: { files: 2, entries: 3 } });
    expect(parent.tree).toEqual(parent.entry?.type === 'directory' ? parent.entry.id : undefined);
  });

  it('gives the root as a tree without an entry', async () => {
    const { reader, snapshot } = await browse(home);

    expect(await findPath(reader, snapshot, asByteString('/'), signal)).toEqual({
      path: '/',
      entry: undefined,
      tree: snapshot.record.root,
    });
  });

  it('takes superfluous slashes, dots and a missing leading slash as people write them', async () => {
    const { reader, snapshot } = await browse(home);

    for (const written of [
      'home/u/a.txt',
      '//home/./u/a.txt',
      '/home/u/x/../a.txt',
      '/home/u/../../home/u/a.txt/',
    ]) {
      const { path } = await findPath(reader, snapshot, asByteString(written), signal);
      expect(path).toBe('/home/u/a.txt');
    }
  });

  it('names the nearest directory when the path is not there', async () => {
    const { reader, snapshot } = await browse(home);

    await expect(findPath(reader, snapshot, asByteString('/home/u/b/c'), signal)).rejects.toMatchObject({
      code: 'PATH_NOT_IN_SNAPSHOT',
      message: `/home/u/b/c is not in snapshot ${snapshot.id.slice(0, 8)}`,
      hint: `The nearest directory in it is /home/u. To see whether other snapshots have it, run: holdfast versions /home/u/b/c`,
    });
  });

  it('says so when the path goes on behind a file', async () => {
    const { reader, snapshot } = await browse(home);

    await expect(findPath(reader, snapshot, asByteString('/home/u/a.txt/b'), signal)).rejects.toMatchObject({
      code: 'PATH_NOT_IN_SNAPSHOT',
      hint: '/home/u/a.txt is in it, but is not a directory.',
    });
  });

  it('quotes the path in the hint so that the command can be pasted', async () => {
    const { reader, snapshot } = await browse(directory({ [bytesOfText("it's here")]: directory({}) }));

    await expect(findPath(reader, snapshot, asByteString("/it's here/x"), signal)).rejects.toMatchObject({
      hint: expect.stringContaining(String.raw`'/it'\''s here/x'`) as unknown,
    });
  });

  it('finds entries of a directory that is split over many leaves, and none that is not there', async () => {
    const names = Array.from({ length: 9_000 }, (_, i) => `file-${String(i * 7).padStart(6, '0')}`);
    const entries = Object.fromEntries(names.map((name) => [name, file('')]));
    const { reader, snapshot } = await browse(directory({ big: directory(entries) }));

    const big = await findPath(reader, snapshot, asByteString('/big'), signal);
    expect((await reader.chunk(big.tree ?? Buffer.alloc(0), signal)).form).toBe('branch');
    for (const name of names.filter((_, i) => i % 30 === 0)) {
      const { entry } = await findPath(reader, snapshot, asByteString(`/big/${name}`), signal);
      expect(entry?.name).toBe(name);
    }
    for (const name of ['a', 'file-000001', 'file-062999', 'z']) {
      const found = await lookUpPath(reader, snapshot, asByteString(`/big/${name}`), signal);
      expect(found).toMatchObject({ nearest: { path: '/big' } });
    }
  });
});

describe('pathNames', () => {
  it('resolves what leads above the root to the root', () => {
    expect(pathOf(pathNames(asByteString('/../..')))).toBe('/');
    expect(pathOf(pathNames(asByteString('')))).toBe('/');
  });
});
