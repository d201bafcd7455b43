/** A storage that refuses to delete what is younger than its time of protection: Object Lock, a retention policy. */
import { randomBytes } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { DestinationError, PROTECTED_FOR_NOW } from '../../../src/base/errors.ts';
import type { Destination } from '../../../src/destination/destination.ts';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import { SILENT_CHECK } from '../../../src/repository/check/check-report.ts';
import { check } from '../../../src/repository/check/check.ts';
import { listNamed } from '../../../src/repository/objects/listing.ts';
import { storeKeeps } from '../../../src/repository/prune/prune-protected.ts';
import { SILENT_PRUNE, prune, type PruneResult } from '../../../src/repository/prune/prune.ts';
import { createRepository } from '../../../src/repository/opening.ts';
import type { Repository } from '../../../src/repository/repository.ts';
import { forgetSnapshots, type Snapshot } from '../../../src/repository/snapshots.ts';
import { hookedDestination } from '../../support/hooked-destination.ts';
import { manualClock, type ManualClock } from '../../support/manual-clock.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { tinyBackup, type TinyTree } from '../../support/tiny-archiver.ts';

const DAY = 86_400_000;
const { signal } = new AbortController();
let clock: ManualClock;
let destination: Destination;
let repository: Repository;
/** Of what its time of protection keeps. */
let refusal: DestinationError;
const random = seededRandom(5);

beforeEach(async () => {
  clock = manualClock();
  refusal = new DestinationError('denied', 'Cannot delete: the store protects it for now', {
    details: PROTECTED_FOR_NOW,
  });
  const memory = createMemoryDestination(() => clock.now());
  destination = hookedDestination(memory, {
    delete: async (key) => {
      const { modifiedMs } = await memory.stat(key, signal);
      const isYoung = clock.now() - modifiedMs < 30 * DAY;
      if (isYoung || (refusal.message === 'no rights' && key.startsWith('packs/'))) throw refusal;
    },
  });
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

async function backup(tree: TinyTree): Promise<Snapshot> {
  const snapshot = await tinyBackup(repository, tree, {}, signal);
  await clock.advance(1_000);
  return snapshot;
}

const content = (): Buffer => random.bytes(100_000);

/** Leases that cannot be removed count as alive for five minutes. */
async function pruned(): Promise<PruneResult> {
  await clock.advance(600_000);
  return await prune(repository, { repackBelow: 0 }, SILENT_PRUNE, signal);
}

async function forget({ id }: Snapshot): Promise<void> {
  await forgetSnapshots(repository, [id], 'test', signal);
}

async function expectSound(): Promise<void> {
  const { findings } = await check(repository, { readData: 'all', workers: 0 }, SILENT_CHECK, signal);
  expect(findings.filter(({ severity }) => severity !== 'note')).toEqual([]);
}

test('prune removes what the store lets go of, says what it keeps, and a later prune removes that', async () => {
  const shared = content();
  const old = await backup({ shared, old: content() });
  await clock.advance(20 * DAY);
  const young = await backup({ shared, young: content() });
  await clock.advance(1_000);
  const last = await backup({ last: content() });
  await forget(old);
  await forget(young);
  expect((await pruned()).markedPacks).toBeGreaterThan(0);
  await clock.advance(11 * DAY);
  const result = await pruned();
  expect(result.removedSnapshots).toBe(1);
  expect(result.removedPacks).toBeGreaterThan(0);
  expect(result.protected).toMatchObject({ snapshots: 1 });
  const [said] = storeKeeps(result);
  expect(said).toContain('1 forgotten snapshot are kept for now, as the store protects them');
  expect(said).toContain('Cannot delete: the store protects it for now.');
  // What the one that stays needs is there, old packs among it.
  expect([...(await listNamed(destination, 'snapshots/', signal)).keys()].toSorted()).toEqual(
    [young.id, last.id].toSorted(),
  );
  const kept = result.protected?.packs ?? 0;
  expect(kept).toBeGreaterThan(1);
  await expectSound();
  await clock.advance(30 * DAY);
  const later = await pruned();
  expect(later).toMatchObject({ removedSnapshots: 1, protected: undefined });
  expect(later.removedPacks).toBe(kept);
  expect(storeKeeps(later)).toEqual([]);
  await expectSound();
});

test('backups go on where not even an old head or lease may be removed', async () => {
  for (let n = 0; n < 67; n += 1) await backup({ a: Buffer.from(`${n}`) });
  await expectSound();
});

test('what is refused for another reason is none of that', async () => {
  const first = await backup({ a: content() });
  await backup({ b: content() });
  await forget(first);
  await pruned();
  await clock.advance(60 * DAY);
  refusal = new DestinationError('denied', 'no rights');
  await expect(pruned()).rejects.toBe(refusal);
});

test('a lease that this process could not remove is no backup at work', async () => {
  const first = await backup({ a: content() });
  await backup({ b: content() });
  await forget(first);
  await clock.advance(600_000);
  const options = { graceSeconds: 0, noOtherWriters: true };
  const result = await prune(repository, options, SILENT_PRUNE, signal);
  expect(result).toMatchObject({ removedPacks: 0, protected: { packs: result.markedPacks } });
  await expectSound();
});
