import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createCursors } from '../../../src/api/wire/cursor.ts';

const key = randomBytes(32);
const cursors = createCursors(key);

describe('a cursor', () => {
  test('gives back its position for the same list and filters, in any order, also after a restart', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (position, source) => {
        const cursor = cursors.seal('/files', { source, limit: 5, none: undefined }, position);
        expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/);
        expect(createCursors(key).open('/files', { limit: 5, source }, cursor)).toBe(position);
      }),
    );
    expect(cursors.open('/files', {}, undefined)).toBeUndefined();
  });

  test('is refused for another list, another filter, another key, and when one character differs', () => {
    const filters = { source: '/x', status: 'queued' };
    const cursor = cursors.seal('/backup', filters, 'bkp_1');
    const refused = expect.objectContaining({ code: 'INVALID_CURSOR', statusCode: 400 });
    const attempts: (() => unknown)[] = [
      () => cursors.open('/restore', filters, cursor),
      () => cursors.open('/backup', { ...filters, source: '/y' }, cursor),
      () => cursors.open('/backup', { source: '/x' }, cursor),
      () => createCursors(randomBytes(32)).open('/backup', filters, cursor),
      ...cursor.split('').map((letter, index) => () => {
        const other = letter === 'A' ? 'B' : 'A';
        return cursors.open('/backup', filters, cursor.slice(0, index) + other + cursor.slice(index + 1));
      }),
      ...['', 'A', `${cursor}=`, `${cursor} `, ` ${cursor}`].map(
        (text) => () => cursors.open('/backup', filters, text),
      ),
    ];
    for (const attempt of attempts) expect(attempt).toThrow(refused);
  });
});
