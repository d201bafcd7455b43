/** A machine that falls asleep while it commits, and wakes up when others have pruned. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createMemoryDestination } from '../../src/destination/memory.ts';
import { prune, SILENT_PRUNE } from '../../src/repository/prune/prune.ts';
import { listSnapshots } from '../../src/repository/snapshots.ts';
import { never, openEngine, type Engine } from '../support/engine.ts';
import { hookedDestination } from '../support/hooked-destination.ts';
import { manualClock, type ManualClock } from '../support/manual-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';

const HOUR_MS = 3_600_000;

let engine: Engine;
let clock: ManualClock;
let storageMs: number;
/** What happens before the next call of a kind, once. */
let sleepBefore: { readonly call: 'put' | 'list'; readonly prefix: string; readonly nth: number } | undefined;
let seen: number;
let removedPacks: number;

/** The grace period passes twice, and others prune: once they mark what nobody needs, then they delete it. */
async function sleep(): Promise<void> {
  sleepBefore = undefined;
  const other = await engine.open(engine.calls);
  for (const passedMs of [3 * HOUR_MS, 80 * HOUR_MS]) {
    storageMs += passedMs;
    clock.jump(passedMs);
    const { removedPacks: removed } = await prune(other, {}, SILENT_PRUNE, never);
    removedPacks += removed;
  }
}

beforeEach(async () => {
  clock = manualClock();
  storageMs = clock.now();
  seen = 0;
  removedPacks = 0;
  sleepBefore = undefined;
  const hook = (call: 'put' | 'list') => async (key: string) => {
    if (sleepBefore?.call !== call || !key.startsWith(sleepBefore.prefix)) return;
    seen += 1;
    if (seen === sleepBefore.nth) await sleep();
  };
  const inner = createMemoryDestination(() => storageMs);
  const destination = hookedDestination(inner, { put: hook('put'), list: hook('list') });
  engine = await openEngine({ destination, clock });
  const random = seededRandom(7);
  for (const name of ['a', 'b', 'c']) writeFileSync(join(engine.source, name), random.bytes(50_000));
});
afterEach(async () => {
  await engine[Symbol.asyncDispose]();
});

async function expectOnlyWhole(id: string): Promise<void> {
  // The prunes have taken away what the run had stored.
  expect(removedPacks).toBeGreaterThan(0);
  const { live } = await listSnapshots(engine.repository, never);
  expect(live.map((one) => one.id)).toEqual([id]);
  const [snapshot] = live;
  if (snapshot === undefined) throw new Error('there is no snapshot');
  expect(await engine.differences(snapshot)).toEqual([]);
  const { summary } = await engine.restoreTo('back', snapshot);
  expect(summary.errors).toEqual([]);
}

test('a snapshot that is stored when its packs are gone is forgotten, and the run stores everything again', async () => {
  sleepBefore = { call: 'put', prefix: 'snapshots/', nth: 1 };
  const { snapshot } = await engine.backup();
  const { forgotten } = await listSnapshots(engine.repository, never);
  expect(forgotten).toHaveLength(1);
  await expectOnlyWhole(snapshot.id);
});

test('what was seen before the machine slept is looked at again before the commit', async () => {
  const { snapshot: parent } = await engine.backup();
  writeFileSync(join(engine.source, 'd'), seededRandom(8).bytes(50_000));
  // The first list of snapshots is at the beginning; the second belongs to the last look, and the packs were listed.
  sleepBefore = { call: 'list', prefix: 'snapshots/', nth: 2 };
  const { snapshot } = await engine.backup();
  expect(removedPacks).toBeGreaterThan(0);
  const { live, forgotten } = await listSnapshots(engine.repository, never);
  expect(live.map((one) => one.id).sort()).toEqual([parent.id, snapshot.id].sort());
  expect(forgotten).toEqual([]);
  expect(await engine.differences(snapshot)).toEqual([]);
  const { summary } = await engine.restoreTo('back', snapshot);
  expect(summary.errors).toEqual([]);
});
