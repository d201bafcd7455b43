// Turn 8 of 8.
import { randomBytes } from 'node:crypto';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { diffSnapshots } from '../../src/browse/diff.ts';
import { findEntries } from '../../src/browse/find.ts';
import { SnapshotTrees } from '../../src/browse/snapshot-trees.ts';
import { bytesOfText } from '../../src/base/byte-path.ts';
import { systemClock } from '../../src/base/clock.ts';
import { openKeyCopies } from '../../src/cache/key-copies.ts';
import { MetadataDatabase } from '../../src/cache/metadata-database.ts';
import type { Destination } from '../../src/destination/destination.ts';
import { loadIndex, type ChunkIndex } from '../../src/repository/chunk-index.ts';
import { FirstLook } from '../../src/repository/first-look.ts';
import { packKey } from '../../src/repository/objects/listing.ts';
import { openRepository } from '../../src/repository/opening.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { forgetSnapshots, listSnapshots } from '../../src/repository/snapshots.ts';
import { putTombstone } from '../../src/repository/put-tombstone.ts';
import { collect } from '../support/collect.ts';
import { compareTrees } from '../support/compare-trees.ts';
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

test('what only the cache still has of a tree is stored again', async () => {
  await using engine = await openEngine();
  fill(engine);
  // Of several leaves.
  mkdirSync(join(engine.source, 'many'));
  for (let f = 0; f < 3_000; f += 1) writeFileSync(join(engine.source, 'many', `f${f}`), '');
  const cache = cacheOf(engine, 'one.db');
  const repository = engine.repository.cachedBy(cache);
  await engine.backup(undefined, { repository });
  const { packs } = await loadIndex(engine.repository, { without: new Set<string>() }, never);
  const trees = packs.filter(({ kind }) => kind === 'tree');
  expect(trees.length).toBeGreaterThan(0);
  for (const { name } of trees) await engine.calls.delete(packKey(name), never);
  const { snapshot, bytesRead } = await engine.backup(undefined, { repository });
  cache.close();
  // Files need not be read for it.
  expect(bytesRead).toBe(0);
  expect(await engine.differences(snapshot)).toEqual([]);
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

describe('a backup that looks once at everything when it begins', () => {
  const options = { clock: systemClock, stateDirectory: undefined };

  /** The destination of an engine as an object store is. */
  function farAway({ calls }: Engine, flatLists: boolean): Destination {
    return { ...calls, properties: { ...calls.properties, remote: true, flatLists } };
  }

  async function openWithLook(engine: Engine, flatLists = true): Promise<Repository> {
    const copies = openKeyCopies(engine.directory, 'far');
    const look = new FirstLook(farAway(engine, flatLists), 'everything', copies);
    return await openRepository(look.destination, engine.secret, { ...options, look }, never);
  }

  test.each([
    ['an object store', true, 8],
    ['a server with folders', false, 13],
  ])('asks %s 8 or 13 times when nothing has changed', async (_, flatLists, asked) => {
    await using engine = await openEngine();
    fill(engine);
    const cache = cacheOf(engine, 'one.db');
    const first = (await openWithLook(engine, flatLists)).cachedBy(cache);
    // Files that were written a moment before a backup are looked into by the next one, too.
    for (let n = 0; n < 2; n += 1) await engine.backup(undefined, { repository: first });
    engine.calls.reset();
    const again = (await openWithLook(engine, flatLists)).cachedBy(cache);
    await engine.backup(undefined, { repository: again });
    cache.close();
    // A directory above the source, which all tests share, may change at any time, and is then stored anew.
    const calls = engine.calls.calls.filter(
      ({ method, key }) => method !== 'put' || !/^(?:packs|index)\//.test(key),
    );
    expect(calls.map(({ method, key }) => `${method} ${key}`)).toHaveLength(asked);
    const fresh = engine.calls.calls.filter(({ method }) => method === 'list').slice(-3);
    expect(fresh.map(({ key }) => key).toSorted()).toEqual(['packs/', 'snapshots/', 'trash/']);
  });

  test.each(['deletes', 'marks'] as const)(
    'starts over when prune %s a pack after that look, and relies on it no more',
    async (what) => {
      await using engine = await openEngine();
      fill(engine);
      // Makes the directory for copies, so that nothing above the source changes any more: a run that stores nothing.
      await openWithLook(engine);
      const { snapshot } = await engine.backup();
      await forgetSnapshots(engine.repository, [snapshot.id], 'test', never);
      const repository = await openWithLook(engine);
      const packs: string[] = [];
      for await (const page of engine.calls.list('packs/', never)) packs.push(...page.map(({ key }) => key));
      const names = packs.map((key) => key.slice(key.lastIndexOf('/') + 1));
      if (what === 'deletes') for (const key of packs) await engine.calls.delete(key, never);
      else {
        const record = { kind: 'packs' as const, names, reason: 'not needed', atMs: 0, fence: 1 };
        await putTombstone(engine.repository, record, { live: 0 }, never);
      }
      engine.calls.reset();
      const { snapshot: made } = await engine.backup(undefined, { repository });
      // Once in vain, and once more.
      expect(engine.calls.count('put', 'leases/')).toBe(2);
      const { source } = await engine.restoreTo('back', made);
      expect(compareTrees(engine.source, source)).toEqual([]);
    },
  );
});
