import {
  appendFileSync,
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ArchiveSummary } from '../../src/archiver/archive.ts';
import { bytesOfText } from '../../src/base/byte-path.ts';
import { treePath } from '../../src/base/tree-path.ts';
import { openEngine, type Engine } from '../support/engine.ts';
import { hasXattrs, makeSpecial, setXattr } from '../support/libc.ts';
import { seededRandom } from '../support/seeded-random.ts';

const isRoot = process.getuid?.() === 0;

let engine: Engine;
let first: ArchiveSummary;

const at = (name: string): string => join(engine.source, name);

beforeEach(async () => {
  engine = await openEngine();
  const random = seededRandom(7);
  for (const directory of ['a', 'a/deep', 'b', 'empty']) mkdirSync(at(directory));
  for (const name of ['a/one', 'a/two', 'a/deep/three', 'b/four'])
    writeFileSync(at(name), random.bytes(2_000));
  writeFileSync(at('large'), random.bytes(700_000));
  writeFileSync(at('linked'), random.bytes(3_000));
  linkSync(at('linked'), at('b/linked-too'));
  symlinkSync('a/one', at('link'));
  makeSpecial(bytesOfText(at('fifo')), 'fifo', 0o600);
  // Files touched within the last tick before a run are read again by the next one.
  await delay(40);
  first = await engine.backup();
});
afterEach(async () => {
  await engine[Symbol.asyncDispose]();
});

interface Outcome {
  readonly second: ArchiveSummary;
  /** Data packs and tree packs stored by the second run. */
  readonly packs: number;
}

/** Changes the tree and backs up again. Whatever the change, the snapshot is what the tree is now. */
async function after(change: () => void): Promise<Outcome> {
  change();
  engine.calls.reset();
  const second = await engine.backup();
  const { record } = second.snapshot;
  expect(record.errors).toEqual([]);
  expect(record.parent).toBe(first.snapshot.id);
  expect(await engine.differences(second.snapshot)).toEqual([]);
  return { second, packs: engine.calls.count('put', 'packs/') };
}

function counts({ second }: Outcome): { new: number; changed: number; unchanged: number } {
  const { new: fresh, changed, unchanged } = second.snapshot.record.counts;
  return { new: fresh, changed, unchanged };
}

