/** What a backup does when its destination fails, at every call it makes. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { archive, type ArchiveSummary } from '../../src/archiver/archive.ts';
import { SILENT } from '../../src/archiver/report/observer.ts';
import { BugError, DestinationError, RepositoryError } from '../../src/base/errors.ts';
import { createMemoryDestination } from '../../src/destination/memory.ts';
import type { Destination } from '../../src/destination/destination.ts';
import { withRetry } from '../../src/destination/retry.ts';
import { loadIndex } from '../../src/repository/chunk-index.ts';
import { PackWriter } from '../../src/repository/packs/pack-writer.ts';
import { faultyDestination, type DestinationMethod, type Fault } from '../support/faulty-destination.ts';
import { never, openEngine, requestFor, type Engine } from '../support/engine.ts';
import { hookedDestination } from '../support/hooked-destination.ts';
import { recordingDestination } from '../support/recording-destination.ts';
import { seededRandom } from '../support/seeded-random.ts';

let directory: Engine;
let source: string;

beforeAll(async () => {
  directory = await openEngine();
  source = directory.source;
  const random = seededRandom(21);
  for (const name of ['a', 'b']) mkdirSync(join(source, name));
  for (let index = 0; index < 6; index += 1) {
    writeFileSync(join(source, 'a', `small-${index}`), random.bytes(20_000));
    writeFileSync(join(source, 'b', `large-${index}`), random.bytes(400_000));
  }
});
afterAll(async () => {
  await directory[Symbol.asyncDispose]();
});

/** A new repository, and a way to back up to it through a destination that fails. */
interface Trial extends Engine {
  readonly inner: Destination;
  through(destination: Destination): Promise<ArchiveSummary>;
}

async function newTrial(): Promise<Trial> {
  const inner = createMemoryDestination();
  const engine = await openEngine({ destination: inner });
  return {
    ...engine,
    inner,
    through: async (destination) =>
      await archive(requestFor(await engine.open(destination), [source]), SILENT, never),
  };
}

async function failureOf(run: Promise<unknown>): Promise<unknown> {
  try {
    await run;
  } catch (error) {
    return error;
  }
  return undefined;
}

/** What one undisturbed backup of the source asks of the destination. */
async function countCalls(): Promise<(method: DestinationMethod, under: string) => number> {
  await using clean = await openEngine();
  clean.calls.reset();
  await clean.backup([source]);
  return (method, under) => {
    const count = clean.calls.count(method, under);
    expect(count, `${method} ${under}`).toBeGreaterThan(0);
    return count;
  };
}

const unreachable = new DestinationError('unreachable', 'planned', { retry: 'later' });

/** No snapshot is there, and the next run makes one that is whole. */
async function expectNextRunSucceeds(trial: Trial): Promise<void> {
  expect(await trial.snapshots()).toEqual([]);
  const { snapshot } = await trial.backup([source]);
  expect(snapshot.record.status).toBe('complete');
  expect(await trial.differences(snapshot, source)).toEqual([]);
}

