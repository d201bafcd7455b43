import { randomBytes } from 'node:crypto';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { diffSnapshots } from '../../src/browse/diff.ts';
import { findEntries } from '../../src/browse/find.ts';
import { SnapshotTrees } from '../../src/browse/snapshot-trees.ts';
import { bytesOfText } from '../../src/base/byte-path.ts';
import { systemClock } from '../../src/base/clock.ts';
import { MetadataDatabase } from '../../src/cache/metadata-database.ts';
import { loadIndex, type ChunkIndex } from '../../src/repository/chunk-index.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { listSnapshots } from '../../src/repository/snapshots.ts';
import { collect } from '../support/collect.ts';
import { never, openEngine, type Engine } from '../support/engine.ts';

function cacheOf(engine: Engine, name: string): MetadataDatabase {
  const path = join(engine.directory, 'cache', name);
  return new MetadataDatabase({
    path,
    key: Buffer.alloc(32, 7),
    limitBytes: 100_000_000,
    clock: systemClock,
  });
}

function fill(engine: Engine): void {
  for (let d = 0; d < 20; d += 1) {
    mkdirSync(join(engine.source, `d${d}`));
    for (let f = 0; f < 20; f += 1) writeFileSync(join(engine.source, `d${d}`, `f${f}`), randomBytes(500));
  }
}

/** What a command that looks through all snapshots asks of the destination. */
async function lookAround(
  repository: Repository,
): Promise<{ readonly names: number; readonly changes: number }> {
  const { live } = await listSnapshots(repository, never);
  const index = async (): Promise<ChunkIndex> =>
    await loadIndex(repository, { without: new Set<string>() }, never);
  const trees = new SnapshotTrees(repository, index);
  const [old, now] = live;
  if (old === undefined || now === undefined) throw new Error('two snapshots are needed');
  const path = bytesOfText('/');
  const found = await collect(findEntries(trees, live, { patterns: ['f*'] }, {}, never));
  const changes = await collect(
    diffSnapshots(trees, { snapshot: old, path }, { snapshot: now, path }, { directoryTimes: true }, never),
  );
  return { names: found.length, changes: changes.length };
}

test('looking around with a warm cache lists twice and reads nothing', async () => {
  await using engine = await openEngine();
  fill(engine);
  const cache = cacheOf(engine, 'one.db');
  const cached = engine.repository.cachedBy(cache);
  await engine.backup(undefined, { repository: cached });
  appendFileSync(join(engine.source, 'd3', 'f3'), 'more');
  await engine.backup(undefined, { repository: cached });
  cache.close();

  const truth = await lookAround(engine.repository);
  const later = cacheOf(engine, 'one.db');
  engine.calls.reset();
  expect(await lookAround(engine.repository.cachedBy(later))).toEqual(truth);
  later.close();
  expect(engine.calls.count('get')).toBe(0);
  expect(engine.calls.count('list')).toBe(2);
  expect(engine.calls.calls).toHaveLength(2);
});

test('a cold cache, or one that lies, only costs requests', async () => {
  await using engine = await openEngine();
  fill(engine);
  await engine.backup();
  appendFileSync(join(engine.source, 'd3', 'f3'), 'more');
  await engine.backup();
  const truth = await lookAround(engine.repository);
  const lying = { read: () => randomBytes(300), keep: () => {} };
  expect(await lookAround(engine.repository.cachedBy(lying))).toEqual(truth);
  const cold = cacheOf(engine, 'cold.db');
  expect(await lookAround(engine.repository.cachedBy(cold))).toEqual(truth);
  engine.calls.reset();
  expect(await lookAround(engine.repository.cachedBy(cold))).toEqual(truth);
  cold.close();
  expect(engine.calls.count('get')).toBe(0);
});

test('an unchanged backup with a warm cache needs no more than 20 requests', async () => {
  await using engine = await openEngine();
  fill(engine);
  const cache = cacheOf(engine, 'one.db');
  const repository = engine.repository.cachedBy(cache);
  await engine.backup(undefined, { repository });
  engine.calls.reset();
  await engine.backup(undefined, { repository });
  cache.close();
  expect(engine.calls.calls.map(({ method, key }) => `${method} ${key}`).length).toBeLessThanOrEqual(20);
});
