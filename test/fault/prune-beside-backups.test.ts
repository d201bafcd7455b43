/** Backups, forgetting and prunes at the same time, in an order that a seed decides. */
// Turn 8 of 8.
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { HoldfastError } from '../../src/base/errors.ts';
import type { Destination, ListedObject } from '../../src/destination/destination.ts';
import { createMemoryDestination } from '../../src/destination/memory.ts';
import { SILENT_CHECK } from '../../src/repository/check/check-report.ts';
import { check } from '../../src/repository/check/check.ts';
import { SILENT_PRUNE, prune } from '../../src/repository/prune/prune.ts';
import { createRepository, openRepository } from '../../src/repository/opening.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { forgetSnapshots, listSnapshots } from '../../src/repository/snapshots.ts';
import { manualClock, type ManualClock } from '../support/manual-clock.ts';
import { seededRandom, type SeededRandom } from '../support/seeded-random.ts';
import { lostFiles, tinyBackup, type TinyTree } from '../support/tiny-archiver.ts';

const SEEDS = Number(process.env['HOLDFAST_SIMULATIONS'] ?? 8);
const FIRST_SEED = Number(process.env['HOLDFAST_FIRST_SEED'] ?? 1);
/** Seconds; every call below takes up to two, and a backup commits a few calls after its last look. */
const GRACE_SECONDS = 300;

const { signal } = new AbortController();
const secret = { kind: 'machine' as const, secret: randomBytes(32) };

/** Every call takes a while, during which others run. */
function slow(inner: Destination, clock: ManualClock, random: SeededRandom): Destination {
  const pass = async (): Promise<void> => {
    for (let turns = random.below(4); turns > 0; turns -= 1)
      await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(random.below(400));
  };
  async function* list(prefix: string, on: AbortSignal): AsyncGenerator<readonly ListedObject[]> {
    await pass();
    yield* inner.list(prefix, on);
  }
  return {
    ...inner,
    put: async (key, body, on) => {
      await pass();
      return await inner.put(key, body, on);
    },
    get: async (key, range, on) => {
      await pass();
      return await inner.get(key, range, on);
    },
    delete: async (key, on) => {
      await pass();
      await inner.delete(key, on);
    },
    list,
  };
}

interface Outcome {
  readonly committed: number;
  readonly removed: number;
  readonly revived: number;
  readonly refused: ReadonlyMap<string, number>;
}

async function simulate(seed: number): Promise<Outcome> {
  const random = seededRandom(seed);
  const clock = manualClock();
  const storage = createMemoryDestination(() => clock.now());
  const created = await createRepository(
    storage,
    {
      clock,
      stateDirectory: undefined,
      secrets: [{ secret, label: 'test' }],
      cost: { m: 64, t: 1, p: 1 },
      packTarget: 65_536,
      segmentTarget: 65_536,
      graceSeconds: GRACE_SECONDS,
    },
    signal,
  );
  const open = async (): Promise<Repository> =>
    await openRepository(slow(storage, clock, random), secret, { clock, stateDirectory: undefined }, signal);
  const files = Array.from({ length: 10 }, () => random.bytes(18_000));
  const trees = new Map<string, TinyTree>();
  const forgotten = new Set<string>();
  const refused = new Map<string, number>();
  let removed = 0;
  let revived = 0;
  let committed = 0;

  /** Refusals are part of the game; anything else is not. */
  const attempt = async (what: string, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      const allowed =
        error instanceof HoldfastError && ['REPOSITORY_LOCKED', 'SNAPSHOT_NOT_FOUND'].includes(error.code);
      if (!allowed && !(error instanceof Error && error.name === 'Again')) throw error;
      refused.set(what, (refused.get(what) ?? 0) + 1);
    }
  };
  const writer = async (): Promise<void> => {
    const repository = await open();
    for (let run = 0; run < 3; run += 1) {
      const tree: Record<string, Buffer> = {};
      for (const [i, file] of files.entries()) if (random.next() < 0.4) tree[`file${i}`] = file;
      await attempt('backup', async () => {
        const withoutSession = random.next() < 0.3;
        const { id } = await tinyBackup(repository, tree, { withoutSession }, signal);
        trees.set(id, tree);
        committed += 1;
      });
      await clock.advance(random.below(30_000));
      if (random.next() < 0.7) {
        await attempt('forget', async () => {
          const { live } = await listSnapshots(repository, signal);
          const chosen = live.filter(() => random.next() < 0.5).map(({ id }) => id);
          await forgetSnapshots(repository, chosen, 'test', signal);
          for (const id of chosen) forgotten.add(id);
        });
      }
    }
  };
  const pruner = async (): Promise<void> => {
    const repository = await open();
    for (let run = 0; run < 4; run += 1) {
      await attempt('prune', async () => {
        const result = await prune(repository, {}, SILENT_PRUNE, signal);
        removed += result.removedPacks;
        revived += result.revivedPacks;
      });
      await clock.advance(random.below(GRACE_SECONDS * 800));
    }
  };
  await Promise.all([writer(), writer(), writer(), pruner(), pruner()]);
  // One may have been forgotten before its backup had come to its end.
  for (const id of forgotten) trees.delete(id);
  await expectSound(created, trees);
  return { committed, removed, revived, refused };
}

async function expectSound(repository: Repository, trees: ReadonlyMap<string, TinyTree>): Promise<void> {
  const { findings } = await check(repository, { readData: 'all', workers: 0 }, SILENT_CHECK, signal);
  expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
  const { live } = await listSnapshots(repository, signal);
  expect(live.map(({ id }) => id).sort()).toEqual([...trees.keys()].sort());
  for (const snapshot of live) {
    expect(await lostFiles(repository, snapshot, trees.get(snapshot.id) ?? {}, signal)).toEqual([]);
  }
}

describe('backups and prunes at the same time', () => {
  it('lose nothing that a live snapshot needs, whatever the order of their calls', async () => {
    const totals = { committed: 0, removed: 0, revived: 0 };
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed += 1) {
      const outcome = await simulate(seed).catch((cause: unknown) => {
        throw new Error(`seed ${seed}`, { cause });
      });
      totals.committed += outcome.committed;
      totals.removed += outcome.removed;
      totals.revived += outcome.revived;
    }
    // The simulation must reach what it is about.
    expect(totals.committed).toBeGreaterThan(SEEDS * 4);
    expect(totals.removed).toBeGreaterThan(SEEDS);
    if (SEEDS >= 50) expect(totals.revived).toBeGreaterThan(0);
  }, 3_600_000);
});
