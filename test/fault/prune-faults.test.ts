// Turn 6 of 8.
import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { DestinationError, HoldfastError, RepositoryError } from '../../src/base/errors.ts';
import type { Destination, ListedObject } from '../../src/destination/destination.ts';
import { createMemoryDestination } from '../../src/destination/memory.ts';
import { SILENT_CHECK } from '../../src/repository/check/check-report.ts';
import { check } from '../../src/repository/check/check.ts';
import { loadIndex } from '../../src/repository/chunk-index.ts';
import { listNamed } from '../../src/repository/objects/listing.ts';
import { SILENT_PRUNE, planPrune, prune, type PruneResult } from '../../src/repository/prune/prune.ts';
import { createRepository, openRepository } from '../../src/repository/opening.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { forgetSnapshots, listSnapshots } from '../../src/repository/snapshots.ts';
import { faultyDestination } from '../support/faulty-destination.ts';
import { manualClock, type ManualClock } from '../support/manual-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { held, note } from '../sweep/settings.ts';
import { lostFiles, tinyBackup, type TinyTree } from '../support/tiny-archiver.ts';

const GRACE_SECONDS = 3_600;
const MINUTE = 60_000;
const { signal } = new AbortController();
const secret = { kind: 'machine' as const, secret: randomBytes(32) };
const random = seededRandom(11);

/** Every so many-th call of prune is made to fail, in one way; 1 makes every call fail in every way. */
const EVERY = Number(process.env['HOLDFAST_PRUNE_FAULTS_EVERY'] ?? 4);

interface World {
  readonly clock: ManualClock;
  readonly destination: Destination;
}

/** The objects of a repository in which one prune has everything to do. */
let stored: readonly (ListedObject & { readonly bytes: Buffer })[];
let trees: ReadonlyMap<string, TinyTree>;
let endMs: number;

async function open(world: World, through: Destination = world.destination): Promise<Repository> {
  return await openRepository(through, secret, { clock: world.clock, stateDirectory: undefined }, signal);
}

/** A copy of that repository, in a storage of its own with the times that the objects had. */
async function freshWorld(): Promise<World> {
  const clock = manualClock();
  await clock.advance(endMs - clock.now());
  let putMs: number | undefined;
  const destination = createMemoryDestination(() => putMs ?? clock.now());
  for (const { key, bytes, modifiedMs } of stored) {
    putMs = modifiedMs;
    await destination.put(key, bytes, signal);
  }
  putMs = undefined;
  return { clock, destination };
}

