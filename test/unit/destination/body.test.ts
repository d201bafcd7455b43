import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { collectBody } from '../../../src/destination/body.ts';

const moving = { signal: new AbortController().signal, moved: () => {} };
const pieces = (...lengths: number[]): Readable =>
  Readable.from(lengths.map((length) => Buffer.alloc(length, 1)));

describe('the body of a reply', () => {
  test('is what came when that has the length that was asked for', async () => {
    expect(await collectBody(pieces(3, 4), 7, 'key', moving)).toEqual(Buffer.alloc(7, 1));
    expect(await collectBody(pieces(), 0, 'key', moving)).toHaveLength(0);
  });

  test.each([
    ['cut short', [3, 3]],
    ['empty', []],
    ['longer', [3, 5]],
  ])('is corrupt when it is %s, though the stream ends well', async (_, lengths) => {
    await expect(collectBody(pieces(...lengths), 7, 'key', moving)).rejects.toMatchObject({
      kind: 'corrupt-reply',
      retry: 'now',
    });
  });

  test('is corrupt when it is said to be larger than any object, before memory is taken for it', async () => {
    for (const length of [1024 ** 3 + 1, 2e11, Number.MAX_SAFE_INTEGER]) {
      const stream = pieces(3);
      await expect(collectBody(stream, length, 'key', moving)).rejects.toMatchObject({
        kind: 'corrupt-reply',
        retry: 'now',
      });
      expect(stream.destroyed).toBe(true);
    }
  });
});
