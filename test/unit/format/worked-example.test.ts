import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import { fileContent } from '../../../src/browse/cat.ts';
import { loadIndex } from '../../../src/repository/chunk-index.ts';
import { readNewestHeads } from '../../../src/repository/chain.ts';
import { openRepository } from '../../../src/repository/opening.ts';
import { listSnapshots } from '../../../src/repository/snapshots.ts';
import { TreeReader } from '../../../src/repository/contents/tree-reader.ts';
import { collect } from '../../support/collect.ts';
import { readRepository } from '../../support/independent-reader.ts';
import { removeTree } from '../../support/remove-tree.ts';
import {
  EXAMPLE_PASSPHRASE,
  exampleBytesOf,
  renderExample,
  workedExample,
} from '../../support/worked-example.ts';

const { signal } = new AbortController();

it('stands in docs/repository-format.md byte for byte', () => {
  const page = readFileSync(new URL('../../../docs/repository-format.md', import.meta.url), 'utf8');
  expect(page).toContain(renderExample());
});

it.each([true, false])(
  'is opened, listed and read by the program (index objects left aside: %s)',
  async (ignored) => {
    const destination = createMemoryDestination();
    for (const object of workedExample()) await destination.put(object.key, exampleBytesOf(object), signal);
    const secret = { kind: 'passphrase', text: EXAMPLE_PASSPHRASE } as const;
    const options = { clock: systemClock, stateDirectory: undefined, allowWeakCost: true };
    const repository = await openRepository(destination, secret, options, signal);
    const index = await loadIndex(repository, { without: new Set(), ignoreIndexObjects: ignored }, signal);
    const { live, damaged } = await listSnapshots(repository, signal);
    const [snapshot] = live;
    if (snapshot === undefined) throw new Error('there is no snapshot');
    const trees = new TreeReader(repository, index, { plain: false });
    const [root] = await trees.directory(snapshot.record.root, signal);
    if (root?.type !== 'directory') throw new Error('there is no directory');
    const [file, link] = await trees.directory(root.id, signal);
    if (file?.type !== 'file') throw new Error('there is no file');

    expect([live.length, damaged, index.damaged, index.missing]).toEqual([1, [], [], []]);
    expect(index.uncovered.length).toBe(ignored ? 2 : 0);
    expect(root).toMatchObject({ name: 'd', totals: { files: 1, bytes: 12, entries: 2 } });
    expect(link).toMatchObject({ type: 'symlink', name: 'l', target: 'f', mtimeNs: -1_000_000_000n });
    const content = await collect(fileContent(repository, index, snapshot, file, undefined, signal));
    expect(Buffer.concat(content).toString()).toBe('hello world\n');
    expect(await readNewestHeads(repository, signal)).toMatchObject([{ record: snapshot.id, live: 1 }]);
  },
);

it('is read by the reader that knows the page alone', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'holdfast-example-'));
  try {
    for (const object of workedExample()) {
      const file = path.join(directory, object.key);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, exampleBytesOf(object));
    }
    const entries = [...readRepository(directory, { passphrase: EXAMPLE_PASSPHRASE }, { weakCost: true })];
    expect(entries.map((one) => [one.path, one.content?.toString()])).toEqual([
      ['/d', undefined],
      ['/d/f', 'hello world\n'],
      ['/d/l', undefined],
    ]);
  } finally {
    removeTree(directory);
  }
});
