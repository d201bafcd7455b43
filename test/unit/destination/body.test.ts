import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { describe, expect, test } from 'vitest';
import { bodyStream, collectBody } from '../../../src/destination/body.ts';

const moving = { signal: new AbortController().signal, moved: () => {}, held: () => {} };
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

describe('a body on its way', () => {
  test('tells of every 96 KiB that the line has taken, and at last that the system may hold all of it', async () => {
    let [taken, untold, most] = [0, 0, 0];
    const told: number[] = [];
    const take = (bytes: number, done: () => void): void => {
      taken += bytes;
      untold += bytes;
      most = Math.max(most, untold);
      setImmediate(done);
    };
    // As a socket of Node: what waits is handed over together.
    const line = new Writable({
      highWaterMark: 64 * 1024,
      write: (chunk: Buffer, _, done) => take(chunk.length, done),
      writev: (chunks, done) =>
        take(
          chunks.reduce((sum, { chunk }) => sum + (chunk as Buffer).length, 0),
          done,
        ),
    });
    const body = Buffer.alloc(4 * 1024 * 1024, 7);
    const held = (bytes: number): void => {
      told.push(bytes);
      untold = 0;
    };
    await pipeline(bodyStream(body, 'key', undefined, { ...moving, held }), line);
    expect(taken).toBe(body.length);
    expect(most).toBeLessThanOrEqual(96 * 1024);
    expect(told.at(-1)).toBe(body.length);
    expect(told.at(-2)).toBeLessThan(body.length / 2);
  });
});
