/** How much work goes on at once, by the memory that there is. */
import { availableParallelism, totalmem } from 'node:os';
import { describe, expect, test } from 'vitest';
import { engineCount, isSmallMachine, memoryBytes, threadCount } from '../../../src/system/machine-memory.ts';

const MIB = 1024 * 1024;

test('a process has no more memory than the machine, and some', () => {
  expect(memoryBytes()).toBeGreaterThan(0);
  expect(memoryBytes()).toBeLessThanOrEqual(totalmem());
});

describe('with memory of', () => {
  test.each([
    [256, 1, 1, true],
    [512, 1, 1, true],
    [1_024, 3, 3, false],
    [2_048, 6, 7, false],
    [16_384, 8, 64, false],
  ])('%i MiB %i threads and %i engines work at once', (mebibytes, threads, engines, isSmall) => {
    const memory = mebibytes * MIB;
    expect(threadCount(8, memory)).toBe(Math.min(threads, availableParallelism()));
    expect(threadCount(1, memory)).toBe(1);
    expect(engineCount(memory)).toBe(engines);
    expect(isSmallMachine(memory)).toBe(isSmall);
  });
});
