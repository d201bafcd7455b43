// Turn 5 of 8.
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { whileMoving } from '../../../src/destination/stall.ts';

const live = new AbortController().signal;

afterEach(() => {
  vi.useRealTimers();
});

test('what moves in time may take as long as it needs', async () => {
  const slow = whileMoving('read a', 2_000, live, async ({ moved }) => {
    for (let step = 0; step < 30; step += 1) {
      await delay(100);
      moved();
    }
    return 'done';
  });
  await expect(slow).resolves.toBe('done');
});

test('what does not move is unreachable, and is told to stop', async () => {
  let told: AbortSignal | undefined;
  const stuck = whileMoving('read a', 50, live, async ({ signal }) => {
    told = signal;
    return await new Promise<never>(() => {});
  });
  await expect(stuck).rejects.toMatchObject({ kind: 'unreachable', details: { stalled: true } });
  expect(told?.aborted).toBe(true);
});

test('a byte now and then is no progress, and a kilobyte is', async () => {
  const trickle = whileMoving('read a', 300, live, async ({ moved, signal }) => {
    for (;;) {
      await delay(10, undefined, { signal });
      moved(1);
    }
  });
  await expect(trickle).rejects.toMatchObject({ kind: 'unreachable', details: { stalled: true } });
  const slow = whileMoving('read a', 2_000, live, async ({ moved }) => {
    for (let step = 0; step < 30; step += 1) {
      await delay(100);
      moved(400);
    }
    return 'done';
  });
  await expect(slow).resolves.toBe('done');
});

const MIB = 1024 * 1024;

test.each([
  ['a megabyte or more', 32 * MIB, 5 * 60],
  ['a quarter of that', MIB / 4, 2 * 60],
  ['a kilobyte', 1024, 60],
])(
  'what the system has taken of an upload, %s, may be on a slow line for some minutes yet',
  async (_, bytes, seconds) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    let outcome: unknown = 'waiting';
    const answered = Promise.withResolvers<void>();
    const putting = whileMoving('store a', 60_000, live, async ({ moved, held }) => {
      held(bytes);
      await answered.promise;
      moved();
      return await new Promise<never>(() => {});
    });
    void putting.catch((error: unknown) => (outcome = error));
    await vi.advanceTimersByTimeAsync((seconds - 1) * 1000);
    expect(outcome).toBe('waiting');
    answered.resolve();
    await vi.advanceTimersByTimeAsync(59_000);
    expect(outcome).toBe('waiting');
    await vi.advanceTimersByTimeAsync(2_000);
    expect(outcome).toMatchObject({
      message: expect.stringContaining('no data was transferred for 60 seconds'),
    });
    const silent = whileMoving('store a', 60_000, live, async ({ held }) => {
      held(bytes);
      return await new Promise<never>(() => {});
    });
    const failure = expect(silent).rejects.toMatchObject({
      message: expect.stringContaining(`no data was transferred for ${seconds} seconds`),
      details: { stalled: true },
    });
    await vi.advanceTimersByTimeAsync((seconds + 1) * 1000);
    await failure;
  },
);

test('what goes on after the answer keeps no timer', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  let late = (): void => {};
  await whileMoving('store a', 60_000, live, async ({ moved, held }) => {
    late = () => {
      held(MIB);
      moved();
    };
    await Promise.resolve();
  });
  late();
  expect(vi.getTimerCount()).toBe(0);
});

test('an abort rejects with its reason at once, whatever becomes of the work', async () => {
  const controller = new AbortController();
  const reason = new Error('stopped by the test');
  const working = whileMoving(
    'read a',
    60_000,
    controller.signal,
    async () => await new Promise<never>(() => {}),
  );
  controller.abort(reason);
  await expect(working).rejects.toBe(reason);
  await expect(whileMoving('read a', 60_000, controller.signal, async () => 1)).rejects.toBe(reason);
});

test('a failure of the work arrives as it is', async () => {
  const failure = new Error('no');
  const working = whileMoving('read a', 60_000, live, async () => await Promise.reject(failure));
  await expect(working).rejects.toBe(failure);
});