describe('a destination that fails once', () => {
  test.each(['leases/', 'packs/', 'index/', 'snapshots/'])(
    'at any put below %s: a typed error and no snapshot, and the next run succeeds',
    async (under) => {
      const count = (await countCalls())('put', under);
      for (let nth = 1; nth <= count; nth += 1) {
        await using trial = await newTrial();
        const plan: Fault = { on: 'put', under, nth, fault: 'fail', error: unreachable };
        using faulty = faultyDestination(trial.inner, [plan]);
        const recorded = recordingDestination(faulty);
        expect(await failureOf(trial.through(recorded)), `${nth}`).toBe(unreachable);
        // Nothing goes on behind the back of whoever was told of the failure.
        expect(recorded.calls.filter(({ outcome }) => outcome === 'pending')).toEqual([]);
        // Nothing names a pack that is not there.
        const { missing } = await loadIndex(trial.repository, { without: new Set() }, never);
        expect(missing, `${nth}`).toEqual([]);
        await expectNextRunSucceeds(trial);
      }
    },
  );

  test('while another put is under way: that is broken off before the failure is told', async () => {
    await using trial = await newTrial();
    using faulty = faultyDestination(trial.inner, [
      { on: 'put', under: 'packs/', nth: 1, fault: 'delay', ms: 30_000 },
      { on: 'put', under: 'packs/', nth: 2, fault: 'fail', error: unreachable },
    ]);
    const recorded = recordingDestination(faulty);
    expect(await failureOf(trial.through(recorded))).toBe(unreachable);
    const delayed = recorded.calls.find(({ method, key }) => method === 'put' && key.startsWith('packs/'));
    expect(delayed?.outcome).toBe('rejected');
    expect(recorded.calls.filter(({ outcome }) => outcome === 'pending')).toEqual([]);
    await expectNextRunSucceeds(trial);
  });

  test('at any list: a typed error and no snapshot, and the next run succeeds', async () => {
    const calls = await countCalls();
    await using trial = await newTrial();
    for (const under of ['packs/', 'index/', 'snapshots/', 'trash/']) {
      for (let nth = 1; nth <= calls('list', under); nth += 1) {
        const plan: Fault = { on: 'list', under, nth, fault: 'fail', error: unreachable };
        using faulty = faultyDestination(trial.inner, [plan]);
        expect(await failureOf(trial.through(faulty)), `${under} ${nth}`).toBe(unreachable);
        expect(await trial.snapshots()).toEqual([]);
      }
    }
    await expectNextRunSucceeds(trial);
  });

  test('when the head is written, after the commit: the snapshot stands, and the run says so', async () => {
    await using trial = await newTrial();
    using faulty = faultyDestination(trial.inner, [
      { on: 'put', under: 'heads/', fault: 'fail', error: unreachable },
    ]);
    const { snapshot } = await trial.through(faulty);
    expect((await trial.snapshots()).map(({ id }) => id)).toEqual([snapshot.id]);
    expect(await trial.differences(snapshot, source)).toEqual([]);
  });
});

describe('a destination that runs full', () => {
  test('anywhere: an error of kind full and no snapshot; with space again the next run succeeds', async () => {
    let runs = 0;
    for (let bytes = 0; ; bytes += 900_000) {
      await using trial = await newTrial();
      const faulty = faultyDestination(trial.inner, [{ on: 'put', fault: 'run-out-of-space', bytes }]);
      const error = await failureOf(trial.through(faulty));
      if (error === undefined) {
        expect(() => faulty.assertFired(), `${bytes} bytes of space were not enough`).toThrow();
        break;
      }
      faulty.assertFired();
      expect(error).toMatchObject({ side: 'destination', kind: 'full' });
      await expectNextRunSucceeds(trial);
      runs += 1;
    }
    expect(runs).toBeGreaterThan(2);
  });

  test.each(['index/', 'snapshots/'])('for %s only', async (under) => {
    await using trial = await newTrial();
    const error = new DestinationError('full', 'planned', { retry: 'later' });
    using faulty = faultyDestination(trial.inner, [{ on: 'put', under, fault: 'fail', error, times: 9 }]);
    expect(await failureOf(trial.through(faulty))).toBe(error);
    await expectNextRunSucceeds(trial);
  });
});

describe('a reply that is lost', () => {
  /** The next try is made at once. */
  const patient = (destination: Destination): Destination =>
    withRetry(destination, { attempts: 4, firstDelayMs: 1, maxDelayMs: 1, random: () => 0 }, async () => {});

  test('of every kind of put: stored once, counted once', async () => {
    const calls = await countCalls();
    await using trial = await newTrial();
    await using clean = await newTrial();
    const { bytesUploaded } = await clean.backup([source]);
    const kinds = ['packs/', 'index/', 'snapshots/', 'heads/', 'leases/'];
    const plans = kinds.map((under): Fault => ({
      on: 'put',
      under,
      nth: 1,
      fault: 'lose-reply',
      error: unreachable,
    }));
    using faulty = faultyDestination(trial.inner, plans);
    const recorded = recordingDestination(faulty);
    const summary = await trial.through(patient(recorded));
    for (const under of kinds.slice(0, 4)) {
      expect(recorded.count('put', under)).toBe(calls('put', under) + 1);
      expect(await countStored(trial.inner, under), under).toBe(calls('put', under));
    }
    expect(Math.abs(summary.bytesUploaded - bytesUploaded)).toBeLessThan(bytesUploaded / 50);
    expect(await trial.snapshots()).toHaveLength(1);
    expect(await trial.differences(summary.snapshot, source)).toEqual([]);
  });

  test('of the snapshot, without another try: the next run goes on behind it in the chain', async () => {
    await using trial = await newTrial();
    using faulty = faultyDestination(trial.inner, [
      { on: 'put', under: 'snapshots/', fault: 'lose-reply', error: unreachable },
    ]);
    const request = requestFor(await trial.open(faulty), [source]);
    expect(await failureOf(archive(request, SILENT, never))).toBe(unreachable);
    const [unnoticed] = await trial.snapshots();
    expect(unnoticed?.chain.seq).toBe(1);
    const { snapshot } = await archive(request, SILENT, never);
    expect(snapshot.chain).toMatchObject({ seq: 2, prev: unnoticed?.id });
    expect(snapshot.record.parent).toBe(unnoticed?.id);
    expect(await trial.snapshots()).toHaveLength(2);
  });
});

