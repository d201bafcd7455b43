import { describe, expect, it, vi } from 'vitest';
import { asByteString, bytesOfText } from '../../../src/base/byte-path.ts';
import type { FindQuery } from '../../../src/browse/find-query.ts';
import { findEntries, type FindOptions } from '../../../src/browse/find.ts';
import { SnapshotTrees } from '../../../src/browse/snapshot-trees.ts';
import { loadIndex } from '../../../src/repository/chunk-index.ts';
import { listNamed } from '../../../src/repository/objects/listing.ts';
import { TreeReader } from '../../../src/repository/contents/tree-reader.ts';
import type { Snapshot } from '../../../src/repository/snapshots.ts';
import {
  directory,
  file,
  handMadeSnapshot,
  memoryRepository,
  symlink,
  type HandMadeDirectory,
} from '../../support/hand-made-snapshot.ts';

const { signal } = new AbortController();

async function repositoryWith(roots: readonly HandMadeDirectory[]) {
  const repository = await memoryRepository(signal);
  const snapshots: Snapshot[] = [];
  for (const root of roots) snapshots.push(await handMadeSnapshot(repository, root, {}, signal));
  const index = await loadIndex(repository, { without: new Set() }, signal);
  return { snapshots, trees: new SnapshotTrees(repository, index) };
}

/** `<number of the snapshot>:<path>`, in order. */
async function search(
  trees: SnapshotTrees,
  snapshots: readonly Snapshot[],
  query: FindQuery,
  options: FindOptions = {},
): Promise<string[]> {
  const found = [];
  for await (const { snapshot, path } of findEntries(trees, snapshots, query, options, signal)) {
    found.push(`${snapshots.indexOf(snapshot)}:${path}`);
  }
  return found;
}

const ms = 1_700_000_000_000;
const at = (daysLater: number) => ({ mtimeNs: BigInt(ms + daysLater * 86_400_000) * 1_000_000n });

const tree = directory({
  home: directory({
    u: directory({
      'Letter.TXT': file('dear', at(0)),
      notes: directory(
        { 'a.txt': file('1', at(1)), 'b.txt': file('12345678', at(2)), 'c.md': file('') },
        at(5),
      ),
      link: symlink('notes/a.txt', at(3)),
    }),
  }),
  srv: directory({ notes: file('a file called notes') }),
});
const umlaut = bytesOfText('Übung.txt');
const utf8Tree = directory({ home: directory({ [umlaut]: file('ü'), '\xff.txt': file('raw') }) });

