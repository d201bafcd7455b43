import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createCursors } from '../../../src/api/wire/cursor.ts';
import { openPosition, sealPosition } from '../../../src/api/routes/snapshot-routes.ts';

const cursors = createCursors(Buffer.alloc(32, 1));

test('a cursor of snapshots gives back the place in the list, whatever is there', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -8.64e15, max: 8.64e15 }),
      fc.stringMatching(/^[0-9a-f]{64}$/),
      (at, id) => {
        const position = { created_at: at, id };
        const cursor = sealPosition(cursors, '/snapshots', { source: '/a' }, position);
        expect(openPosition(cursors, '/snapshots', { source: '/a' }, cursor)).toEqual(position);
      },
    ),
  );
  expect(openPosition(cursors, '/snapshots', {}, undefined)).toBeUndefined();
});

test('one that holds no place, as earlier versions made them, is refused', () => {
  const cursor = cursors.seal('/snapshots', {}, 'f'.repeat(64));
  expect(() => openPosition(cursors, '/snapshots', {}, cursor)).toThrow(
    expect.objectContaining({ code: 'INVALID_CURSOR', statusCode: 400 }),
  );
});