describe('a pack that was said to be stored, but is not there', () => {
  test('is missed before the commit, and stored again', async () => {
    await using trial = await newTrial();
    using faulty = faultyDestination(trial.inner, [
      { on: 'put', under: 'packs/', nth: 2, fault: 'lose-object' },
    ]);
    const { snapshot } = await trial.through(faulty);
    expect(await trial.differences(snapshot, source)).toEqual([]);
  });

  test('again and again: the run gives up without a snapshot', async () => {
    await using trial = await newTrial();
    using faulty = faultyDestination(trial.inner, [
      { on: 'put', under: 'packs/', times: 1_000, fault: 'lose-object' },
    ]);
    expect(await failureOf(trial.through(faulty))).toBeInstanceOf(RepositoryError);
    await expectNextRunSucceeds(trial);
  });

  test('only the list does not show it yet: it is looked at by itself', async () => {
    await using trial = await newTrial();
    const stored: string[] = [];
    let lists = 0;
    using faulty = faultyDestination(trial.inner, [
      { on: 'list', under: 'packs/', nth: 2, fault: 'drop', drops: (key) => key === stored[0] },
    ]);
    const watched = hookedDestination(faulty, {
      put: (key) => {
        if (key.startsWith('packs/')) stored.push(key);
      },
      list: (prefix) => {
        if (prefix === 'packs/') lists += 1;
      },
    });
    const { snapshot } = await trial.through(watched);
    expect(stored).toHaveLength((await countCalls())('put', 'packs/'));
    // One look at what is there and one before the commit: the run did not start over.
    expect(lists).toBe(2);
    expect(await trial.differences(snapshot, source)).toEqual([]);
  });
});

describe('a bit that flips in memory', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  test('between naming a chunk and sealing it: nothing of it is stored, and the run ends', async () => {
    // Trees, and the content of a few files, are sealed in this thread; more content by the same code in others.
    const rooms: Buffer[] = [];
    const reserve = PackWriter.prototype.reserve;
    vi.spyOn(PackWriter.prototype, 'reserve').mockImplementation(function (this: PackWriter, length) {
      const room = reserve.call(this, length);
      rooms.push(room);
      return room;
    });
    const finish = PackWriter.prototype.finish;
    let flipped = 0;
    vi.spyOn(PackWriter.prototype, 'finish').mockImplementation(function (this: PackWriter) {
      const room = rooms.at(-1);
      if (room !== undefined && flipped === 0) {
        room.writeUInt8(room.readUInt8(room.length >> 1) ^ 4, room.length >> 1);
        flipped += 1;
      }
      finish.call(this);
    });
    await using trial = await newTrial();
    const error = await failureOf(trial.backup([source]));
    expect(flipped).toBe(1);
    expect(error).toBeInstanceOf(RepositoryError);
    expect(error).toMatchObject({ code: 'CORRUPT_DATA' });
    vi.restoreAllMocks();
    await expectNextRunSucceeds(trial);
  });
});

test('a mistake of the program while a result becomes an entry ends the run, not the process', async () => {
  const mistake = new BugError('planned');
  const append = vi.spyOn(PackWriter.prototype, 'append').mockImplementation(() => {
    throw mistake;
  });
  await using trial = await newTrial();
  expect(await failureOf(trial.backup([source]))).toBe(mistake);
  expect(append).toHaveBeenCalledTimes(1);
  append.mockRestore();
  await expectNextRunSucceeds(trial);
});

async function countStored(destination: Destination, under: string): Promise<number> {
  let count = 0;
  for await (const page of destination.list(under, never)) count += page.length;
  return count;
}