describe('findEntries', () => {
  it('matches a pattern without a slash against names', async () => {
    const { trees, snapshots } = await repositoryWith([tree]);

    expect(await search(trees, snapshots, { patterns: ['*.txt'] })).toEqual([
      '0:/home/u/notes/a.txt',
      '0:/home/u/notes/b.txt',
    ]);
    expect(await search(trees, snapshots, { patterns: ['notes', '?.md'] })).toEqual([
      '0:/home/u/notes',
      '0:/home/u/notes/c.md',
      '0:/srv/notes',
    ]);
  });

  it('takes no notice of case when told so, in any script', async () => {
    const { trees, snapshots } = await repositoryWith([tree, utf8Tree]);

    expect(await search(trees, snapshots.slice(0, 1), { patterns: ['letter.*'], ignoreCase: true })).toEqual([
      '0:/home/u/Letter.TXT',
    ]);
    expect(await search(trees, snapshots, { patterns: ['üBUNG*'], ignoreCase: true })).toEqual([
      `1:/home/${umlaut}`,
    ]);
    expect(await search(trees, snapshots, { patterns: ['üBUNG*'] })).toEqual([]);
  });

  it('takes a character of several bytes, and a byte that is no character, as one', async () => {
    const { trees, snapshots } = await repositoryWith([utf8Tree]);

    expect(await search(trees, snapshots, { patterns: ['?bung.txt'] })).toEqual([`0:/home/${umlaut}`]);
    expect(await search(trees, snapshots, { patterns: ['?.txt'] })).toEqual(['0:/home/\xff.txt']);
  });

  it('matches a pattern with a slash against paths', async () => {
    const { trees, snapshots } = await repositoryWith([tree]);
    const found = (...patterns: string[]) => search(trees, snapshots, { patterns });

    expect(await found('notes/*.txt')).toEqual(['0:/home/u/notes/a.txt', '0:/home/u/notes/b.txt']);
    expect(await found('/home/**/*.md')).toEqual(['0:/home/u/notes/c.md']);
    expect(await found('/home/*.md')).toEqual([]);
    expect(await found('/*/notes')).toEqual(['0:/srv/notes']);
    expect(await found('/home')).toEqual(['0:/home']);
    expect(await found('notes/')).toEqual(['0:/home/u/notes']);
  });

  it('does not go into directories that a whole path leaves aside', async () => {
    const aside = directory({ sub: directory({ x: file('') }) });
    const { trees, snapshots } = await repositoryWith([directory({ a: directory({ x: file('') }), aside })]);
    const reads = vi.spyOn(TreeReader.prototype, 'chunk');

    expect(await search(trees, snapshots, { patterns: ['/a/x'] })).toEqual(['0:/a/x']);
    // The root, which is looked at first as well, and /a.
    expect(reads).toHaveBeenCalledTimes(3);
    expect(await search(trees, snapshots, { patterns: ['/a/**/x', '/aside/?'] })).toEqual(['0:/a/x']);
    expect(reads).toHaveBeenCalledTimes(7);
    reads.mockRestore();
  });

  it('refuses patterns that can never match', async () => {
    const { trees, snapshots } = await repositoryWith([tree]);

    for (const pattern of ['[a', '/', 'a//b', '../x', 'x\\']) {
      await expect(search(trees, snapshots, { patterns: [pattern] })).rejects.toMatchObject({
        code: 'INVALID_PATTERN',
      });
    }
  });

  it('narrows by type, size and time', async () => {
    const { trees, snapshots } = await repositoryWith([tree]);
    const found = (query: Omit<FindQuery, 'patterns'>) =>
      search(trees, snapshots, { patterns: [], ...query });

    expect(await found({ types: ['symlink'] })).toEqual(['0:/home/u/link']);
    expect(await found({ types: ['directory', 'symlink'] })).toHaveLength(5);
    expect(await found({ minSize: 4, maxSize: 8 })).toEqual([
      '0:/home/u/Letter.TXT',
      '0:/home/u/notes/b.txt',
    ]);
    expect(await found({ newerThanMs: ms + 2 * 86_400_000 })).toEqual([
      '0:/home/u/link',
      '0:/home/u/notes',
      '0:/home/u/notes/b.txt',
    ]);
    expect(await found({ newerThanMs: ms + 1, olderThanMs: ms + 2 * 86_400_000 })).toEqual([
      '0:/home/u/notes/a.txt',
    ]);
  });

  it('reads a directory that many snapshots share once, and still reports it for each', async () => {
    const shared = Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`f${i}.c`, file(`${i}`)]));
    const roots = Array.from({ length: 30 }, (_, i) =>
      directory({
        big: directory({ ...shared, deep: directory({ 'wanted.txt': file('x') }) }),
        n: file(`${i}`),
      }),
    );
    const { trees, snapshots } = await repositoryWith(roots);
    const query = { patterns: ['wanted.*', 'f17.c', 'n'] };
    const reads = vi.spyOn(TreeReader.prototype, 'chunk');

    const first = await search(trees, snapshots.slice(0, 1), query);
    const once = reads.mock.calls.length;
    const all = await search(trees, snapshots, query);

    expect(first).toEqual(['0:/big/deep/wanted.txt', '0:/big/f17.c', '0:/n']);
    expect(all).toEqual(snapshots.flatMap((_, i) => first.map((line) => line.replace('0:', `${i}:`))));
    // Besides, the root of every other snapshot, which is looked at first as well.
    expect(reads.mock.calls.length - once).toBe(once + 2 * 29);
    reads.mockRestore();
  });

  it('tells equal directories at different places apart when the query is about paths', async () => {
    const same = directory({ x: file('1') });
    const { trees, snapshots } = await repositoryWith([directory({ a: same, b: same })]);

    expect(await search(trees, snapshots, { patterns: ['/b/x'] })).toEqual(['0:/b/x']);
    expect(await search(trees, snapshots, { patterns: ['x'] })).toEqual(['0:/a/x', '0:/b/x']);
  });

  it('finds the same with what it remembers as without, for random trees', async () => {
    let seed = 12_345;
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((seed / 2_147_483_648) * below);
    };
    const grow = (depth: number): HandMadeDirectory =>
      directory(
        Object.fromEntries(
          Array.from({ length: 1 + random(4) }, (_, i) => {
            const name = `${'abc'[random(3)]}${i}`;
            return [name, depth > 0 && random(2) === 0 ? grow(depth - 1) : file(`${random(3)}`)];
          }),
        ),
      );
    const roots = Array.from({ length: 12 }, () => directory({ p: grow(3), q: grow(2) }));
    const { trees, snapshots } = await repositoryWith(roots);

    for (const patterns of [['a*'], ['?1'], ['/p/**/b*', 'c0'], []]) {
      const apart = [];
      for (const [i, snapshot] of snapshots.entries()) {
        const one = await search(trees, [snapshot], { patterns });
        apart.push(...one.map((line) => line.replace('0:', `${i}:`)));
      }
      expect(apart.length).toBeGreaterThan(0);
      for (const memoryBytes of [64_000, 9_000, 1_000, 0]) {
        expect(await search(trees, snapshots, { patterns }, { memoryBytes })).toEqual(apart);
      }
    }
  });

  it('reports what it could not read for every snapshot and finds the rest', async () => {
    const repository = await memoryRepository(signal);
    const gone = directory({ lost: file('z') });
    await handMadeSnapshot(repository, directory({ gone }), {}, signal);
    const packs = new Set((await listNamed(repository.destination, 'packs/', signal)).keys());
    const snapshots: Snapshot[] = [];
    for (const n of ['1', '2']) {
      snapshots.push(await handMadeSnapshot(repository, directory({ gone, kept: file(n) }), {}, signal));
    }
    const trees = new SnapshotTrees(repository, await loadIndex(repository, { without: packs }, signal));
    const problems: string[] = [];
    const onUnreadable: FindOptions['onUnreadable'] = (path, _error, snapshot) =>
      problems.push(`${snapshots.indexOf(snapshot)}:${path}`);

    const found = await search(trees, snapshots, { patterns: ['kept', 'lost'] }, { onUnreadable });

    expect(found).toEqual(['0:/kept', '1:/kept']);
    expect(problems).toEqual(['0:/gone', '1:/gone']);
    await expect(search(trees, snapshots, { patterns: ['kept'] })).rejects.toMatchObject({
      code: 'CORRUPT_DATA',
    });
  });

  it('gives what is shown of an entry without holding on to stored bytes', async () => {
    const { trees, snapshots } = await repositoryWith([tree]);

    for await (const { entry } of findEntries(trees, snapshots, { patterns: ['link'] }, {}, signal)) {
      expect(entry).toMatchObject({
        type: 'symlink',
        target: 'notes/a.txt',
        name: asByteString('link'),
        uid: 1000,
      });
      expect(Object.values(entry).some((value) => Buffer.isBuffer(value))).toBe(false);
    }
  });
});
