import { describe, expect, test } from 'vitest';
import { conditionalRange, conditionOutcome } from '../../../../src/api/webdav/reply.ts';

const TIME = 'Thu, 01 Jan 1970 00:00:01 GMT';
const fixed = { etag: '"e"', modifiedMs: 1_500 };
const changing = { etag: '"e"', modifiedMs: undefined };

describe('a file', () => {
  test('is not sent again to who has it', () => {
    for (const known of ['"e"', 'W/"e"', '"d", "e"', '*'])
      expect(conditionOutcome({ 'if-none-match': known }, fixed), known).toBe(304);
    expect(conditionOutcome({ 'if-none-match': '"d"' }, fixed)).toBeUndefined();
    expect(conditionOutcome({ 'if-modified-since': TIME }, fixed)).toBe(304);
  });

  test('is sent when only its time is known, and it may be another of the same time', () => {
    expect(conditionOutcome({ 'if-modified-since': TIME }, changing)).toBeUndefined();
    const later = 'Thu, 01 Jan 1970 00:00:02 GMT';
    expect(conditionOutcome({ 'if-modified-since': later }, fixed)).toBeUndefined();
    expect(conditionOutcome({ 'if-modified-since': TIME, 'if-none-match': '"d"' }, fixed)).toBeUndefined();
  });

  test('is not sent in the place of another', () => {
    expect(conditionOutcome({ 'if-match': '"d"' }, fixed)).toBe(412);
    expect(conditionOutcome({ 'if-match': '"e"' }, fixed)).toBeUndefined();
  });

  test('is sent in part to who has the other part of it, and else whole', () => {
    const range = 'bytes=2-';
    const rest = { start: 2, end: 9 };
    expect(conditionalRange({ range }, 9, fixed)).toEqual(rest);
    expect(conditionalRange({ range, 'if-range': '"e"' }, 9, fixed)).toEqual(rest);
    expect(conditionalRange({ range, 'if-range': TIME }, 9, fixed)).toEqual(rest);
    expect(conditionalRange({ range, 'if-range': TIME }, 9, changing)).toBeUndefined();
    for (const other of ['"d"', 'W/"e"', 'x', '']) {
      expect(conditionalRange({ range, 'if-range': other }, 9, fixed), other).toBeUndefined();
    }
    expect(conditionalRange({ range: 'bytes=9-' }, 9, fixed)).toBe('unsatisfiable');
  });
});
