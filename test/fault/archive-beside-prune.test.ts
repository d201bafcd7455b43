/** Backups while others mark packs for removal or forget snapshots. */

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, afterEach, expect, test } from 'vitest';
import type { ArchiveSummary } from '../../src/archiver/archive.ts';
import { Scout } from '../../src/archiver/source/scout.ts';
import { treePath } from '../../src/base/tree-path.ts';
import { commitRelied, generationsNow, ReliedPackGone } from '../../src/archiver/store/commit.ts';
import { createMemoryDestination } from '../../src/destination/memory.ts';
import type { Destination } from '../../src/destination/destination.ts';
import { loadIndex } from '../../src/repository/chunk-index.ts';
import { markDamaged } from '../../src/repository/check/damaged-packs.ts';
import { loadForWriting } from '../../src/repository/contents/index-for.ts';
import { openSession } from '../../src/repository/take-lease.ts';
import { packKey } from '../../src/repository/objects/listing.ts';
import { rewriteSnapshot } from '../../src/repository/renew/replace-snapshot.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { forgetSnapshots, listSnapshots } from '../../src/repository/snapshots.ts';
import { putTombstone } from '../../src/repository/put-tombstone.ts';
import { never, openEngine, type Engine } from '../support/engine.ts';
import { hastyClock, type HastyClock } from '../support/hasty-clock.ts';
import { hookedDestination } from '../support/hooked-destination.ts';
import { seededRandom } from '../support/seeded-random.ts';

let inner: Destination;
let engine: Engine;
/** Another process at the same repository. */
let other: Repository;
/** What happens before the n-th list of tombstones of a run: the first is the look at what is there, the second the check. */
let beforeList: (nth: number) => Promise<void>;
let lists = 0;
/** The same of other calls of a run. */
let beforeCall: (method: 'list' | 'put', key: string) => Promise<void>;
let clock: HastyClock;
/** Longer than the grace period of the repository. */
const LONG_MS = 80 * 3_600_000;

const at = (name: string): string => join(engine.source, name);

beforeEach(async () => {
  clock = hastyClock();
  inner = createMemoryDestination(() => clock.now());
  beforeList = async () => {};
  const destination = hookedDestination(inner, {
    put: async (key) => await beforeCall('put', key),
    list: async (prefix) => {
      await beforeCall('list', prefix);
      if (prefix !== 'trash/') return;
      lists += 1;
      await beforeList(lists);
    },
  });
  beforeCall = async () => {};
  engine = await openEngine({ destination, clock });
  other = await engine.open(inner);
  const random = seededRandom(31);
  mkdirSync(at('a'));
  for (let index = 0; index < 6; index += 1) writeFileSync(at(`a/${index}`), random.bytes(300_000));
  lists = 0;
});
afterEach(async () => {
  await engine[Symbol.asyncDispose]();
});

async function packNames(kind: 'data' | 'tree'): Promise<readonly string[]> {
  const { packs } = await loadIndex(other, { without: new Set() }, never);
  return packs.filter((pack) => pack.kind === kind).map(({ name }) => name);
}

async function tombstonePacks(names: readonly string[]): Promise<void> {
  expect(names.length).toBeGreaterThan(0);
  const record = { kind: 'packs' as const, names, reason: 'test', atMs: Date.now(), fence: 1 };
  await putTombstone(other, record, { live: 0 }, never);
}

/** The snapshot is whole even after everything that carries a tombstone is gone. */
async function expectWholeWithout(summary: ArchiveSummary, gone: readonly string[]): Promise<void> {
  for (const name of gone) await inner.delete(packKey(name), never);
  expect(await engine.differences(summary.snapshot)).toEqual([]);
  const { summary: restored } = await engine.restoreTo('back', summary.snapshot);
  expect(restored.errors).toEqual([]);
}

test('a pack with a tombstone counts as absent: its chunks are stored again', async () => {
  const first = await engine.backup();
  await forgetSnapshots(other, [first.snapshot.id], 'test', never);
  const gone = [...(await packNames('data')), ...(await packNames('tree'))];
  await tombstonePacks(gone);
  const second = await engine.backup();
  expect(second.snapshot.record.parent).toBeUndefined();
  expect(second.bytesNew).toBeGreaterThanOrEqual(1_800_000);
  await expectWholeWithout(second, gone);
});

test('chunks that the parent has in such packs are stored again even when their files have not changed', async () => {
  await engine.backup();
  const gone = await packNames('data');
  await tombstonePacks(gone);
  const second = await engine.backup();
  expect(second.snapshot.record.parent).toBeDefined();
  expect(second.bytesNew).toBeGreaterThanOrEqual(1_800_000);
  await expectWholeWithout(second, gone);
});

