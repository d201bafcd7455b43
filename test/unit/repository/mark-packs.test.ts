/** Packs are marked by those alone who may still do it: before the mark is stored, and after. */
import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { DestinationError, RepositoryError } from '../../../src/base/errors.ts';
import type { Destination } from '../../../src/destination/destination.ts';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import { SILENT_CHECK } from '../../../src/repository/check/check-report.ts';
import { check } from '../../../src/repository/check/check.ts';
import type { Secret } from '../../../src/repository/slots/key-slots.ts';
import { markPacks } from '../../../src/repository/mark-packs.ts';
import { createRepository, openRepository } from '../../../src/repository/opening.ts';
import type { Repository } from '../../../src/repository/repository.ts';
import { readTombstones, type Tombstones } from '../../../src/repository/tombstones.ts';
import { hookedDestination } from '../../support/hooked-destination.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { tinyBackup } from '../../support/tiny-archiver.ts';

const clock = manualClock();
const secret: Secret = { kind: 'machine', secret: randomBytes(32) };
const pack = 'ab'.repeat(32);
const mark = { names: [pack], reason: 'not needed', atMs: 1_000, fence: 3 };
const lost = new RepositoryError('REPOSITORY_LOCKED', 'The right to prune was lost');

let memory: Destination;
let repository: Repository;
let stop: AbortController;
/** Done while the mark is on its way. */
let whileStored: () => void;

beforeEach(async () => {
  stop = new AbortController();
  whileStored = () => {};
  memory = hookedDestination(createMemoryDestination(), {
    put: async (key) => {
      if (key.startsWith('trash/')) whileStored();
    },
  });
  const secrets = [{ secret, label: 'test' }];
  const options = { clock, stateDirectory: undefined, secrets, cost: { m: 64, t: 1, p: 1 } };
  repository = await createRepository(memory, options, stop.signal);
  await tinyBackup(repository, { file: randomBytes(100) }, {}, stop.signal);
});

async function tombstones(): Promise<Tombstones> {
  const options = { clock, stateDirectory: undefined, allowWeakCost: true };
  const { signal } = new AbortController();
  return await readTombstones(await openRepository(memory, secret, options, signal), signal);
}

/** Whoever does not fail, marks; then the chain of records has no gap. */
async function expectSound(): Promise<void> {
  const { findings } = await check(
    repository,
    { readData: 'all', workers: 0 },
    SILENT_CHECK,
    new AbortController().signal,
  );
  expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
}

async function markedBy(held: (signal: AbortSignal) => Promise<void>): Promise<string> {
  return await markPacks(repository, mark, { held, live: 1 }, stop.signal);
}

describe('a mark', () => {
  it('stands when the right to it holds before and after', async () => {
    let looks = 0;
    const name = await markedBy(async () => void (looks += 1));
    expect(looks).toBe(2);
    const { all, packs } = await tombstones();
    expect(all.map((one) => one.name)).toEqual([name]);
    expect([...packs]).toEqual([pack]);
    await expectSound();
  });

  it('is not stored when the right has gone before', async () => {
    await expect(markedBy(async () => await Promise.reject(lost))).rejects.toBe(lost);
    expect((await tombstones()).all).toEqual([]);
    await tinyBackup(repository, { file: randomBytes(100) }, {}, stop.signal);
    await expectSound();
  });

  it('is withdrawn when the right has gone while it was stored, and leaves no gap', async () => {
    let gone = false;
    whileStored = () => {
      gone = true;
    };
    const held = async (): Promise<void> => {
      if (gone) throw lost;
    };
    await expect(markedBy(held)).rejects.toBe(lost);
    const { all, packs } = await tombstones();
    expect(packs.size).toBe(0);
    expect(all.map(({ record }) => record)).toMatchObject([
      { kind: 'snapshots', reason: 'withdrawn', fence: 3 },
    ]);
    await expectSound();
  });

  it('is withdrawn, too, when the loss is told while it is on its way', async () => {
    whileStored = () => stop.abort(lost);
    const held = async (): Promise<void> => {
      if (stop.signal.aborted) throw lost;
    };
    await expect(markedBy(held)).rejects.toBe(lost);
    expect((await tombstones()).packs.size).toBe(0);
    await expectSound();
  });

  it('stands when nobody can tell whether the right holds', async () => {
    const silent = new DestinationError('unreachable', 'no answer');
    let looks = 0;
    const held = async (): Promise<void> => {
      looks += 1;
      if (looks > 1) throw silent;
    };
    await expect(markedBy(held)).rejects.toBe(silent);
    expect([...(await tombstones()).packs]).toEqual([pack]);
    await expectSound();
  });
});
