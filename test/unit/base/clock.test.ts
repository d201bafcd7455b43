import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';

const DAY_MS = 86_400_000;

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

test('sleeps for longer than a timer can be set', async () => {
  let awake = false;
  const sleep = systemClock.sleep(60 * DAY_MS, new AbortController().signal).then(() => (awake = true));
  await vi.advanceTimersByTimeAsync(60 * DAY_MS - 1);
  expect(awake).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  await sleep;
  expect(awake).toBe(true);
});

test('can be woken in any part of a long sleep, and leaves no timer', async () => {
  const over = new AbortController();
  const reason = new Error('over');
  const sleep = systemClock.sleep(60 * DAY_MS, over.signal);
  const woken = expect(sleep).rejects.toBe(reason);
  await vi.advanceTimersByTimeAsync(30 * DAY_MS);
  over.abort(reason);
  await woken;
  expect(vi.getTimerCount()).toBe(0);
});
