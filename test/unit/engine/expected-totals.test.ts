import { expect, test } from 'vitest';
import type { ExpectedTotals, SizeScan } from '../../../src/archiver/walk/size-scan.ts';
import { expectTotals } from '../../../src/engine/job-progress.ts';

const MIB = 1024 * 1024;
const LAST: ExpectedTotals = { files: 41, bytes: 820 };
const COUNTED: ExpectedTotals = { files: 57, bytes: 1500 * MIB };

const exclude = {
  patterns: [],
  ignoreFiles: [],
  excludeCaches: false,
  markers: [],
  largerThan: undefined,
  oneFileSystem: false,
  never: [],
};

function expected(last: ExpectedTotals | undefined, changes?: ReadonlySet<string>) {
  const counts: { totals: ExpectedTotals | undefined; isStopped: boolean }[] = [];
  const start = (): SizeScan => {
    const count = { totals: undefined, isStopped: false };
    counts.push(count);
    return {
      get totals() {
        return count.totals;
      },
      stop: async () => {
        count.isStopped = true;
      },
    };
  };
  return { totals: expectTotals({ sources: [], exclude, changes }, last, start), counts };
}

test('without a last time everything is counted, and nothing is known until that is done', () => {
  const { totals, counts } = expected(undefined);
  expect(totals.now(5 * MIB)).toBeUndefined();
  Object.assign(counts[0] ?? {}, { totals: COUNTED });
  expect(totals.now(6 * MIB)).toEqual(COUNTED);
  expect(counts).toHaveLength(1);
});

test('as much as the last time is expected, and what was found beyond it', () => {
  const { totals, counts } = expected(LAST);
  expect(totals.now(8)).toEqual(LAST);
  expect(totals.now(3 * MIB)).toEqual({ files: 41, bytes: 3 * MIB });
  expect(counts).toEqual([]);
});

test('a source that has grown far beyond the last time is counted anew, once', () => {
  const { totals, counts } = expected(LAST);
  expect(totals.now(65 * MIB)).toBeUndefined();
  expect(totals.now(80 * MIB)).toBeUndefined();
  expect(counts).toHaveLength(1);
  Object.assign(counts[0] ?? {}, { totals: COUNTED });
  expect(totals.now(90 * MIB)).toEqual(COUNTED);
});

test('a tenth more than a large last time is no reason to count', () => {
  const { totals, counts } = expected({ files: 10, bytes: 2000 * MIB });
  expect(totals.now(2200 * MIB)).toEqual({ files: 10, bytes: 2200 * MIB });
  expect(counts).toEqual([]);
});

test('where only changes are walked, the walk itself says how much there is', () => {
  const { totals, counts } = expected(LAST, new Set(['/srv/new.iso']));
  expect(totals.now(1500 * MIB)).toEqual({ files: 41, bytes: 1500 * MIB });
  expect(counts).toEqual([]);
});

test('a count that runs ends with the backup', async () => {
  const { totals, counts } = expected(undefined);
  await totals[Symbol.asyncDispose]();
  expect(counts[0]?.isStopped).toBe(true);
});
