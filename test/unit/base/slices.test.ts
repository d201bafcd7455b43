import { expect, test } from 'vitest';
import { inSlices } from '../../../src/base/paced-work.ts';

/** Takes the processor for so many milliseconds. */
function work(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end;);
}

test('few items are done when the call returns', () => {
  const done: number[] = [];
  void inSlices([1, 2, 3], (item) => void done.push(item));
  expect(done).toEqual([1, 2, 3]);
});

test('everything else has its turn while many items are worked through', async () => {
  const done: number[] = [];
  const seen: number[] = [];
  const timer = setInterval(() => void seen.push(done.length), 1);
  const items = Array.from({ length: 40 }, (_, item) => item);
  await inSlices(items, (item) => {
    work(5);
    done.push(item);
  });
  clearInterval(timer);
  expect(done).toEqual(items);
  expect(seen.filter((count) => count > 0 && count < items.length).length).toBeGreaterThan(2);
});

test('an end that comes between two slices leaves out the rest', async () => {
  const end = new AbortController();
  const done: number[] = [];
  setImmediate(() => end.abort());
  await inSlices(
    Array.from({ length: 40 }, (_, item) => item),
    (item) => {
      work(5);
      done.push(item);
    },
    end.signal,
  );
  expect(done.length).toBeGreaterThan(0);
  expect(done.length).toBeLessThan(40);
});

test('what the work throws reaches the caller', async () => {
  const call = inSlices([1], () => {
    throw new Error('no');
  });
  await expect(call).rejects.toThrow('no');
});
