/** A storage without any room: what is no longer needed can be forgotten and removed all the same. */
import { randomBytes } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { DestinationError } from '../../../src/base/errors.ts';
import type { Destination } from '../../../src/destination/destination.ts';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import { SILENT_CHECK } from '../../../src/repository/check/check-report.ts';
import { check } from '../../../src/repository/check/check.ts';
import { SILENT_PRUNE, prune, type PruneResult } from '../../../src/repository/prune/prune.ts';
import { createRepository } from '../../../src/repository/opening.ts';
import type { Repository } from '../../../src/repository/repository.ts';
import { keepReserve } from '../../../src/repository/reserve.ts';
import { forgetSnapshots, listSnapshots } from '../../../src/repository/snapshots.ts';
import { manualClock, type ManualClock } from '../../support/manual-clock.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { tinyBackup } from '../../support/tiny-archiver.ts';

const { signal } = new AbortController();
const random = seededRandom(7);
let clock: ManualClock;
let quota: number;
let memory: Destination;
let destination: Destination;
let repository: Repository;

async function used(): Promise<number> {
  let bytes = 0;
  for await (const page of memory.list('', signal)) for (const { size } of page) bytes += size;
  return bytes;
}

beforeEach(async () => {
  clock = manualClock();
  quota = Number.POSITIVE_INFINITY;
  memory = createMemoryDestination(() => clock.now());
  const inner = memory;
  destination = {
    ...inner,
    put: async (key, body, aborted) => {
      if ((await used()) + body.byteLength > quota)
        throw new DestinationError('full', `Cannot store ${key}: the quota is used up`, { retry: 'later' });
      return await inner.put(key, body, aborted);
    },
  };
  repository = await createRepository(
    destination,
    {
      clock,
      stateDirectory: undefined,
      secrets: [{ secret: { kind: 'machine', secret: randomBytes(32) }, label: 'test' }],
      cost: { m: 64, t: 1, p: 1 },
      packTarget: 65_536,
      segmentTarget: 65_536,
    },
    signal,
  );
});

/** Three snapshots, of which the middle one shares most of its packs with nobody, and packs that are mostly dead. */
async function filled(): Promise<readonly string[]> {
  const kept = random.bytes(20_000);
  const ids: string[] = [];
  for (const name of ['a', 'b', 'c']) {
    const files = { kept, [name]: random.bytes(150_000), last: random.bytes(30_000) };
    ids.push((await tinyBackup(repository, files, {}, signal)).id);
    await clock.advance(1_000);
  }
  return ids;
}

async function pruned(): Promise<PruneResult> {
  await clock.advance(74 * 3_600_000);
  return await prune(repository, {}, SILENT_PRUNE, signal);
}

async function reserveBytes(): Promise<number> {
  return await destination.stat('reserve/1', signal).then(
    ({ size }) => size,
    () => 0,
  );
}

test('forget and prune work where nothing more can be stored, and the reserve is there again after', async () => {
  await keepReserve(repository, 0, signal);
  const [first = '', second = ''] = await filled();
  quota = await used();
  await expect(tinyBackup(repository, { d: random.bytes(9) }, {}, signal)).rejects.toMatchObject({
    kind: 'full',
  });
  await forgetSnapshots(repository, [first, second], 'test', signal);
  expect(await reserveBytes()).toBeGreaterThan(0);
  quota = await used();
  const marked = await pruned();
  expect(marked.markedPacks).toBeGreaterThan(0);
  // Another one has taken all there was meanwhile.
  quota = await used();
  const removed = await pruned();
  expect(removed.removedPacks).toBeGreaterThan(0);
  expect(marked.removedSnapshots + removed.removedSnapshots).toBe(2);
  expect(await used()).toBeLessThan(quota - removed.removedBytes / 2);
  expect(await reserveBytes()).toBeGreaterThanOrEqual(131_072);
  const { findings } = await check(repository, { readData: 'all', workers: 0 }, SILENT_CHECK, signal);
  expect(findings.filter(({ severity }) => severity !== 'note')).toEqual([]);
  expect((await listSnapshots(repository, signal)).live).toHaveLength(1);
});

test('without a reserve a full storage says that it is full', async () => {
  const [first = ''] = await filled();
  quota = await used();
  await expect(forgetSnapshots(repository, [first], 'test', signal)).rejects.toMatchObject({ kind: 'full' });
  await expect(pruned()).rejects.toMatchObject({ kind: 'full' });
});

test('nor does one help that the storage does not let go', async () => {
  await keepReserve(repository, 0, signal);
  const [first = ''] = await filled();
  quota = await used();
  destination.delete = async () => {
    throw new DestinationError('denied', 'it is protected');
  };
  await expect(forgetSnapshots(repository, [first], 'test', signal)).rejects.toMatchObject({ kind: 'full' });
});

test('it is made by the first prune, as large as the index needs, and never where nothing is given back', async () => {
  await pruned();
  expect(await reserveBytes()).toBeGreaterThanOrEqual(262_144);
  await keepReserve(repository, 2_000_000, signal);
  expect(await reserveBytes()).toBe(2_262_144);
  await keepReserve(repository, 0, signal);
  expect(await reserveBytes()).toBe(2_262_144);
  const other = createMemoryDestination();
  for (const facts of [{ canDelete: false }, { retainDays: 3 }, { keepsDeleted: 'hidden' as const }]) {
    const keeping = { ...other, properties: { ...other.properties, ...facts } };
    await keepReserve({ destination: keeping }, 0, signal);
    await expect(other.stat('reserve/1', signal)).rejects.toMatchObject({ kind: 'not-found' });
  }
});

test('where there is room for less it is smaller', async () => {
  quota = (await used()) + 100_000;
  await keepReserve(repository, 0, signal);
  expect(await reserveBytes()).toBe(65_536);
});