beforeAll(async () => {
  const clock = manualClock();
  const destination = createMemoryDestination(() => clock.now());
  const repository = await createRepository(
    destination,
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
  const file = (): Buffer => random.bytes(20_000);
  const backup = async (tree: TinyTree, commit?: () => Promise<unknown>): Promise<string> => {
    const step = async (name: string): Promise<void> => {
      if (name === 'commit') await commit?.();
    };
    const { id } = await tinyBackup(repository, tree, { step }, signal);
    await clock.advance(1_000);
    return id;
  };
  const forget = async (...ids: string[]): Promise<void> => {
    await forgetSnapshots(repository, ids, 'test', signal);
    await clock.advance(1_000);
  };
  const revived = { a: file(), b: file(), c: file(), d: file() };
  const removed = { e: file(), f: file(), g: file() };
  const mixed = { h: file(), i: file(), j: file(), k: file(), l: file(), m: file() };
  await forget(await backup(revived), await backup(removed));
  const live = new Map<string, TinyTree>();
  const run = async (): Promise<PruneResult> => await prune(repository, {}, SILENT_PRUNE, signal);
  live.set(await backup(revived, run), revived);
  await clock.advance(GRACE_SECONDS * 1_000);
  const whole = await backup(mixed);
  const part = { h: mixed.h, l: mixed.l };
  live.set(await backup(part), part);
  await forget(whole, await backup({ n: file() }));
  endMs = clock.now();
  const objects: (ListedObject & { bytes: Buffer })[] = [];
  for await (const page of destination.list('', signal)) {
    for (const object of page)
      objects.push({ ...object, bytes: await destination.get(object.key, undefined, signal) });
  }
  stored = objects;
  trees = live;
});

async function expectSound(world: World): Promise<void> {
  const repository = await open(world);
  const { findings } = await check(repository, { readData: 'all', workers: 0 }, SILENT_CHECK, signal);
  expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
  const index = await loadIndex(repository, { without: new Set() }, signal);
  const { live } = await listSnapshots(repository, signal);
  expect(live.map(({ id }) => id).sort()).toEqual([...trees.keys()].sort());
  for (const snapshot of live) {
    expect(await lostFiles(repository, snapshot, trees.get(snapshot.id) ?? {}, signal, index)).toEqual([]);
  }
}

/** A prune without faults, and another one after the grace period, leave only what is needed. */
async function expectFinishes(world: World): Promise<void> {
  for (let i = 0; i < 3; i += 1) {
    // Until the lease of one that died has run out, too.
    await world.clock.advance(GRACE_SECONDS * 1_000 + 6 * MINUTE);
    await prune(await open(world), {}, SILENT_PRUNE, signal);
  }
  await expectSound(world);
  const { counts } = await check(await open(world), { readData: false }, SILENT_CHECK, signal);
  expect(counts.packsUnreferenced).toBe(0);
}

type Failure = 'refused' | 'reply lost' | 'killed';
const FAILURES: readonly Failure[] = ['refused', 'reply lost', 'killed'];

interface Failing extends Destination {
  /** From here on calls are counted. */
  arm(): void;
  fired(): boolean;
}

/** Fails the n-th call after it was armed, whatever it is; `killed` fails all calls from there on. */
function failingAt(inner: Destination, nth: number, failure: Failure): Failing {
  let armed = false;
  let calls = 0;
  const call = async <T>(work: () => Promise<T>): Promise<T> => {
    calls += armed ? 1 : 0;
    const fails = armed && (failure === 'killed' ? calls >= nth : calls === nth);
    const error = new DestinationError('unreachable', `call ${nth}: ${failure}`);
    if (fails && failure !== 'reply lost') throw error;
    const result = await work();
    if (fails) throw error;
    return result;
  };
  async function* list(prefix: string, on: AbortSignal): AsyncGenerator<readonly ListedObject[]> {
    yield* await call(async () => {
      const pages: (readonly ListedObject[])[] = [];
      for await (const page of inner.list(prefix, on)) pages.push(page);
      return pages;
    });
  }
  return {
    properties: inner.properties,
    put: async (key, body, on) => await call(async () => await inner.put(key, body, on)),
    get: async (key, range, on) => await call(async () => await inner.get(key, range, on)),
    stat: async (key, on) => await call(async () => await inner.stat(key, on)),
    delete: async (key, on) => await call(async () => await inner.delete(key, on)),
    list,
    close: async () => await inner.close(),
    arm: () => {
      armed = true;
    },
    fired: () => calls >= nth,
  };
}

describe('prune', () => {
  it('has everything to do in the repository that these tests use', async () => {
    const world = await freshWorld();
    await expectSound(world);
    const plan = await planPrune(await open(world), {}, signal);
    const { mark, repack, revive, remove, removeSnapshots } = plan;
    const counts = [mark, repack, revive, remove, removeSnapshots].map(({ length }) => length > 0);
    expect(counts).toEqual([true, true, true, true, true]);
    await prune(await open(world), {}, SILENT_PRUNE, signal);
    await expectSound(world);
    await expectFinishes(world);
  });

  it('loses nothing wherever a call fails, its reply is lost, or the process dies, and finishes the next time', async () => {
    let tried = 0;
    for (let nth = 1, reached = true; reached; nth += EVERY) {
      for (const failure of EVERY === 1 ? FAILURES : FAILURES.slice((nth - 1) % 3, ((nth - 1) % 3) + 1)) {
        const world = await freshWorld();
        const failing = failingAt(world.destination, nth, failure);
        const repository = await open(world, failing);
        failing.arm();
        const outcome = await prune(repository, {}, SILENT_PRUNE, signal).then(
          () => undefined,
          (error: unknown) => error,
        );
        reached = failing.fired();
        if (!reached) break;
        tried += 1;
        // The release of the lease may fail: it expires by itself.
        const typed = outcome === undefined || outcome instanceof HoldfastError;
        expect(typed, `call ${nth}, ${failure}: ${String(outcome)}`).toBe(true);
        await expectSound(world);
        await expectFinishes(world);
      }
    }
    expect(tried).toBeGreaterThan(20);
    note(held(tried));
  }, 900_000);
});

type ListFault =
  | { readonly fault: 'drop'; readonly drops: (key: string) => boolean }
  | { readonly fault: 'end-early'; readonly afterObjects: number };

describe('prune with lists that cannot be trusted', () => {
  const all = (): boolean => true;
  /** Every other object from the first on, whatever their names, and the same ones in every list. */
  const everyOther = (): ((key: string) => boolean) => {
    const dropped = new Map<string, boolean>();
    return (key) => {
      if (!dropped.has(key)) dropped.set(key, dropped.size % 2 === 0);
      return dropped.get(key) === true;
    };
  };
  const drops = (): ListFault[] => [
    { fault: 'drop', drops: all },
    { fault: 'drop', drops: everyOther() },
    { fault: 'end-early', afterObjects: 1 },
  ];
  const listFaults = () => [
    ...[1, 2, 3, 4].flatMap((nth) => drops().map((fault) => ({ nth, times: 1, fault }))),
    ...drops().map((fault) => ({ nth: 1, times: 1_000, fault })),
  ];
  const prefixes = ['packs/', 'snapshots/', 'trash/', 'index/', 'heads/', 'leases/'];
  for (const under of prefixes) {
    it(`loses nothing when lists of ${under} are empty, partial or end early, once or always`, async () => {
      let stopped = 0;
      for (const { nth, times, fault } of listFaults()) {
        const world = await freshWorld();
        const faulty = faultyDestination(world.destination, [{ on: 'list', under, nth, times, ...fault }]);
        const before = await packsOf(world);
        const outcome = await prune(await open(world, faulty), {}, SILENT_PRUNE, signal).then(
          () => undefined,
          (error: unknown) => error,
        );
        stopped += outcome === undefined ? 0 : 1;
        if (outcome !== undefined) expect(outcome).toBeInstanceOf(RepositoryError);
        if (under === 'snapshots/' && nth === 1 && times > 1) {
          expect(outcome).toMatchObject({ code: 'CORRUPT_DATA' });
          expect(await packsOf(world)).toEqual(before);
        }
        await expectSound(world);
        if (times > 1) await expectFinishes(world);
      }
      if (under === 'packs/' || under === 'snapshots/') expect(stopped).toBeGreaterThan(4);
    }, 300_000);
  }

  it('stops when a list fails in the middle', async () => {
    for (const under of ['packs/', 'snapshots/', 'trash/']) {
      const world = await freshWorld();
      const error = new DestinationError('unreachable', 'the list broke off');
      using faulty = faultyDestination(world.destination, [
        { on: 'list', under, fault: 'fail', error, afterPages: 1 },
      ]);
      await expect(prune(await open(world, faulty), {}, SILENT_PRUNE, signal)).rejects.toBe(error);
      await expectSound(world);
    }
  });
});

async function packsOf({ destination }: World): Promise<string[]> {
  return [...(await listNamed(destination, 'packs/', signal)).keys()].sort();
}
