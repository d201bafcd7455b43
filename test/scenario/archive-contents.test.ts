// Turn 3 of 8.
import {
  closeSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { bytesOfText, joinBytes, type ByteString } from '../../src/base/byte-path.ts';
import { fsPath, treePath } from '../../src/base/tree-path.ts';
import { compareTrees, shownDifference } from '../support/compare-trees.ts';
import { storedContent } from '../support/compare-snapshot.ts';
import { omissions, entryOf, never, openEngine, type Engine } from '../support/engine.ts';
import { makeSpecial, setXattr } from '../support/libc.ts';
import { insideDirectory } from '../support/long-path.ts';
import { seededRandom } from '../support/seeded-random.ts';

const KiB = 1024;
const MiB = 1024 * KiB;

let engine: Engine;
const at = (name: string): string => join(engine.source, name);

beforeEach(async () => {
  engine = await openEngine();
});
afterEach(async () => {
  await engine[Symbol.asyncDispose]();
});

/** Makes a file of holes with islands of random bytes; returns those. */
function makeSparse(path: string, size: number, islands: readonly (readonly [number, number])[]): Buffer[] {
  const random = seededRandom(size);
  const file = openSync(path, 'wx');
  try {
    ftruncateSync(file, size);
    return islands.map(([offset, length]) => {
      const bytes = random.bytes(length);
      writeSync(file, bytes, 0, length, offset);
      return bytes;
    });
  } finally {
    closeSync(file);
  }
}

/** Bytes that this process, its threads included, has read through system calls. */
function bytesReadSoFar(): number {
  return Number(/^rchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
}

test.runIf(process.platform === 'linux')(
  'a file of 1 GiB with 10 MiB of data: only these are read and stored, and holes are given back',
  async () => {
    // Data at the start, at the end, across the ends of the spans that are read apart, and at odd offsets.
    const places = [0, 128 * MiB - 512 * KiB, 300 * MiB + 12_345, 512 * MiB, 1024 * MiB - 2 * MiB];
    const islands = places.map((offset) => [offset, 2 * MiB] as const);
    const bytes = makeSparse(at('sparse'), 1024 * MiB, islands);
    const before = bytesReadSoFar();
    const { snapshot } = await engine.backup(undefined, { workers: 2 });
    expect(bytesReadSoFar() - before).toBeLessThan(16 * MiB);
    expect(snapshot.record.status).toBe('complete');
    expect(engine.calls.bytes('put', 'packs/')).toBeGreaterThan(10 * MiB);
    expect(engine.calls.bytes('put', 'packs/')).toBeLessThan(11.5 * MiB);

    const { source } = await engine.restoreTo('back', snapshot);
    const restored = statSync(join(source, 'sparse'));
    expect(restored.size).toBe(1024 * MiB);
    expect(restored.blocks * 512).toBeLessThan(statSync(at('sparse')).blocks * 512 + MiB);
    const file = openSync(join(source, 'sparse'), 'r');
    for (const [i, [offset, length]] of islands.entries()) {
      const back = Buffer.alloc(length);
      readSync(file, back, 0, length, offset);
      expect(bytes[i]?.equals(back)).toBe(true);
    }
    closeSync(file);
  },
);

test('holes at the start, at the end, at odd offsets and everywhere come back as holes', async () => {
  makeSparse(at('start'), 4 * MiB + 64 * KiB, [[4 * MiB, 64 * KiB]]);
  makeSparse(at('end'), 4 * MiB + 64 * KiB, [[0, 64 * KiB]]);
  makeSparse(at('odd'), 8 * MiB + 17, [
    [3 * MiB + 5, 64 * KiB],
    [8 * MiB, 17],
  ]);
  makeSparse(at('only'), 6 * MiB, []);
  const { snapshot } = await engine.backup();
  const { source } = await engine.restoreTo('back', snapshot);
  expect(compareTrees(engine.source, source).map(shownDifference)).toEqual([]);
  expect(statSync(join(source, 'only')).blocks).toBe(0);
});

test('written zeros are stored no more than holes', async () => {
  writeFileSync(at('zeros'), Buffer.alloc(20 * MiB));
  const { snapshot, bytesNew } = await engine.backup();
  expect(bytesNew).toBeLessThan(64 * KiB);
  const { holes, content } = await entryOf(engine, snapshot, at('zeros'), 'file');
  expect(holes).toEqual([{ offset: 0, length: 20 * MiB }]);
  expect(content.length).toBe(0);
});

test('runs of zeros of every position and length give the same bytes back', async () => {
  const random = seededRandom(5);
  const block = 64 * KiB;
  for (let index = 0; index < 12; index += 1) {
    const bytes = random.bytes(256 * KiB + random.below(2 * MiB));
    for (let run = 0; run < 4; run += 1) {
      const inside = random.below(bytes.length);
      const start = random.below(2) === 0 ? inside - (inside % block) : inside;
      bytes.fill(0, start, Math.min(bytes.length, start + random.below(6 * block)));
    }
    writeFileSync(at(`runs-${index}`), bytes);
  }
  const { snapshot } = await engine.backup();
  expect(await engine.differences(snapshot)).toEqual([]);
});

test('sizes around the limits of chunks', async () => {
  const [small, largest] = [256 * KiB, 2 * MiB];
  // Bytes without any cut in them: a chunk ends at the limit only.
  const chunks = new Map([
    [0, 0],
    [1, 1],
    [small - 1, 1],
    [small, 1],
    [small + 1, 1],
    [largest - 1, 1],
    [largest, 1],
    [largest + 1, 2],
    [2 * largest, 2],
  ]);
  const random = seededRandom(6);
  for (const size of chunks.keys()) {
    writeFileSync(at(`same-${size}`), Buffer.alloc(size, 'a'));
    writeFileSync(at(`random-${size}`), random.bytes(size));
  }
  const { snapshot } = await engine.backup();
  expect(await engine.differences(snapshot)).toEqual([]);
  for (const [size, count] of chunks) {
    const { content } = await entryOf(engine, snapshot, at(`same-${size}`), 'file');
    expect(content.length / 24, `${size}`).toBe(count);
  }
});

test('a file of more than a thousand chunks keeps them in lists', async () => {
  // Alternating data and holes: each piece of data is a chunk of its own.
  const pieces = 1_100;
  const islands = Array.from({ length: pieces }, (_, index) => [index * 128 * KiB, 4 * KiB] as const);
  makeSparse(at('many-chunks'), pieces * 128 * KiB, islands);
  const { snapshot } = await engine.backup();
  const entry = await entryOf(engine, snapshot, at('many-chunks'), 'file');
  expect(entry.indirect).toBe(true);
  const stored = await storedContent(engine.repository, snapshot, entry, never);
  expect(stored.equals(readFileSync(at('many-chunks')))).toBe(true);
});

test('the same content is stored once, wherever it lies', async () => {
  const content = seededRandom(9).bytes(3 * MiB);
  for (const name of ['a', 'b', 'c']) writeFileSync(at(name), content);
  writeFileSync(at('shifted'), Buffer.concat([Buffer.from('in front'), content]));
  const { bytesNew } = await engine.backup(undefined, { workers: 2 });
  expect(bytesNew).toBeLessThan(6.1 * MiB);
});

test('a thousand names of one file: read once, and one file again after a restore', async () => {
  for (const directory of ['one', 'two', 'three']) mkdirSync(at(directory));
  writeFileSync(at('one/name'), seededRandom(10).bytes(300_000));
  for (let index = 1; index < 1_000; index += 1)
    linkSync(at('one/name'), at(`${['one', 'two', 'three'][index % 3] ?? ''}/name-${index}`));
  const { snapshot, bytesRead } = await engine.backup(undefined, { workers: 2 });
  expect(bytesRead).toBe(300_000);
  expect(snapshot.record.counts).toMatchObject({ files: 1_000, new: 1_000 });
  const { source } = await engine.restoreTo('back', snapshot);
  expect(statSync(join(source, 'three/name-2')).nlink).toBe(1_000);
  const inodes = new Set(
    ['one/name', 'one/name-999', 'two/name-1'].map((name) => statSync(join(source, name)).ino),
  );
  expect(inodes.size).toBe(1);

  // One name goes: the inode is another to all others, and still read once.
  unlinkSync(at('two/name-1'));
  const again = await engine.backup();
  expect(again.bytesRead).toBe(300_000);
  expect(again.snapshot.record.counts).toMatchObject({ files: 999, new: 0, changed: 0, unchanged: 999 });
  expect(await engine.differences(again.snapshot)).toEqual([]);
});

test('one more name in a directory of 30,000 rewrites few tree chunks', async () => {
  mkdirSync(at('crowded'));
  for (let index = 0; index < 30_000; index += 1) writeFileSync(at(`crowded/entry-${index}`), '');
  const first = await engine.backup();
  expect(first.bytesNew).toBeGreaterThan(1_000_000);
  writeFileSync(at('crowded/entry-15000-more'), '');
  const second = await engine.backup();
  expect(second.snapshot.record.counts).toMatchObject({ files: 30_001, new: 1 });
  // A leaf of at most 4,096 entries, the branches above it and the directories above those.
  expect(second.bytesNew).toBeLessThan(300_000);
  expect((await engine.treeOf(second.snapshot)).size).toBeGreaterThan(30_001);
});

test.runIf(process.platform === 'linux')(
  'entries of every kind deeper than one path may be long',
  async () => {
    let deepest: ByteString | undefined;
    const descend = (parent: ByteString, name: ByteString, levels: number): void => {
      insideDirectory(parent, name, (reachable) => {
        const make = (entry: string): ByteString => joinBytes(reachable, bytesOfText(entry));
        writeFileSync(fsPath(make('file')), `${levels} to go`);
        setXattr(make('file'), bytesOfText('user.level'), Buffer.from(String(levels)));
        setXattr(make('.'), bytesOfText('user.level'), Buffer.from(`directory ${levels}`));
        makeSpecial(make('fifo'), 'fifo', 0o600);
        symlinkSync(`target ${levels}`, fsPath(make('link')));
        linkSync(fsPath(make('file')), fsPath(make('second-name')));
        if (levels === 0) {
          deepest = name;
          return;
        }
        const next = bytesOfText(`${levels}-`.padEnd(240, 'x'));
        mkdirSync(fsPath(joinBytes(reachable, next)));
        descend(reachable, next, levels - 1);
      });
    };
    mkdirSync(at('deep'));
    descend(treePath(engine.source), bytesOfText('deep'), 30);
    expect(deepest).toBeDefined();
    const { snapshot } = await engine.backup();
    // Not the paths themselves: they are longer than anybody reads.
    expect(snapshot.record.errors.map(({ code, message }) => `${code}: ${message}`)).toEqual([]);
    expect(snapshot.record.omitted).toEqual(omissions());
    expect(await engine.differences(snapshot)).toEqual([]);

    const again = await engine.backup(undefined, { changes: { directories: new Set(), hiddenRules: false } });
    expect(again.snapshot.record.errors.map(({ code, message }) => `${code}: ${message}`)).toEqual([]);
    expect(again.snapshot.record.omitted).toEqual(omissions());
    expect(await engine.differences(again.snapshot)).toEqual([]);
  },
);

test('directories nested a thousand deep', async () => {
  const descend = (parent: ByteString, levels: number): void => {
    const name = bytesOfText('d');
    mkdirSync(fsPath(joinBytes(parent, name)));
    if (levels === 0) writeFileSync(fsPath(joinBytes(parent, bytesOfText('file'))), 'at the bottom');
    else insideDirectory(parent, name, (below) => descend(below, levels - 1));
  };
  descend(treePath(engine.source), 1_000);
  const { snapshot } = await engine.backup();
  expect(snapshot.record.errors).toEqual([]);
  expect(snapshot.record.counts.directories).toBeGreaterThan(1_000);
  expect(await engine.differences(snapshot)).toEqual([]);
});

const canAllocate = spawnSync('fallocate', ['--version']).status === 0;

test.runIf(canAllocate)(
  'a file of several spans that is cut short before they are read: stored as long as its entry says, and listed',
  async () => {
    writeFileSync(at('large'), seededRandom(12).bytes(MiB));
    expect(spawnSync('fallocate', ['--length', String(300 * MiB), at('large')]).status).toBe(0);
    mkdirSync(at('later'));
    const cutShort = {
      directory: (path: ByteString) => {
        if (path === at('later')) truncateSync(at('large'), MiB);
      },
    };
    const { snapshot } = await engine.backup(undefined, { workers: 2 }, cutShort);
    expect(snapshot.record.errors.map(({ path, code }) => [path, code])).toEqual([[at('large'), 'CHANGED']]);
    const entry = await entryOf(engine, snapshot, at('large'), 'file');
    const stored = await storedContent(engine.repository, snapshot, entry, never);
    expect(stored.length).toBe(entry.size);
    expect(stored.subarray(0, MiB).equals(readFileSync(at('large')))).toBe(true);

    const again = await engine.backup();
    expect(again.snapshot.record.status).toBe('complete');
    expect(await engine.differences(again.snapshot)).toEqual([]);
  },
);
