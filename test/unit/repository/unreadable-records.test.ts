/** Damage to what only remembers: nothing may stay red, or stop, for ever because of it. */
import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Destination } from '../../../src/destination/destination.ts';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import { SILENT_CHECK } from '../../../src/repository/check/check-report.ts';
import { check } from '../../../src/repository/check/check.ts';
import type { Secret } from '../../../src/repository/slots/key-slots.ts';
import { findLost, giveUpLost } from '../../../src/repository/chains/lost-records.ts';
import { SILENT_PRUNE, prune } from '../../../src/repository/prune/prune.ts';
import { recover } from '../../../src/repository/check/recover.ts';
import { createRepository, openRepository } from '../../../src/repository/opening.ts';
import type { Repository } from '../../../src/repository/repository.ts';
import { forgetSnapshots, listSnapshots } from '../../../src/repository/snapshots.ts';
import { manualClock, type ManualClock } from '../../support/manual-clock.ts';
import { lostFiles, tinyBackup, type TinyTree } from '../../support/tiny-archiver.ts';

const HOUR = 3_600_000;
const GRACE = 72 * HOUR;
const { signal } = new AbortController();
const secret: Secret = { kind: 'machine', secret: randomBytes(32) };

let clock: ManualClock;
let destination: Destination;
let repository: Repository;
/** What each snapshot must give back that nobody forgot. */
let kept: Map<string, TinyTree>;

/** Two machines, one of them gone; snapshots that were forgotten, removed, and forgotten only just now. */
beforeEach(async () => {
  clock = manualClock();
  kept = new Map();
  destination = createMemoryDestination(() => clock.now());
  const secrets = [{ secret, label: 'test' }];
  const options = { clock, stateDirectory: undefined, secrets, cost: { m: 64, t: 1, p: 1 } };
  repository = await createRepository(destination, options, signal);
  const gone = await open();
  for (const by of [repository, gone]) {
    await backup(by);
    const old = await backup(by);
    kept.delete(old);
    await forgetSnapshots(repository, [old], 'test', signal);
    await backup(by);
  }
  await pruneAfterGrace();
  const last = await backup(repository);
  await forgetSnapshots(repository, [last], 'test', signal);
  await pruneAfterGrace();
  const now = await backup(repository);
  await forgetSnapshots(repository, [now], 'test', signal);
  kept.delete(last);
  kept.delete(now);
});

it('what stands under the number 0, which no record has, is no head and stops nothing', async () => {
  const { writer } = repository.writer.memory;
  await destination.put(`heads/${writer}/0000000000000000`, randomBytes(203), signal);
  const again = await open();
  expect(await findLost(again, signal)).toEqual([]);
  await prune(again, {}, SILENT_PRUNE, signal);
  const { findings } = await check(again, { readData: false, workers: 0 }, SILENT_CHECK, signal);
  expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
});

async function open(): Promise<Repository> {
  return await openRepository(
    destination,
    secret,
    { clock, stateDirectory: undefined, allowWeakCost: true },
    signal,
  );
}

async function backup(by: Repository): Promise<string> {
  const tree: TinyTree = { file: randomBytes(2_000) };
  const { id } = await tinyBackup(by, tree, {}, signal);
  kept.set(id, tree);
  await clock.advance(1_000);
  return id;
}

async function pruneAfterGrace(): Promise<void> {
  await clock.advance(GRACE + HOUR);
  await prune(repository, {}, SILENT_PRUNE, signal);
  await clock.advance(1_000);
}

async function keysBelow(prefix: string): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const page of destination.list(prefix, signal)) keys.push(...page.map(({ key }) => key));
  return keys.sort();
}

async function damage(key: string): Promise<void> {
  const bytes = Buffer.from(await destination.get(key, undefined, signal));
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 9) ^ 1, bytes.length - 9);
  await destination.delete(key, signal);
  await destination.put(key, bytes, signal);
}

async function problems(): Promise<readonly string[]> {
  const { findings } = await check(await open(), { readData: 'all', workers: 0 }, SILENT_CHECK, signal);
  return findings
    .filter(({ severity }) => severity !== 'note')
    .map(({ severity, object }) => `${severity} ${object}`);
}

async function expectKept(): Promise<void> {
  const { live } = await listSnapshots(await open(), signal);
  expect(live.map(({ id }) => id)).toEqual(expect.arrayContaining([...kept.keys()]));
  for (const snapshot of live) {
    const tree = kept.get(snapshot.id);
    if (tree !== undefined) expect(await lostFiles(await open(), snapshot, tree, signal)).toEqual([]);
  }
}

/** What the hints of errors say. */
async function doAsHinted(): Promise<void> {
  const fresh = await open();
  const lost = await findLost(fresh, signal);
  if (lost.length > 0)
    await giveUpLost(
      fresh,
      lost.map(({ record }) => record),
      signal,
    );
}

describe('a damaged tombstone', () => {
  it('whichever it is, is taken away, and everything goes on with what is known otherwise', async () => {
    const names = await keysBelow('trash/');
    expect(names.length).toBeGreaterThan(2);
    const before = new Map<string, Buffer>();
    for (const key of await keysBelow('')) before.set(key, await destination.get(key, undefined, signal));
    for (const key of names) {
      await damage(key);
      expect(await problems(), key).toContain(`error tombstone ${key.slice('trash/'.length)}`);
      const { removed } = await recover(await open(), signal);
      expect(removed).toEqual([key]);
      await doAsHinted();
      expect(await problems(), key).toEqual([]);
      await expectKept();
      repository = await open();
      await pruneAfterGrace();
      await pruneAfterGrace();
      expect(await problems(), key).toEqual([]);
      await expectKept();
      for (const one of await keysBelow('')) await destination.delete(one, signal);
      for (const [one, bytes] of before) await destination.put(one, bytes, signal);
    }
  });
});

describe('a damaged head', () => {
  it('is taken away, also of a machine that is gone', async () => {
    const keys = await keysBelow('heads/');
    for (const key of keys) await damage(key);
    expect(await problems()).toEqual(expect.arrayContaining(keys.map((key) => `error ${key}`)));
    await prune(await open(), {}, SILENT_PRUNE, signal);
    await clock.advance(1_000);
    const { removed } = await recover(await open(), signal);
    expect([...removed].sort()).toEqual(keys);
    expect((await problems()).every((one) => one.startsWith('warning heads/'))).toBe(true);
    await expectKept();
  });

  it('that tells of a record which is not there stays, and tells of it', async () => {
    const { live } = await listSnapshots(repository, signal);
    const newest = live.findLast(({ chain }) => chain.writer !== repository.writer.memory.writer);
    if (newest === undefined) throw new Error('there is no other writer');
    const key = (await keysBelow(`heads/${newest.chain.writer}/`)).at(-1) ?? '';
    await damage(key);
    await destination.delete(`snapshots/${newest.id}`, signal);
    expect((await recover(await open(), signal)).removed).toEqual([]);
    await expect(prune(await open(), {}, SILENT_PRUNE, signal)).rejects.toThrow('is gone, and no tombstone');
  });
});

describe('a sound repository', () => {
  it('loses nothing', async () => {
    const before = await keysBelow('');
    expect((await recover(await open(), signal)).removed).toEqual([]);
    const index = (key: string): boolean => key.startsWith('index/');
    expect((await keysBelow('')).filter((key) => !index(key))).toEqual(before.filter((key) => !index(key)));
  });
});