test('a tombstone that appears during the run makes it start over', async () => {
  await engine.backup();
  // Without a parent every chunk is looked up, and found.
  let gone: readonly string[] = [];
  beforeList = async (nth) => {
    if (nth !== 2) return;
    gone = await packNames('data');
    await tombstonePacks(gone);
  };
  lists = 0;
  const second = await engine.backup(undefined, { parent: 'none' });
  // Two for each of two attempts.
  expect(lists).toBe(4);
  expect(second.bytesNew).toBeGreaterThanOrEqual(1_800_000);
  await expectWholeWithout(second, gone);
});

test('a pack of the parent in which damage is found during the run makes it start over', async () => {
  // So that no file may have changed unseen while the parent was made, and none is read again.
  clock.skip(5_000);
  await engine.backup();
  let gone: readonly string[] = [];
  beforeList = async (nth) => {
    if (nth !== 2) return;
    gone = await packNames('data');
    await markDamaged(other, new Set(gone), never);
  };
  lists = 0;
  const second = await engine.backup();
  expect(gone.length).toBeGreaterThan(0);
  expect(second.snapshot.record.parent).toBeDefined();
  expect(second.bytesNew).toBeGreaterThanOrEqual(1_800_000);
  await expectWholeWithout(second, gone);
});

test('damage that others keep finding ends no run: each time there is less to rely on', async () => {
  clock.skip(5_000);
  await engine.backup();
  const found: string[] = [];
  beforeList = async (nth) => {
    if (nth % 2 !== 0 || found.length === 4) return;
    const names = [...(await packNames('data')), ...(await packNames('tree'))];
    const next = names.find((name) => !found.includes(name));
    found.push(next ?? '');
    await markDamaged(other, new Set([next ?? '']), never);
  };
  lists = 0;
  const second = await engine.backup();
  expect(found).toHaveLength(4);
  expect(new Set(found)).not.toContain('');
  await expectWholeWithout(second, found);
});

test('keys that are gone under which something was stored make it start over', async () => {
  const { index, session } = {
    index: await loadForWriting(other, { marked: new Set(), plain: false }, never),
    session: await openSession(other, {}, never),
  };
  const relied = { index, stored: new Map<string, number>(), parent: undefined, generations: [77], session };
  const make = async (): Promise<never> => await Promise.reject(new Error('it was about to be stored'));
  await expect(commitRelied(other, relied, make, never)).rejects.toBeInstanceOf(ReliedPackGone);
  const known = { ...relied, generations: generationsNow(other) };
  await expect(commitRelied(other, known, make, never)).rejects.toThrow('it was about to be stored');
  await session.release();
});

test('a parent that was named and is stored again during the run is passed over', async () => {
  const { snapshot } = await engine.backup();
  beforeList = async (nth) => {
    if (nth === 2) await rewriteSnapshot(other, snapshot, { tags: ['other'] }, never);
  };
  lists = 0;
  const second = await engine.backup(undefined, { parent: { snapshot: snapshot.id } });
  const [first] = (await engine.snapshots()).filter(({ id }) => id !== second.snapshot.id);
  expect(second.snapshot.record.parent).toBe(first?.id);
  expect(await engine.differences(second.snapshot)).toEqual([]);
});

test('a parent that was named by what the agent had seen may be gone by now', async () => {
  const { snapshot } = await engine.backup();
  await forgetSnapshots(other, [snapshot.id], 'test', never);
  writeFileSync(at('a/0'), 'changed');
  const parent = { snapshot: snapshot.id };
  const changes = { directories: new Set<never>(), hiddenRules: false };
  const { snapshot: second, fromChanges } = await engine.backup(undefined, { parent, changes });
  expect(fromChanges).toBe(false);
  expect(await engine.differences(second)).toEqual([]);
  await expect(engine.backup(undefined, { parent })).rejects.toMatchObject({ code: 'SNAPSHOT_NOT_FOUND' });
});

/** One byte of its trees. */
async function rotTrees(): Promise<void> {
  const [tree = ''] = await packNames('tree');
  const bytes = await inner.get(packKey(tree), undefined, never);
  bytes[90] = (bytes[90] ?? 0) ^ 0xff;
  await inner.delete(packKey(tree), never);
  await inner.put(packKey(tree), bytes, never);
}

