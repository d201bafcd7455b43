import { describe, expect, it } from 'vitest';
import { asByteString, type ByteString } from '../../../src/base/byte-path.ts';
import { listEntries } from '../../../src/browse/list.ts';
import { SnapshotTrees } from '../../../src/browse/snapshot-trees.ts';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import { loadIndex } from '../../../src/repository/chunk-index.ts';
import { listNamed } from '../../../src/repository/objects/listing.ts';
import {
  directory,
  file,
  handMadeSnapshot,
  memoryRepository,
  symlink,
  type HandMadeDirectory,
} from '../../support/hand-made-snapshot.ts';
import { recordingDestination } from '../../support/recording-destination.ts';

const { signal } = new AbortController();

async function browse(root: HandMadeDirectory) {
  const destination = recordingDestination(createMemoryDestination());
  const repository = await memoryRepository(signal, destination);
  const snapshot = await handMadeSnapshot(repository, root, {}, signal);
  const index = await loadIndex(repository, { without: new Set() }, signal);
  destination.reset();
  return { destination, snapshot, index, reader: new SnapshotTrees(repository, index).reader(snapshot) };
}

async function paths(found: AsyncIterable<{ readonly path: ByteString }>): Promise<string[]> {
  const list = [];
  for await (const { path } of found) list.push(path);
  return list;
}

const tree = directory({
  etc: directory({ hosts: file('127.0.0.1') }),
  home: directory({
    b: directory({ deep: directory({ x: file('1') }) }),
    a: file('2'),
    'b.txt': symlink('a'),
  }),
});

describe('listEntries', () => {
  it('lists what lies in a directory in byte order', async () => {
    const { reader, snapshot } = await browse(tree);

    const found = listEntries(reader, snapshot, { path: asByteString('/home'), recursive: false }, signal);

    expect(await paths(found)).toEqual(['/home/a', '/home/b', '/home/b.txt']);
  });

  it('goes down into every directory right after naming it when asked to', async () => {
    const { reader, snapshot } = await browse(tree);

    const found = listEntries(reader, snapshot, { path: asByteString('/'), recursive: true }, signal);

    expect(await paths(found)).toEqual([
      '/etc',
      '/etc/hosts',
      '/home',
      '/home/a',
      '/home/b',
      '/home/b/deep',
      '/home/b/deep/x',
      '/home/b.txt',
    ]);
  });

  it('gives the entry itself for a path that is no directory', async () => {
    const { reader, snapshot } = await browse(tree);

    const found = listEntries(reader, snapshot, { path: asByteString('/home/a'), recursive: true }, signal);

    expect(await paths(found)).toEqual(['/home/a']);
  });

  it('lists a directory of many leaves completely and reads no further than it is asked to', async () => {
    const names = Array.from(
      { length: 20_000 },
      (_, i) => `a-rather-long-name-${String(i).padStart(5, '0')}`,
    );
    const entries = Object.fromEntries(names.map((name) => [name, file('')]));
    const { destination, reader, snapshot } = await browse(directory(entries));

    for await (const { path } of listEntries(
      reader,
      snapshot,
      { path: asByteString('/'), recursive: false },
      signal,
    )) {
      expect(path).toBe(`/${names[0]}`);
      break;
    }
    const atFirst = destination.count('get', 'packs/');
    const all = await paths(
      listEntries(reader, snapshot, { path: asByteString('/'), recursive: false }, signal),
    );

    expect(all).toEqual(names.map((name) => `/${name}`));
    expect(destination.count('get', 'packs/')).toBeGreaterThan(atFirst * 2);
  });

  it('walks a path of 2,000 directories', async () => {
    let deep = directory({ end: file('x') });
    for (let i = 0; i < 2_000; i += 1) deep = directory({ d: deep });
    const { reader, snapshot } = await browse(deep);

    const all = await paths(
      listEntries(reader, snapshot, { path: asByteString('/'), recursive: true }, signal),
    );

    expect(all).toHaveLength(2_001);
    expect(all.at(-1)).toBe(`${'/d'.repeat(2_000)}/end`);
  });

  it('reports a directory that cannot be read and goes on with the others, or ends with the error', async () => {
    const repository = await memoryRepository(signal);
    const gone = directory({ z: file('z') });
    await handMadeSnapshot(repository, directory({ gone }), {}, signal);
    const firstPacks = [...(await listNamed(repository.destination, 'packs/', signal)).keys()];
    const damaged = await handMadeSnapshot(repository, directory({ keep: file('k'), gone }), {}, signal);
    const index = await loadIndex(repository, { without: new Set(firstPacks) }, signal);
    const broken = new SnapshotTrees(repository, index).reader(damaged);
    const problems: string[] = [];
    const options = { path: asByteString('/'), recursive: true };

    const found = await paths(
      listEntries(
        broken,
        damaged,
        { ...options, onUnreadable: (path, error) => problems.push(`${path}: ${error.message}`) },
        signal,
      ),
    );

    expect(found).toEqual(['/gone', '/keep']);
    expect(problems).toEqual([expect.stringMatching(/^\/gone: chunk [0-9a-f]{48}: no pack holds it$/)]);
    await expect(paths(listEntries(broken, damaged, options, signal))).rejects.toMatchObject({
      code: 'CORRUPT_DATA',
    });
  });

  it('stops with the reason of an aborted signal', async () => {
    const { reader, snapshot } = await browse(tree);
    const abort = new AbortController();
    const found = listEntries(reader, snapshot, { path: asByteString('/'), recursive: true }, abort.signal);

    await found.next();
    abort.abort();

    await expect(paths(found)).rejects.toMatchObject({ name: 'AbortError' });
  });
});
