import { describe, expect, test } from 'vitest';
import { UploadLimit, limitUploads } from '../../../src/destination/limited.ts';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import { destinationContract } from '../../contract/destination-suite.ts';
import { manualClock, settle, type ManualClock } from '../../support/manual-clock.ts';
import { systemClock } from '../../../src/base/clock.ts';

const never = new AbortController().signal;

destinationContract('limitUploads(memory)', async () => {
  const destination = createMemoryDestination();
  const limit = new UploadLimit(systemClock, 10_000_000_000);
  return { open: async () => limitUploads(destination, limit, () => true), remove: async () => {} };
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

test('a limited destination lets through at once what must not wait', async () => {
  const clock = manualClock();
  const inner = createMemoryDestination();
  const limited = limitUploads(inner, new UploadLimit(clock, 1000), (key) => key.startsWith('packs/'));
  expect(await timed(clock, limited.put('leases/a', Buffer.alloc(5000), never))).toBe(0);
  expect(await timed(clock, limited.put('packs/a', Buffer.alloc(1000), never))).toBe(5000);
});
