import { expect, test } from 'vitest';
import { maybeTimestamp, timestamp } from '../../../../src/api/presentation/values.ts';

test('a time is written in UTC with milliseconds', () => {
  expect(timestamp(1_600_000_000_120)).toBe('2020-09-13T12:26:40.120Z');
  expect(timestamp(1_600_000_000_120.9)).toBe('2020-09-13T12:26:40.120Z');
  expect(timestamp(-1)).toBe('1969-12-31T23:59:59.999Z');
});

test('a time that no year of four digits holds becomes the nearest one', () => {
  expect(timestamp(9e15)).toBe('9999-12-31T23:59:59.999Z');
  expect(timestamp(Number.POSITIVE_INFINITY)).toBe('9999-12-31T23:59:59.999Z');
  expect(timestamp(-9e15)).toBe('0000-01-01T00:00:00.000Z');
  expect(timestamp(Number.NaN)).toBe('1970-01-01T00:00:00.000Z');
});

test('no time stays none', () => {
  expect(maybeTimestamp(null)).toBeNull();
  expect(maybeTimestamp(0)).toBe('1970-01-01T00:00:00.000Z');
});
