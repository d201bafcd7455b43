import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { splitTime } from '../../../src/system/native.ts';

it('rounds seconds down, so that nanoseconds are never negative', () => {
  expect(splitTime(0n)).toEqual({ seconds: 0n, nanoseconds: 0n });
  expect(splitTime(-1n)).toEqual({ seconds: -1n, nanoseconds: 999_999_999n });
  expect(splitTime(-1_000_000_000n)).toEqual({ seconds: -1n, nanoseconds: 0n });
  expect(splitTime(1_700_000_000_123_456_789n)).toEqual({
    seconds: 1_700_000_000n,
    nanoseconds: 123_456_789n,
  });
});

it('keeps every nanosecond', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 90n), max: 2n ** 90n }), (ns) => {
      const { seconds, nanoseconds } = splitTime(ns);
      expect(seconds * 1_000_000_000n + nanoseconds).toBe(ns);
      expect(nanoseconds >= 0n && nanoseconds < 1_000_000_000n).toBe(true);
    }),
  );
});

it('refuses seconds that would wrap around', () => {
  const limit = 2n ** 63n * 1_000_000_000n;
  expect(splitTime(limit - 1n).seconds).toBe(2n ** 63n - 1n);
  expect(splitTime(-limit).seconds).toBe(-(2n ** 63n));
  expect(() => splitTime(limit)).toThrow(RangeError);
  expect(() => splitTime(-limit - 1n)).toThrow(RangeError);
});
