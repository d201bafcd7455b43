import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { rmSync } from 'node:fs';
import {
  bytesReadBy,
  EventPressure,
  threads,
  threadsNamedAsMain,
} from '../../../src/watch/event-pressure.ts';

describe('events may have been dropped', () => {
  test('when a whole queue was read within a while, in one go or several', () => {
    let bytes = 0;
    const pressure = new EventPressure({ queue: 100, bytesRead: () => bytes });
    bytes += 1_599;
    expect(pressure.isTooHigh(0, 0)).toBe(false);
    bytes += 1;
    expect(pressure.isTooHigh(2_000, 0)).toBe(true);
    expect(pressure.isTooHigh(2_001, 0)).toBe(false);
  });

  test('not when as much was read over a longer time', () => {
    let bytes = 0;
    const pressure = new EventPressure({ queue: 100, bytesRead: () => bytes });
    for (let second = 0; second < 100; second += 1) {
      bytes += 500;
      expect(pressure.isTooHigh(second * 1_000, 1_000)).toBe(false);
    }
  });

  test('when far fewer were reported, where nothing tells how much was read', () => {
    const pressure = new EventPressure({ queue: 800, bytesRead: () => undefined });
    expect(pressure.isTooHigh(0, 50)).toBe(false);
    expect(pressure.isTooHigh(1_000, 49)).toBe(false);
    expect(pressure.isTooHigh(2_000, 1)).toBe(true);
  });
});

describe.runIf(process.platform === 'linux')('what a thread has read', () => {
  test('is counted by the system, to the byte', () => {
    const file = join(tmpdir(), `holdfast-pressure-${process.pid}`);
    writeFileSync(file, Buffer.alloc(100_000));
    try {
      const own = [String(process.pid)];
      const before = bytesReadBy(own) ?? Number.NaN;
      readFileSync(file);
      const after = bytesReadBy(own) ?? Number.NaN;
      // Reading the count is reading, too.
      expect(after - before).toBeGreaterThanOrEqual(100_000);
      expect(after - before).toBeLessThan(101_000);
    } finally {
      rmSync(file);
    }
  });

  test('is unknown of one that is not there', () => {
    expect(bytesReadBy([])).toBeUndefined();
    expect(bytesReadBy(['0'])).toBeUndefined();
  });

  test('is asked of threads that bear the name of the first one', () => {
    const named = threadsNamedAsMain(threads());
    expect(named).toContain(String(process.pid));
    expect(named.length).toBeLessThan(threads().size);
  });
});
