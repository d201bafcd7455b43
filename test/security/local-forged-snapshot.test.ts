/**
 * Whoever has a write-only key stores snapshots with another machine's name and paths, begun in an hour: nothing takes them
 * for what full keys stored.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isFull, storeKey, storedByText } from '../../src/base/stored-by.ts';
import { newestOfEachSource } from '../../src/browse/file-sample.ts';
import { chooseParent } from '../../src/archiver/before/parent.ts';
import { missingIn } from '../../src/copier/copy.ts';
import { lastOfSource } from '../../src/engine/empty-source.ts';
import { snapshotOfJob } from '../../src/engine/job-parts.ts';
import { planForgetting } from '../../src/repository/retention/forgetting.ts';
import { rewriteSnapshot } from '../../src/repository/renew/replace-snapshot.ts';
import { resolveNamed } from '../../src/repository/resolve-snapshot.ts';
import { haveAllVanished } from '../../src/repository/chains/lost-records.ts';
import { listSnapshots, type Snapshot } from '../../src/repository/snapshots.ts';
import { treePath } from '../../src/base/tree-path.ts';
import { never, openEngine, type Engine } from '../support/engine.ts';
import { openForger, type Forger } from '../support/forged-snapshot.ts';

let engine: Engine;
let thief: Forger;
let genuine: Snapshot;

beforeEach(async () => {
  engine = await openEngine();
  writeFileSync(join(engine.source, 'a.txt'), 'genuine');
  ({ snapshot: genuine } = await engine.backup([engine.source], { host: 'db1' }));
  thief = await openForger(engine.repository, engine.calls);
  writeFileSync(join(engine.source, 'a.txt'), 'forged');
});
afterEach(async () => {
  await engine[Symbol.asyncDispose]();
});

async function live(): Promise<readonly Snapshot[]> {
  return (await listSnapshots(thief.full, never)).live;
}

async function forge(changes: Parameters<Forger['store']>[2] = {}, host = 'db1'): Promise<Snapshot> {
  return await thief.store(engine.source, host, changes);
}

describe('a forged snapshot', () => {
  test('is named as what the key stored, and is not what latest means', async () => {
    const { id } = await forge();
    const all = await live();
    expect(all.map(({ storedBy }) => storedByText(storedBy))).toEqual([
      'full keys',
      'write-only key 1 (web1)',
    ]);
    const { snapshot, newer } = resolveNamed(all, 'latest');
    expect([snapshot.id, newer.map((one) => one.id)]).toEqual([genuine.id, [id]]);
    expect(() => resolveNamed(all, 'latest~1')).toThrow('the repository has 1 of full keys');
    // Alone it is taken, and said.
    const own = all.filter(({ storedBy }) => !isFull(storedBy));
    expect(resolveNamed(own, 'latest')).toMatchObject({ snapshot: { id } });
  });

  test('is not what latest means where two keys stored for one host', async () => {
    await forge({}, 'web9');
    const other = await openForger(thief.full, engine.calls, 'web2');
    await other.store(engine.source, 'web9');
    const own = (await listSnapshots(other.full, never)).live.filter(({ record }) => record.host === 'web9');
    expect(() => resolveNamed(own, 'latest')).toThrow('write-only key 1 (web1), write-only key 2 (web2)');
  });

  test('stays what the key stored when it gets other tags', async () => {
    const forged = await forge();
    await rewriteSnapshot(thief.full, forged, { tags: ['x'] }, never);
    const all = await live();
    expect(all.map(({ storedBy }) => storeKey(storedBy))).toEqual(['full', storeKey(forged.storedBy)]);
    expect(resolveNamed(all, 'latest').snapshot.id).toBe(genuine.id);
  });

  test('is no parent, says nothing of how the source was, and is drawn by itself', async () => {
    const forged = await forge({ counts: { ...genuine.record.counts, files: 1_000_000 } });
    const all = await live();
    const wanted = { host: 'db1', paths: [treePath(engine.source)], plain: false, kind: 'files' } as const;
    expect(chooseParent(all, wanted)?.id).toBe(genuine.id);
    // Also where it claims no chunk ids of its own, as an older program may have stored it anew.
    const unsalted = { ...forged, record: { ...forged.record, salt: undefined } };
    expect(chooseParent([genuine, unsalted], wanted)?.id).toBe(genuine.id);
    expect(lastOfSource(all, 'db1', [treePath(engine.source)])?.id).toBe(genuine.id);
    const drawn = newestOfEachSource(all).map((group) => group.map(({ id }) => id));
    expect(drawn[0]).toEqual([genuine.id]);
    expect(drawn).toHaveLength(2);
  });

  test('does not hide that all that full keys stored is gone', async () => {
    await forge();
    await engine.calls.delete(`snapshots/${genuine.id}`, never);
    const list = await listSnapshots(thief.full, never);
    expect(list.live).toHaveLength(1);
    expect(await haveAllVanished(thief.full, list, never)).toBe(true);
  });

  test('bears its own times and orders nothing by them', async () => {
    const forged = await forge({ startedMs: 8.64e15, finishedMs: 8.64e15 });
    writeFileSync(join(engine.source, 'a.txt'), 'genuine again');
    // Within one millisecond neither comes first.
    await sleep(5);
    const { snapshot: later } = await engine.backup([engine.source], { host: 'db1' });
    const ids = (await live()).map(({ id }) => id);
    expect(ids.indexOf(forged.id)).toBeLessThan(ids.indexOf(later.id));
  });

  test('takes no place of others by what it says of its origin', async () => {
    const claims = { original: genuine.id, parent: genuine.id, tags: ['job:bkp_1', 'mine'] };
    const { id } = await forge(claims);
    const found = (await live()).find((one) => one.id === id);
    expect(found?.record).toMatchObject({ original: undefined, parent: undefined, tags: ['mine'] });
    expect(snapshotOfJob(await live(), 'bkp_1')).toBeUndefined();
  });

  test('takes no place in the rules of retention, and is no copy of what others stored', async () => {
    const { record } = genuine;
    const forged = await forge({
      startedMs: record.startedMs,
      finishedMs: record.finishedMs,
      user: record.user,
      paths: record.paths,
    });
    const all = await live();
    const inputs = all.map((one) => ({
      ...one.record,
      ...one,
      partial: false,
      startedMs: one.record.startedMs,
    }));
    const rules = {
      keep_last: 1,
      keep_hourly: null,
      keep_daily: 1,
      keep_weekly: null,
      keep_monthly: null,
      keep_yearly: null,
      keep_within: null,
      time_zone: 'UTC',
      frozen: [],
    };
    expect(planForgetting(inputs, rules, Date.now()).remove).not.toContain(genuine.id);
    expect(missingIn([forged], [genuine])).toEqual([genuine]);
  });
});
