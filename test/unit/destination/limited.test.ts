// Turn 6 of 8.
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { UploadLimit, paceOf, type UploadPace } from '../../../src/destination/limited.ts';
import { openLocalDestination } from '../../../src/destination/local/local.ts';
import { destinationContract } from '../../contract/destination-suite.ts';
import { manualClock, settle, type ManualClock } from '../../support/manual-clock.ts';
import { systemClock } from '../../../src/base/clock.ts';

// Thousands of synced files: a file system in memory keeps this to seconds where there is one.
const scratch = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

const never = new AbortController().signal;

destinationContract('local with a limit', async () => {
  const directory = await mkdtemp(join(scratch, 'holdfast-limited-'));
  const pace = paceOf(new UploadLimit(systemClock, 10_000_000_000), () => true);
  return {
    open: async () => await openLocalDestination(directory, { pace }),
    remove: async () => await rm(directory, { recursive: true }),
  };
});

/** Tells whether a call has come back. */
function watch(work: Promise<unknown>): { readonly done: () => boolean } {
  const state = { done: false };
  const note = async (): Promise<void> => {
    await work;
    state.done = true;
  };
  void note();
  return { done: () => state.done };
}

/** Milliseconds that a call takes on the clock, to the next 100. */
async function timed(clock: ManualClock, work: Promise<unknown>): Promise<number> {
  const { done } = watch(work);
  const started = clock.monotonic();
  await settle();
  while (!done() && clock.monotonic() - started < 3_600_000) await clock.advance(100);
  return clock.monotonic() - started;
}

describe('an upload limit', () => {
  test('lets a second worth of bytes pass at once and holds what is more to the rate', async () => {
    const clock = manualClock();
    const limit = new UploadLimit(clock, 1000);
    expect(await timed(clock, limit.take(1000, never))).toBe(0);
    expect(await timed(clock, limit.take(5000, never))).toBe(5000);
  });

  test('makes those who come together wait in turn', async () => {
    const clock = manualClock();
    const limit = new UploadLimit(clock, 1000);
    const all = Promise.all([limit.take(1000, never), limit.take(2000, never), limit.take(3000, never)]);
    expect(await timed(clock, all)).toBe(5000);
  });

  test('keeps no more than a second worth while nobody stores anything', async () => {
    const clock = manualClock();
    const limit = new UploadLimit(clock, 1000);
    await clock.advance(3_600_000);
    expect(await timed(clock, limit.take(4000, never))).toBe(3000);
  });

  test('can be changed for those who wait already', async () => {
    const clock = manualClock();
    const limit = new UploadLimit(clock, 1000);
    const take = limit.take(101_000, never);
    await settle();
    await clock.advance(10_000);
    limit.set(9000);
    expect(await timed(clock, take)).toBeLessThanOrEqual(10_200);
  });

  test('can be lifted for those who wait already', async () => {
    const clock = manualClock();
    const limit = new UploadLimit(clock, 1);
    const take = limit.take(1_000_000, never);
    await settle();
    limit.set(undefined);
    expect(await timed(clock, take)).toBeLessThanOrEqual(100);
  });

  test('of nothing stores nothing until it is changed', async () => {
    const clock = manualClock();
    const limit = new UploadLimit(clock, 0);
    const take = limit.take(10, never);
    const { done } = watch(take);
    await settle();
    await clock.advance(60_000);
    expect(done()).toBe(false);
    limit.set(undefined);
    await clock.advance(200);
    await take;
  });

  test('has later bytes make up for those that could not wait', async () => {
    const clock = manualClock();
    const limit = new UploadLimit(clock, 1000);
    limit.spend(3000);
    expect(await timed(clock, limit.take(1000, never))).toBe(3000);
  });

  test('ends a wait with the reason of the signal, and lets the next one go on', async () => {
    const clock = manualClock();
    const limit = new UploadLimit(clock, 1000);
    const controller = new AbortController();
    const reason = new Error('enough');
    const first = limit.take(100_000, controller.signal);
    const second = limit.take(1000, never);
    await settle();
    controller.abort(reason);
    await expect(first).rejects.toBe(reason);
    expect(await timed(clock, second)).toBeLessThanOrEqual(100);
  });
});