test('what a scout saw before a damaged pack was looked at is not taken for what there is afterwards', async () => {
  clock.skip(5_000);
  await engine.backup();
  await rotTrees();
  const scout = Scout.start([treePath(engine.source)]);
  let isWritten = false;
  beforeCall = async (method, key) => {
    if (method !== 'put' || !key.startsWith('trash/') || isWritten) return;
    isWritten = true;
    writeFileSync(at('a/new'), 'new');
    await Promise.resolve();
  };
  const second = await engine.backup(undefined, { scout });
  expect(isWritten).toBe(true);
  expect(second.packsDamaged).toBe(1);
  expect(await engine.differences(second.snapshot)).toEqual([]);
});

test('a parent that was named and goes while a damaged pack is looked at is passed over', async () => {
  clock.skip(5_000);
  const { snapshot } = await engine.backup();
  await rotTrees();
  let isForgotten = false;
  beforeCall = async (method, key) => {
    // The mark of what was found damaged.
    if (method !== 'put' || !key.startsWith('trash/') || isForgotten) return;
    isForgotten = true;
    await forgetSnapshots(other, [snapshot.id], 'test', never);
  };
  const second = await engine.backup(undefined, { parent: { snapshot: snapshot.id } });
  expect(isForgotten).toBe(true);
  expect(second.packsDamaged).toBe(1);
  expect(second.snapshot.record.parent).toBeUndefined();
  expect(await engine.differences(second.snapshot)).toEqual([]);
});

test('changes since a parent that was forgotten during the run are not taken for those since another one', async () => {
  mkdirSync(at('quiet'));
  writeFileSync(at('quiet/file'), 'one');
  await engine.backup();
  // In place: nothing about the directory tells of it.
  writeFileSync(at('quiet/file'), 'twooo');
  const { snapshot } = await engine.backup();
  beforeList = async (nth) => {
    if (nth === 2) await forgetSnapshots(other, [snapshot.id], 'test', never);
  };
  lists = 0;
  const third = await engine.backup(undefined, {
    parent: { snapshot: snapshot.id },
    changes: { directories: new Set(), hiddenRules: false },
  });
  expect(lists).toBe(4);
  expect(await engine.differences(third.snapshot)).toEqual([]);
});

test('a pack that is deleted during the run makes it start over', async () => {
  await engine.backup();
  let gone: readonly string[] = [];
  beforeList = async (nth) => {
    if (nth !== 2) return;
    gone = (await packNames('data')).slice(0, 1);
    for (const name of gone) await inner.delete(packKey(name), never);
  };
  lists = 0;
  const second = await engine.backup(undefined, { parent: 'none' });
  expect(gone).toHaveLength(1);
  expect(second.bytesNew).toBeGreaterThan(500_000);
  await expectWholeWithout(second, gone);
});

test('tombstones that keep appearing end the run without a snapshot', async () => {
  const first = await engine.backup();
  beforeList = async (nth) => {
    if (nth % 2 === 0) await tombstonePacks(await packNames('data'));
  };
  lists = 0;
  await expect(engine.backup(undefined, { parent: 'none' })).rejects.toMatchObject({
    code: 'REPOSITORY_LOCKED',
    retry: 'later',
  });
  expect(lists).toBe(6);
  expect((await engine.snapshots()).map(({ id }) => id)).toEqual([first.snapshot.id]);
});

test('a run that slept after its look at the tombstones looks again', async () => {
  await engine.backup();
  let gone: readonly string[] = [];
  beforeCall = async (method, key) => {
    // The tombstones have been read, the packs not yet.
    if (method !== 'list' || key !== 'packs/' || lists !== 2 || gone.length > 0) return;
    gone = await packNames('data');
    await tombstonePacks(gone);
    clock.skip(LONG_MS);
  };
  lists = 0;
  const second = await engine.backup(undefined, { parent: 'none' });
  expect(gone).not.toEqual([]);
  expect(second.bytesNew).toBeGreaterThanOrEqual(1_800_000);
  await expectWholeWithout(second, gone);
});

test('a run that slept while it committed takes the snapshot back when what it needs has gone, and starts over', async () => {
  const first = await engine.backup();
  let gone: readonly string[] = [];
  beforeCall = async (method, key) => {
    if (method !== 'put' || !key.startsWith('snapshots/') || gone.length > 0) return;
    await forgetSnapshots(other, [first.snapshot.id], 'test', never);
    gone = [...(await packNames('data')), ...(await packNames('tree'))];
    for (const name of gone) await inner.delete(packKey(name), never);
    clock.skip(LONG_MS);
  };
  const second = await engine.backup(undefined, { parent: 'none' });
  expect(gone.length).toBeGreaterThan(1);
  expect((await engine.snapshots()).map(({ id }) => id)).toEqual([second.snapshot.id]);
  const { forgotten } = await listSnapshots(other, never);
  expect(forgotten).toHaveLength(2);
  await expectWholeWithout(second, []);
});

