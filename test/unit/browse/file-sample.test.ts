import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SnapshotTrees } from '../../../src/browse/snapshot-trees.ts';
import { newestOfEachSource, pickFiles } from '../../../src/browse/file-sample.ts';
import { loadIndex } from '../../../src/repository/chunk-index.ts';
import { never, openEngine, type Engine } from '../../support/engine.ts';
import { seededRandom } from '../../support/seeded-random.ts';

let engine: Engine;
let directories: readonly string[];

/** 30 files in one source, nested, and 10 in another. */
beforeEach(async () => {
  engine = await openEngine();
  directories = ['one', 'two'].map((name) => join(engine.source, name));
  for (const [at, count] of [30, 10].entries()) {
    for (let i = 0; i < count; i += 1) {
      const directory = join(directories[at] ?? '', `d${i % 4}`, 'below');
      mkdirSync(directory, { recursive: true });
      writeFileSync(join(directory, `f${i}`), `${at} ${i}`);
    }
  }
  for (const directory of directories) await engine.backup([directory]);
});

afterEach(async () => {
  await engine[Symbol.asyncDispose]();
});

async function pick(count: number, below: (limit: number) => number): Promise<readonly string[]> {
  const { repository } = engine;
  const trees = new SnapshotTrees(repository, await loadIndex(repository, { without: new Set() }, never));
  const newest = newestOfEachSource(await engine.snapshots()).flat();
  const picked = await pickFiles(trees, newest, count, below, never);
  return picked.flatMap(({ files }) => files.map(({ path }) => path));
}

async function allFiles(): Promise<readonly string[]> {
  const paths: string[] = [];
  for (const snapshot of newestOfEachSource(await engine.snapshots()).flat())
    for (const [path, entry] of await engine.treeOf(snapshot)) if (entry.type === 'file') paths.push(path);
  return paths;
}

describe('the sample of a drill', () => {
  test('is every file when as many are asked for as there are, or more', async () => {
    const random = seededRandom(1);
    const all = (await allFiles()).toSorted();
    expect(all).toHaveLength(40);
    expect((await pick(40, (n) => random.below(n))).toSorted()).toEqual(all);
    expect((await pick(1_000, (n) => random.below(n))).toSorted()).toEqual(all);
  });

  test('has as many different files as are asked for', async () => {
    const random = seededRandom(2);
    const all = new Set(await allFiles());
    const picked = await pick(7, (n) => random.below(n));
    expect(picked).toHaveLength(7);
    expect(new Set(picked).size).toBe(7);
    expect(picked.filter((path) => !all.has(path))).toEqual([]);
  });

  test('takes every file as often as every other', async () => {
    const random = seededRandom(3);
    const counts = new Map<string, number>();
    for (let i = 0; i < 300; i += 1)
      for (const path of await pick(4, (n) => random.below(n))) counts.set(path, (counts.get(path) ?? 0) + 1);
    // 30 of each are expected, with a standard deviation of 5.2.
    expect(counts.size).toBe(40);
    expect(Math.min(...counts.values())).toBeGreaterThan(8);
    expect(Math.max(...counts.values())).toBeLessThan(55);
  });

  test('is of the newest snapshot of each source', async () => {
    writeFileSync(join(directories[1] ?? '', 'newer'), 'x');
    await engine.backup([directories[1] ?? '']);
    const newest = newestOfEachSource(await engine.snapshots()).flat();
    expect(newest.map(({ record }) => record.counts.files)).toEqual([30, 11]);
  });

  test('is empty without snapshots or when none is asked for', async () => {
    expect(await pick(0, () => 0)).toEqual([]);
    expect(newestOfEachSource([])).toEqual([]);
  });
});
