import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { whileMoving } from '../../../src/destination/stall.ts';

const live = new AbortController().signal;

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
