/** One host rotates the keys and seals everything anew while others have the repository open since before. */
// Turn 8 of 8.
import { randomBytes } from 'node:crypto';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SnapshotTrees } from '../../src/browse/snapshot-trees.ts';
import { findEntries } from '../../src/browse/find.ts';
import { systemClock } from '../../src/base/clock.ts';
import { openCached } from '../../src/cache/open.ts';
import { MetadataDatabase } from '../../src/cache/metadata-database.ts';
import { openCatalog } from '../../src/catalog/catalog.ts';
import { DEFAULT_COMPRESSION } from '../../src/codec/compress.ts';
import { copySnapshots, missingIn } from '../../src/copier/copy.ts';
import { createMemoryDestination } from '../../src/destination/memory.ts';
import { SILENT_CHECK } from '../../src/repository/check/check-report.ts';
import { check } from '../../src/repository/check/check.ts';
import { loadIndex } from '../../src/repository/chunk-index.ts';
import { rotateKeys } from '../../src/repository/keys/keys.ts';
import { SILENT_PRUNE, prune } from '../../src/repository/prune/prune.ts';
import { SILENT_REKEY, rekey } from '../../src/repository/renew/rekey.ts';
import { createRepository } from '../../src/repository/opening.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { listSnapshots } from '../../src/repository/snapshots.ts';
import { collect } from '../support/collect.ts';
import { snapshotDifferences } from '../support/compare-snapshot.ts';
import { compareTrees } from '../support/compare-trees.ts';
import { never, openEngine, type Engine } from '../support/engine.ts';
import { hookedDestination } from '../support/hooked-destination.ts';

let engine: Engine;
const at = (name: string): string => join(engine.source, name);
const NOW = { graceSeconds: 0, noOtherWriters: true };

beforeEach(async () => {
  engine = await openEngine({ destination: 'local' });
  mkdirSync(at('deep'));
  for (let i = 0; i < 20; i += 1) writeFileSync(at(`deep/file-${i}`), randomBytes(3_000));
  writeFileSync(at('large'), randomBytes(3_000_000));
  await engine.backup();
  appendFileSync(at('large'), 'more');
  await engine.backup();
});
afterEach(async () => {
  await engine[Symbol.asyncDispose]();
});

/** What another host does; with `pruned`, nothing of what was there before is left. */
async function changeElsewhere(pruned: boolean): Promise<void> {
  const elsewhere = await engine.open();
  await rotateKeys(elsewhere, never);
  await rekey(elsewhere, {}, SILENT_REKEY, never);
  if (pruned) await prune(elsewhere, NOW, SILENT_PRUNE, never);
}

async function expectSound(repository: Repository, snapshots: number): Promise<void> {
  const { findings } = await check(repository, { readData: 'all' }, SILENT_CHECK, never);
  expect(findings.filter(({ severity }) => severity !== 'note')).toEqual([]);
  const { live, damaged } = await listSnapshots(repository, never);
  expect([live.length, damaged]).toEqual([snapshots, []]);
}

test.each([false, true])('a backup, a check and a prune go on (pruned before: %s)', async (pruned) => {
  await changeElsewhere(pruned);
  expect(engine.repository.ringNumber).toBe(1);
  const { snapshot, bytesUploaded } = await engine.backup();
  expect(engine.repository.keys.generation).toBe(2);
  // What is stored is found again, under its newer keys.
  expect(bytesUploaded).toBeLessThan(100_000);
  expect(await engine.differences(snapshot)).toEqual([]);
  await prune(engine.repository, NOW, SILENT_PRUNE, never);
  await expectSound(engine.repository, 3);
  await expectSound(await engine.open(), 3);
});

test('a backup that is at work begins again where its packs are taken away', async () => {
  appendFileSync(at('large'), 'and more');
  const phases: string[] = [];
  let changed = false;
  const beforeCommit = async (prefix: string): Promise<void> => {
    if (changed || prefix !== 'trash/' || phases.at(-1) !== 'committing') return;
    changed = true;
    await changeElsewhere(false);
  };
  const walking = await engine.open(hookedDestination(engine.calls, { list: beforeCommit }));
  const observer = { phase: (phase: string) => phases.push(phase) };
  const { snapshot } = await engine.backup(undefined, { repository: walking }, observer);
  expect(phases.filter((phase) => phase === 'scanning')).toHaveLength(2);
  expect([changed, snapshot.generation]).toEqual([true, 2]);
  expect(await engine.differences(snapshot)).toEqual([]);
  await prune(engine.repository, NOW, SILENT_PRUNE, never);
  const { source } = await engine.restoreTo('back', snapshot);
  expect(compareTrees(engine.source, source)).toEqual([]);
  await expectSound(await engine.open(), 3);
});

