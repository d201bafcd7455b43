import { describe, expect, test } from 'vitest';
import { momentOf } from '../../../src/jobs/agent.ts';
import {
  parseTime,
  readEitherPath,
  readPath,
  readPathB64,
  readSnapshot,
  readWait,
} from '../../../src/api/routes/request-values.ts';

const invalid = expect.objectContaining({ code: 'INVALID_REQUEST' });

describe('a path', () => {
  test('is its bytes in UTF-8', () => {
    expect(readPath('path', '/é')).toBe('/\xc3\xa9');
  });

  test('may have 4,096 bytes, whatever its characters', () => {
    expect(readPath('path', 'é'.repeat(2048))).toHaveLength(4096);
    expect(() => readPath('path', `${'é'.repeat(2048)}a`)).toThrow(invalid);
  });

  test('holds no NUL', () => {
    expect(() => readPath('path', '/a\0')).toThrow(invalid);
    expect(() => readPathB64('path_b64', 'AA==')).toThrow(invalid);
  });

  test.each(['/w==', '/w', '_w', '_w=='])('may come as %s', (text) => {
    expect(readPathB64('path_b64', text)).toBe('\xff');
  });

  test.each(['/', '%', 'a b', '/w==x', '/x=='])('does not come as %s', (text) => {
    expect(() => readPathB64('path_b64', text)).toThrow(invalid);
  });

  test('comes in one of two forms', () => {
    expect(readEitherPath({ path: '/a' })).toBe('/a');
    expect(readEitherPath({ path_b64: 'L2E=' })).toBe('/a');
    expect(readEitherPath({})).toBeUndefined();
    expect(() => readEitherPath({ path: '/a', path_b64: 'L2E=' })).toThrow(invalid);
  });
});

describe('a time', () => {
  test.each([
    ['1970-01-01T00:00:01Z', 1_000],
    ['1970-01-01T00:00:01.5Z', 1_500],
    ['1970-01-01t00:00:01z', 1_000],
    ['1970-01-01 00:00:01Z', 1_000],
    ['1970-01-01T01:00:01+01:00', 1_000],
    ['1969-12-31T19:00:01-05:00', 1_000],
    ['1972-02-29T00:00:00Z', 68_169_600_000],
  ])('%s is %d', (text, ms) => {
    expect(parseTime(text)).toBe(ms);
  });

  test.each([
    '',
    '0',
    '1970-01-01',
    '1970-01-01T00:00:01',
    '1970-01-01T00:00Z',
    '1970-13-01T00:00:00Z',
    '1970-00-01T00:00:00Z',
    '1970-02-29T00:00:00Z',
    '1970-01-01T24:00:00Z',
    '1970-01-01T00:60:00Z',
    '1970-01-01T00:00:60Z',
    '1970-01-01T00:00:00+24:00',
    '1970-01-01T00:00:00+0100',
    '1970-01-01T00:00:00 01:00',
  ])('%j is none', (text) => {
    expect(parseTime(text)).toBeUndefined();
  });
});

test('a snapshot is named by a word, an id or a time', () => {
  expect(readSnapshot('latest')).toBe('latest');
  expect(readSnapshot('2020abcd')).toBe('2020abcd');
  expect(readSnapshot('1970-01-01T00:00:01Z')).toBe(momentOf(1000));
  expect(() => readSnapshot('1970-01-01')).toThrow(invalid);
});

test.each([
  [undefined, undefined],
  ['wait=5', 5],
  ['WAIT = 5', 5],
  ['wait="5"', 5],
  ['respond-async, wait=5', 5],
  ['wait=5;x=1', 5],
  ['wait=100', 60],
  ['wait=0', 0],
  ['wait=-1', undefined],
  ['wait', undefined],
  ['await=5', undefined],
])('a preference of %j waits %j seconds', (header, seconds) => {
  expect(readWait(header, 60)).toBe(seconds);
});