describe('a change between two runs', () => {
  test('of content: that file alone is read', async () => {
    const outcome = await after(() => appendFileSync(at('a/one'), 'more'));
    expect(counts(outcome)).toEqual({ new: 0, changed: 1, unchanged: 6 });
    expect(outcome.second.bytesRead).toBe(2_004);
  });

  test('of content to the same size, with the time set back: the file is read', async () => {
    const outcome = await after(() => {
      const { atime, mtime } = lstatSync(at('a/one'));
      writeFileSync(at('a/one'), seededRandom(8).bytes(2_000));
      utimesSync(at('a/one'), atime, mtime);
    });
    expect(counts(outcome)).toEqual({ new: 0, changed: 1, unchanged: 6 });
  });

  test('of length: a file cut short', async () => {
    const outcome = await after(() => truncateSync(at('large'), 300_000));
    expect(counts(outcome)).toEqual({ new: 0, changed: 1, unchanged: 6 });
    expect(outcome.second.bytesRead).toBe(300_000);
  });

  test('a new file: it alone is read', async () => {
    const outcome = await after(() => writeFileSync(at('b/new'), 'new'));
    expect(counts(outcome)).toEqual({ new: 1, changed: 0, unchanged: 7 });
    expect(outcome.second.bytesRead).toBe(3);
  });

  test('a removed file and a removed tree', async () => {
    const outcome = await after(() => {
      unlinkSync(at('b/four'));
      rmSync(at('a'), { recursive: true });
    });
    expect(counts(outcome)).toEqual({ new: 0, changed: 0, unchanged: 3 });
    expect(outcome.second.bytesRead).toBe(0);
  });

  test('everything removed', async () => {
    const outcome = await after(() => {
      for (const name of ['a', 'b', 'empty', 'large', 'linked', 'link', 'fifo'])
        rmSync(at(name), { recursive: true });
    });
    expect(counts(outcome)).toEqual({ new: 0, changed: 0, unchanged: 0 });
  });

  test('a renamed file: its content is known, so only trees are stored', async () => {
    const outcome = await after(() => renameSync(at('large'), at('a/deep/renamed')));
    expect(counts(outcome)).toMatchObject({ new: 1, changed: 0 });
    expect(outcome.packs).toBe(1);
    expect(outcome.second.bytesNew).toBeLessThan(10_000);
  });

  test('a renamed directory: what is in it is known, so only trees are stored', async () => {
    const outcome = await after(() => renameSync(at('a'), at('renamed')));
    expect(counts(outcome)).toMatchObject({ new: 3, changed: 0 });
    expect(outcome.packs).toBe(1);
    expect(outcome.second.bytesNew).toBeLessThan(10_000);
  });

  test('names that change places', async () => {
    await after(() => {
      renameSync(at('a/one'), at('a/spare'));
      renameSync(at('a/two'), at('a/one'));
      renameSync(at('a/spare'), at('a/two'));
    });
  });

  test('of the modification time alone: the file is read, nothing of it is stored', async () => {
    const outcome = await after(() => utimesSync(at('large'), 1_000_000_000, 1_000_000_000));
    expect(counts(outcome)).toEqual({ new: 0, changed: 0, unchanged: 7 });
    expect(outcome.packs).toBe(1);
    expect(outcome.second.bytesNew).toBeLessThan(10_000);
  });

  test('of the mode alone, of a file, a directory and a FIFO', async () => {
    const outcome = await after(() => {
      for (const name of ['a/one', 'b', 'fifo']) chmodSync(at(name), 0o700);
    });
    expect(outcome.packs).toBe(1);
    expect(outcome.second.bytesNew).toBeLessThan(10_000);
  });

  test.runIf(isRoot)('of the owner alone', async () => {
    const outcome = await after(() => {
      for (const name of ['a/two', 'a', 'fifo']) chownSync(at(name), 12_345, 54_321);
    });
    expect(outcome.packs).toBe(1);
  });

  test.runIf(hasXattrs)('of an extended attribute alone, of a file and a directory', async () => {
    const outcome = await after(() => {
      for (const name of ['a/one', 'a/deep', '.'])
        setXattr(bytesOfText(at(name)), bytesOfText('user.test'), Buffer.from(name));
    });
    expect(outcome.packs).toBe(1);
    expect(outcome.second.bytesNew).toBeLessThan(10_000);
  });

  test('of a target of a symbolic link', async () => {
    const outcome = await after(() => {
      unlinkSync(at('link'));
      symlinkSync('a/two', at('link'));
    });
    expect(outcome.second.bytesRead).toBe(0);
  });

  test('one name more of a file', async () => {
    const { second } = await after(() => linkSync(at('a/one'), at('b/one-too')));
    const tree = await engine.treeOf(second.snapshot);
    expect(tree.get(bytesOfText(at('a/one')))?.links?.count).toBe(2);
    expect(tree.get(bytesOfText(at('b/one-too')))?.links?.count).toBe(2);
  });

  test('one name less of a file', async () => {
    const { second } = await after(() => unlinkSync(at('b/linked-too')));
    const tree = await engine.treeOf(second.snapshot);
    expect(tree.get(bytesOfText(at('linked')))?.links).toBeUndefined();
  });

  test('a copy in place of a hard link', async () => {
    await after(() => {
      unlinkSync(at('linked'));
      writeFileSync(at('linked'), seededRandom(7).bytes(3_000));
    });
  });
});

const kinds: Readonly<Record<string, (path: string) => void>> = {
  file: (path) => writeFileSync(path, 'a file'),
  directory: (path) => {
    mkdirSync(path);
    writeFileSync(join(path, 'inside'), 'inside');
  },
  link: (path) => symlinkSync('a', path),
  fifo: (path) => makeSpecial(treePath(path), 'fifo', 0o640),
  socket: (path) => makeSpecial(treePath(path), 'socket', 0o640),
};

test('an entry may be of any other kind in the next run', async () => {
  const names = Object.keys(kinds);
  for (const from of names) for (const to of names) kinds[from]?.(at(`${from}-to-${to}`));
  first = await engine.backup();
  await after(() => {
    for (const from of names) {
      for (const to of names) {
        rmSync(at(`${from}-to-${to}`), { recursive: true });
        kinds[to]?.(at(`${from}-to-${to}`));
      }
    }
  });
  expect(lstatSync(at('directory-to-file')).isFile()).toBe(true);
});
