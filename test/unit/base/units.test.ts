import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RequestError } from '../../../src/base/errors.ts';
import {
  formatBytes,
  formatDuration,
  formatSpan,
  parseDuration,
  parseSize,
} from '../../../src/base/units.ts';

describe('parseSize', () => {
  test.each([
    ['0', 0],
    ['4096', 4096],
    ['12b', 12],
    ['1k', 1024],
    ['1KiB', 1024],
    ['1kB', 1000],
    ['500M', 500 * 1024 ** 2],
    ['1.5GiB', 1.5 * 1024 ** 3],
    ['10 MB', 10_000_000],
    ['4.35kB', 4350],
    ['2T', 2 * 1024 ** 4],
    ['1p', 1024 ** 5],
    [' 7m ', 7 * 1024 ** 2],
  ])('reads %j as %d bytes', (text, bytes) => {
    expect(parseSize(text)).toBe(bytes);
  });

  test.each([
    '',
    ' ',
    'M',
    '-1',
    '+1',
    '1,5G',
    '1.5.5G',
    '.5G',
    '5.',
    '1X',
    '1MiBs',
    '0x10',
    '1e3',
    'NaN',
    '1 2',
  ])('refuses %j with a hint', (text) => {
    expect(() => parseSize(text)).toThrow(RequestError);
    expect(() => parseSize(text)).toThrow(
      expect.objectContaining({ hint: expect.stringContaining('1.5GiB') }),
    );
  });

  test('refuses a size that a number cannot count exactly', () => {
    expect(parseSize('7.9P')).toBeLessThan(2 ** 53);
    expect(() => parseSize('8P')).toThrow('too large');
    expect(() => parseSize('9'.repeat(400))).toThrow('too large');
  });
});

describe('formatBytes', () => {
  test.each([
    [0, '0 B'],
    [1, '1 B'],
    [1023, '1023 B'],
    [1024, '1.0 KiB'],
    [1536, '1.5 KiB'],
    [1024 ** 2 - 1, '1.0 MiB'],
    [1024 ** 2 - 60 * 1024, '964.0 KiB'],
    [1.5 * 1024 ** 3, '1.5 GiB'],
    [2 ** 53, '8.0 PiB'],
    [2 ** 72, '4096.0 EiB'],
    [-1536, '-1.5 KiB'],
  ])('shows %d as %s', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });

  test('stays within half of the last digit shown of the size it was given', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 52 }), (bytes) => {
        const shown = formatBytes(bytes);
        const unit = parseSize(shown.replace(/^[\d.]+/, '1'));
        const error = Math.abs(parseSize(shown) - bytes);
        // One byte more, because what is read back is rounded to a whole byte.
        expect(error).toBeLessThanOrEqual(unit === 1 ? 0 : unit / 20 + 1);
      }),
    );
  });
});

describe('parseDuration', () => {
  test.each([
    ['0', 0],
    ['0s', 0],
    ['250ms', 250],
    ['90s', 90_000],
    ['5m', 300_000],
    ['72h', 259_200_000],
    ['3d', 259_200_000],
    ['2w', 1_209_600_000],
    ['1h30m', 5_400_000],
    ['1.5h', 5_400_000],
    ['1w2d3h4m5s6ms', 788_645_006],
    [' 5M ', 300_000],
  ])('reads %j as %d ms', (text, milliseconds) => {
    expect(parseDuration(text)).toBe(milliseconds);
  });

  test.each([
    '',
    '5',
    '-5m',
    'm',
    '5 m',
    '1y',
    '30m1h',
    '1h1h',
    '1h30',
    '1,5h',
    '.5h',
    '1e3s',
    '5mm',
    'forever',
  ])('refuses %j with a hint', (text) => {
    expect(() => parseDuration(text)).toThrow(RequestError);
    expect(() => parseDuration(text)).toThrow(
      expect.objectContaining({ hint: expect.stringContaining('90s') }),
    );
  });

  test('refuses a duration that a number cannot count exactly', () => {
    expect(() => parseDuration('9'.repeat(20) + 'w')).toThrow('too long');
  });
});

describe('formatDuration', () => {
  test.each([
    [0, '0s'],
    [0.4, '0s'],
    [250, '250ms'],
    [999.7, '1s'],
    [1000, '1s'],
    [4230, '4.2s'],
    [59_940, '59.9s'],
    [59_960, '1m'],
    [125_000, '2m5s'],
    [3_599_700, '1h'],
    [5_400_000, '1h30m'],
    [86_399_999, '1d'],
    [273_600_000, '3d4h'],
    [1_209_600_000, '14d'],
    [-90_000, '-1m30s'],
  ])('shows %d ms as %s', (milliseconds, text) => {
    expect(formatDuration(milliseconds)).toBe(text);
  });

  test('is read back as the duration it shows', () => {
    fc.assert(
      fc.property(fc.nat({ max: 400 * 86_400_000 }), (milliseconds) => {
        const shown = formatDuration(milliseconds);
        const again = parseDuration(shown);
        expect(formatDuration(again)).toBe(shown);
        // Half of the smallest unit shown: an hour, of three days and some.
        expect(Math.abs(again - milliseconds)).toBeLessThanOrEqual(Math.max(50, milliseconds / 48));
      }),
    );
  });
});

describe('formatSpan', () => {
  test.each([
    [90_000, '1m30s'],
    [60 * 86_400_000, '60d'],
    [61 * 86_400_000, '2 months'],
    [365 * 86_400_000, '12 months'],
    [1_095 * 86_400_000, '3 years'],
    [7_300 * 86_400_000, '20 years'],
  ])('shows %d ms as %s', (milliseconds, text) => {
    expect(formatSpan(milliseconds)).toBe(text);
  });
});