test('a run that slept while it committed keeps its snapshot when everything is there', async () => {
  await engine.backup();
  let slept = 0;
  beforeCall = async (method, key) => {
    if (method !== 'put' || !key.startsWith('snapshots/')) return;
    slept += 1;
    clock.skip(LONG_MS);
  };
  const second = await engine.backup();
  expect(slept).toBe(1);
  expect(await engine.snapshots()).toHaveLength(2);
  await expectWholeWithout(second, []);
});

test('a run that slept while it committed keeps its snapshot when others found damage meanwhile', async () => {
  clock.skip(5_000);
  await engine.backup();
  const before = await packNames('data');
  writeFileSync(at('new'), 'new');
  let slept = 0;
  beforeCall = async (method, key) => {
    if (method !== 'put' || !key.startsWith('snapshots/')) return;
    slept += 1;
    await markDamaged(other, new Set(before), never);
    clock.skip(LONG_MS);
  };
  const second = await engine.backup();
  expect(slept).toBe(1);
  expect(second.snapshot.record.parent).toBeDefined();
  expect(await engine.snapshots()).toHaveLength(2);
});

test('a parent that is forgotten during the run is no parent of the snapshot', async () => {
  const first = await engine.backup();
  writeFileSync(at('new'), 'new');
  beforeList = async (nth) => {
    if (nth === 2) await forgetSnapshots(other, [first.snapshot.id], 'test', never);
  };
  lists = 0;
  const second = await engine.backup();
  expect(lists).toBe(4);
  expect(second.snapshot.record.parent).toBeUndefined();
  expect((await engine.snapshots()).map(({ id }) => id)).toEqual([second.snapshot.id]);
  expect(await engine.differences(second.snapshot)).toEqual([]);
});

test('of two parents the one that stays is taken when the other one is forgotten during the run', async () => {
  const first = await engine.backup();
  writeFileSync(at('new'), 'new');
  const second = await engine.backup();
  beforeList = async (nth) => {
    if (nth === 2) await forgetSnapshots(other, [second.snapshot.id], 'test', never);
  };
  lists = 0;
  const third = await engine.backup();
  expect(third.snapshot.record.parent).toBe(first.snapshot.id);
  expect(await engine.differences(third.snapshot)).toEqual([]);
});

test('a lost pack heals: unchanged files that had chunks in it are read and stored again', async () => {
  const large = seededRandom(32).bytes(1_300_000);
  writeFileSync(at('large'), large);
  // What has just been written would be read again in any case.
  clock.skip(60_000);
  const first = await engine.backup();
  for (const kind of ['data', 'tree'] as const) {
    const gone = await packNames(kind);
    for (const name of gone) await inner.delete(packKey(name), never);
    const next = await engine.backup();
    expect(next.snapshot.record.status).toBe('complete');
    expect(await engine.differences(next.snapshot), kind).toEqual([]);
    const { summary } = await engine.restoreTo(`back-${kind}`, next.snapshot);
    expect(summary.errors).toEqual([]);
    // The first snapshot names the same data, so it is whole again too.
    if (kind === 'data') expect(await engine.differences(first.snapshot)).toEqual([]);
  }
});

test('a lost pack heals for a run that is told of no changes, and what is gone meanwhile stays away', async () => {
  mkdirSync(at('quiet'));
  writeFileSync(at('quiet/file'), 'content');
  writeFileSync(at('quiet/goes'), 'other content');
  await engine.backup();
  for (const name of await packNames('data')) await inner.delete(packKey(name), never);
  rmSync(at('quiet/goes'));
  const next = await engine.backup(undefined, { changes: { directories: new Set(), hiddenRules: false } });
  expect(await engine.differences(next.snapshot)).toEqual([]);
});

test('a lost file that is gone from the source too does not come back with its directory', async () => {
  await engine.backup();
  const before = new Set(await packNames('data'));
  writeFileSync(at('a/goes'), 'content of its own pack');
  await engine.backup();
  const gone = (await packNames('data')).filter((name) => !before.has(name));
  expect(gone).toHaveLength(1);
  for (const name of gone) await inner.delete(packKey(name), never);
  rmSync(at('a/goes'));
  const next = await engine.backup();
  expect(next.snapshot.record.parent).toBeDefined();
  expect(await engine.differences(next.snapshot)).toEqual([]);
});