describe('a pace', () => {
  /** What `bytes` are sent in, one piece after the other. */
  async function piecesOf(pace: UploadPace, key: string, bytes: number): Promise<readonly number[]> {
    const pieces: number[] = [];
    for (let left = bytes; left > 0; left -= pieces.at(-1) ?? left)
      pieces.push(await pace.next(key, left, never));
    return pieces;
  }

  test('sends an object in pieces of a tenth of a second, each in its time', async () => {
    const clock = manualClock();
    const pace = paceOf(new UploadLimit(clock, 1_000_000), () => true);
    const times: number[] = [];
    const sent = (async () => {
      for (let left = 4_000_000; left > 0; times.push(clock.monotonic()))
        left -= await pace.next('packs/a', left, never);
    })();
    await timed(clock, sent);
    expect(times).toHaveLength(40);
    const begun = times[0] ?? 0;
    // The first second's worth is there already.
    expect(times.filter((at) => at === begun)).toHaveLength(10);
    expect(times.slice(10).map((at) => at - begun)).toEqual(
      Array.from({ length: 30 }, (_, i) => (i + 1) * 100),
    );
  });

  test('interleaves objects that are sent together', async () => {
    const clock = manualClock();
    const pace = paceOf(new UploadLimit(clock, 100_000), () => true);
    await timed(clock, piecesOf(pace, 'packs/before', 100_000));
    const order: string[] = [];
    const send = async (key: string): Promise<void> => {
      for (let left = 100_000; left > 0; order.push(key)) left -= await pace.next(key, left, never);
    };
    await timed(clock, Promise.all([send('packs/a'), send('packs/b')]));
    expect(order.slice(0, 6)).toEqual(['packs/a', 'packs/b', 'packs/a', 'packs/b', 'packs/a', 'packs/b']);
  });

  test('asks for everything at once while there is no limit, and follows one that is set', async () => {
    const clock = manualClock();
    const limit = new UploadLimit(clock, undefined);
    const pace = paceOf(limit, () => true);
    expect(pace.limited).toBe(false);
    expect(await piecesOf(pace, 'packs/a', 50_000_000)).toEqual([50_000_000]);
    limit.set(500_000);
    expect(pace.limited).toBe(true);
    const taken = piecesOf(pace, 'packs/b', 150_000);
    await timed(clock, taken);
    expect(await taken).toEqual([50_000, 50_000, 50_000]);
  });

  test('lets through at once what must not wait, and what waits makes up for it', async () => {
    const clock = manualClock();
    const pace = paceOf(new UploadLimit(clock, 1000), (key) => key.startsWith('packs/'));
    expect(await timed(clock, pace.next('leases/a', 5000, never))).toBe(0);
    expect(await timed(clock, pace.next('packs/a', 1000, never))).toBe(5000);
  });

  test('is kept by a local destination, which stores the same bytes', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'holdfast-paced-'));
    const asked: string[] = [];
    const inner = paceOf(new UploadLimit(systemClock, 100_000_000), () => true);
    const pace: UploadPace = {
      limited: true,
      next: async (key, wanted, signal) => {
        asked.push(key);
        return await inner.next(key, wanted, signal);
      },
    };
    const body = Buffer.alloc(25_000_001, 'bytes that repeat ');
    const destination = await openLocalDestination(directory, { pace });
    try {
      await destination.put('packs/a', body, never);
      // In pieces of 4 MiB, however high the limit is.
      expect(asked).toEqual(Array.from({ length: 6 }, () => 'packs/a'));
      expect(body.equals(await readFile(join(directory, 'packs/a')))).toBe(true);
    } finally {
      await destination.close();
      await rm(directory, { recursive: true });
    }
  });

  test('that is broken off leaves nothing of the object', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'holdfast-paced-'));
    const controller = new AbortController();
    const reason = new Error('enough');
    const pieces: number[] = [];
    const pace: UploadPace = {
      limited: true,
      next: async (_key, _wanted, signal) => {
        pieces.push(1);
        if (pieces.length === 3) controller.abort(reason);
        signal.throwIfAborted();
        return await Promise.resolve(1000);
      },
    };
    const destination = await openLocalDestination(directory, { pace });
    try {
      await expect(destination.put('packs/a', Buffer.alloc(10_000), controller.signal)).rejects.toBe(reason);
      await destination.close();
      expect(await readdir(join(directory, 'packs'))).toEqual([]);
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});
