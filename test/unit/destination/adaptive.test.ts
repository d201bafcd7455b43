import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { DestinationError } from '../../../src/base/errors.ts';
import { withAdaptiveParallelism } from '../../../src/destination/open/adaptive.ts';
import type { Destination } from '../../../src/destination/destination.ts';
import { createMemoryDestination } from '../../../src/destination/memory.ts';

const live = new AbortController().signal;

afterEach(() => {
  vi.restoreAllMocks();
});

function silence(): DestinationError {
  return new DestinationError('unreachable', 'nothing has moved', {
    retry: 'later',
    details: { stalled: true },
  });
}

/** A destination whose calls end when the test says so. */
function held(maxParallel: number) {
  const memory = createMemoryDestination();
  const waiting: PromiseWithResolvers<void>[] = [];
  const inner: Destination = {
    ...memory,
    properties: { ...memory.properties, maxParallel },
    async stat() {
      const end = Promise.withResolvers<void>();
      waiting.push(end);
      await end.promise;
      return { size: 0, modifiedMs: 0 };
    },
  };
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
  };
  return {
    destination: withAdaptiveParallelism(inner),
    /** Calls under way. */
    async running(): Promise<number> {
      await settle();
      return waiting.length;
    },
    /** Ends all calls that are under way. */
    async endAll(error?: Error): Promise<void> {
      for (const end of waiting.splice(0)) {
        if (error === undefined) end.resolve();
        else end.reject(error);
      }
      await settle();
    },
  };
}

test('begins with a few calls at once, and allows more as they succeed, up to what the destination says', async () => {
  const { destination, running, endAll } = held(6);
  const all = Array.from({ length: 40 }, async () => await destination.stat('a', live));
  const seen: number[] = [];
  for (let now = await running(); now > 0; now = await running()) {
    seen.push(now);
    await endAll();
  }
  await Promise.all(all);
  expect(seen[0]).toBe(4);
  expect(Math.max(...seen)).toBe(6);
  expect(seen.slice(0, 4)).toEqual([4, 5, 6, 6]);
});

test('halves them once for all that were refused together for their number, down to one', async () => {
  const { destination, running, endAll } = held(16);
  const throttled = new DestinationError('unreachable', 'too many', { details: { throttled: true } });
  const all = Array.from({ length: 12 }, async () => await destination.stat('a', live));
  const outcomes = Promise.allSettled(all);
  expect(await running()).toBe(4);
  await endAll(throttled);
  expect(await running()).toBe(2);
  await endAll(throttled);
  expect(await running()).toBe(1);
  await endAll(throttled);
  expect(await running()).toBe(1);
  while ((await running()) > 0) await endAll();
  expect((await outcomes).filter(({ status }) => status === 'rejected')).toHaveLength(7);
});

test('goes back to as many as were too many only after long, and not straight after', async () => {
  const { destination, running, endAll } = held(16);
  const stalled = new DestinationError('unreachable', 'nothing moves', { details: { stalled: true } });
  const all = Array.from({ length: 120 }, async () => await destination.stat('a', live));
  const outcomes = Promise.allSettled(all);
  expect(await running()).toBe(4);
  await endAll(stalled);
  const seen: number[] = [];
  for (let now = await running(); now > 0; now = await running()) {
    seen.push(now);
    await endAll();
  }
  await outcomes;
  expect(seen.slice(0, 3)).toEqual([2, 3, 3]);
  // What was too many has to prove itself ten times over; after that it counts as any other number.
  expect(seen.indexOf(4)).toBe(11);
  expect(seen.slice(11, 14)).toEqual([4, 5, 6]);
});

test('does not take other failures for too many calls', async () => {
  const { destination, running, endAll } = held(4);
  const outcomes = Promise.allSettled(
    Array.from({ length: 8 }, async () => await destination.stat('a', live)),
  );
  expect(await running()).toBe(4);
  await endAll(new DestinationError('not-found', 'absent'));
  expect(await running()).toBe(4);
  await endAll();
  await outcomes;
});

test('a call that is aborted while it waits leaves its turn to the next', async () => {
  const { destination, running, endAll } = held(1);
  const controller = new AbortController();
  const first = destination.stat('a', live);
  const second = destination.stat('a', controller.signal);
  const third = destination.stat('a', live);
  expect(await running()).toBe(1);
  const reason = new Error('stopped by the test');
  controller.abort(reason);
  await expect(second).rejects.toBe(reason);
  await endAll();
  expect(await running()).toBe(1);
  await endAll();
  await Promise.all([first, third]);
});

test('where nobody has answered for minutes, the calls that wait for a turn fail with those that had one', async () => {
  let now = 1_000;
  vi.spyOn(systemClock, 'monotonic').mockImplementation(() => now);
  const { destination, running, endAll } = held(16);
  const silent = silence();
  const all = Array.from({ length: 20 }, async () => await destination.stat('a', live));
  const ends = Promise.allSettled(all);
  // Each call is under way for a minute without an answer, and each time half as many are.
  for (const wanted of [4, 2, 1, 1]) {
    expect(await running()).toBe(wanted);
    now += 60_000;
    await endAll(silent);
  }
  expect(await running()).toBe(0);
  for (const end of await ends) expect(end).toMatchObject({ status: 'rejected', reason: silent });
});

test('but not while another call goes on for longer than a stall: it moves', async () => {
  let now = 1_000;
  vi.spyOn(systemClock, 'monotonic').mockImplementation(() => now);
  const { destination, running, endAll } = held(2);
  const upload = Promise.withResolvers<void>();
  const slow = withAdaptiveParallelism({
    ...destination,
    put: async () => {
      await upload.promise;
      return { size: 0, modifiedMs: 0 };
    },
  });
  const put = slow.put('large', Buffer.alloc(0), live);
  const unanswered = slow.stat('a', live);
  const waiting = slow.stat('b', live);
  expect(await running()).toBe(1);
  now += 200_000;
  const silent = silence();
  await Promise.all([expect(unanswered).rejects.toBe(silent), endAll(silent)]);
  upload.resolve();
  await put;
  expect(await running()).toBe(1);
  await endAll();
  expect(await waiting).toMatchObject({ size: 0 });
});