test('a machine that slept until its keys were retired begins its backup again', async () => {
  let asleepMs = 0;
  const store = createMemoryDestination(() => Date.now() + asleepMs);
  await using other = await openEngine({ destination: store });
  writeFileSync(join(other.source, 'one'), randomBytes(50_000));
  await other.backup();
  const prunedLater = async (): Promise<void> => {
    asleepMs += 73 * 3_600_000;
    await prune(await other.open(), {}, SILENT_PRUNE, never);
  };
  const outcomes: string[] = [];
  const sleep = async (): Promise<void> => {
    const elsewhere = await other.open();
    await rotateKeys(elsewhere, never);
    await rekey(elsewhere, {}, SILENT_REKEY, never);
    // Its lease has run out.
    await prunedLater();
    await rekey(elsewhere, {}, SILENT_REKEY, never);
    await prunedLater();
    const { retired } = await rekey(await other.open(), {}, SILENT_REKEY, never);
    outcomes.push(...retired.map(({ outcome }) => outcome));
  };
  let sleeping: Promise<void> | undefined;
  const beforePut = async (key: string): Promise<void> => {
    // Everything that it stores waits.
    if (key.startsWith('packs/')) await (sleeping ??= sleep());
  };
  writeFileSync(join(other.source, 'two'), randomBytes(50_000));
  const sleeper = await other.open(hookedDestination(store, { put: beforePut }));
  const phases: string[] = [];
  const observer = { phase: (phase: string) => phases.push(phase) };
  // It relies on nothing of what was there.
  const alone = { repository: sleeper, parent: 'none', isolated: true } as const;
  const { snapshot } = await other.backup(undefined, alone, observer);
  expect(outcomes.filter((outcome) => outcome !== 'retired')).toEqual([]);
  expect(phases.filter((phase) => phase === 'scanning')).toHaveLength(2);
  const fresh = await other.open();
  expect(fresh.keyring.generations.map(({ g }) => g)).toEqual([2]);
  expect((await listSnapshots(fresh, never)).damaged).toEqual([]);
  expect(await snapshotDifferences(fresh, snapshot, other.source, never)).toEqual([]);
});

test('a copy from it, and into it, goes on and copies nothing twice', async () => {
  const other = await createRepository(
    createMemoryDestination(),
    {
      clock: systemClock,
      stateDirectory: undefined,
      secrets: [{ secret: { kind: 'machine', secret: randomBytes(32) }, label: 'other' }],
      cost: { m: 64, t: 1, p: 1 },
    },
    never,
  );
  const silent = { begin: () => {}, read: () => {}, copied: () => {}, failed: () => {} };
  const copy = async (from: Repository, to: Repository): Promise<number> => {
    const wanted = (await listSnapshots(from, never)).live;
    const snapshots = missingIn((await listSnapshots(to, never)).live, wanted);
    const request = { from, to, snapshots, compression: DEFAULT_COMPRESSION };
    const { copied, failed } = await copySnapshots(request, silent, never);
    expect(failed).toBe(0);
    return copied;
  };
  const stale = await engine.open();
  expect(await copy(engine.repository, other)).toBe(2);
  await changeElsewhere(true);
  expect(await copy(engine.repository, other)).toBe(0);
  expect(await copy(other, stale)).toBe(0);
  await engine.backup();
  expect(await copy(stale, other)).toBe(1);
  await expectSound(other, 3);
});

test('the catalog and the cache of a host know what is there under the new ids', async () => {
  const stateDirectory = join(engine.directory, 'state');
  const { repository } = engine;
  const path = join(stateDirectory, 'cache', 'one.db');
  const openCache = (): MetadataDatabase =>
    new MetadataDatabase({ path, key: Buffer.alloc(32, 7), limitBytes: 100_000_000, clock: systemClock });
  const found = async (of: Repository): Promise<number> => {
    const { live } = await listSnapshots(of, never);
    const trees = new SnapshotTrees(of, async () => await loadIndex(of, { without: new Set() }, never));
    return (await collect(findEntries(trees, live, { patterns: ['file-*'] }, {}, never))).length;
  };
  const cache = openCache();
  const cached = repository.cachedBy(cache);
  const before = await found(cached);
  expect(before).toBeGreaterThan(0);
  const secret = { kind: 'machine' as const, base64: engine.secret.secret.toString('base64') };
  await using catalog = openCatalog({ stateDirectory, repositoryId: repository.id });
  const sync = async () => await catalog.sync({ url: engine.store, secret }, () => undefined, never);
  expect((await sync()).added).toHaveLength(2);

  await changeElsewhere(true);

  expect(await found(cached)).toBe(before);
  // A view of the repository has the keys of the repository.
  expect(repository.ringNumber).toBe(cached.ringNumber);
  cache.close();
  const warm = openCache();
  expect(await found((await engine.open()).cachedBy(warm))).toBe(before);
  warm.close();
  expect(await sync()).toMatchObject({ snapshots: 2, unreadableCount: 0, damagedSnapshots: [] });
  const query = { snapshot: 'latest', view: 'flat', sort: 'path', limit: 100, q: 'file-7' } as const;
  expect((await catalog.files(query)).items.map(({ name }) => name)).toEqual(['file-7']);
  expect(openCached(repository, stateDirectory, systemClock).repository).toBe(repository);
});
