import { constants, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { RepositoryError, RequestError } from '../../../src/base/errors.ts';
import { SegmentCompressor, SegmentDecompressor, parseCompression } from '../../../src/codec/compress.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const dull = Buffer.alloc(100_000, 'over and over again ');
const random = seededRandom(3);

function decompressed(compressed: Buffer, length: number): Buffer {
  const target = Buffer.alloc(length);
  new SegmentDecompressor().decompressInto(target, compressed);
  return target;
}

describe('compression', () => {
  it('is named by a person', () => {
    expect(parseCompression('zstd')).toEqual({ kind: 'zstd', level: 3 });
    expect(parseCompression('zstd:19')).toEqual({ kind: 'zstd', level: 19 });
    expect([parseCompression('none'), parseCompression('auto')]).toEqual([
      { kind: 'none' },
      { kind: 'auto' },
    ]);
    for (const other of ['', 'gzip', 'zstd:', 'zstd:0', 'zstd:20', 'zstd:3 ', 'ZSTD'])
      expect(() => parseCompression(other)).toThrow(RequestError);
  });

  it('is undone, at every level, for segments larger than was expected too', () => {
    for (const level of [1, 3, 10, 19]) {
      const compressed = new SegmentCompressor({ kind: 'zstd', level }, 1_000).compress(dull);
      expect(compressed?.length).toBeLessThan(1_000);
      expect(decompressed(compressed ?? dull, dull.length).equals(dull)).toBe(true);
    }
  });

  it('is left out where it saves less than one byte in 32', () => {
    const compressor = new SegmentCompressor({ kind: 'zstd', level: 3 }, 100_000);
    const hardly = Buffer.concat([random.bytes(98_000), Buffer.alloc(2_000)]);

    expect(compressor.compress(random.bytes(50_000))).toBeUndefined();
    expect(compressor.compress(hardly)).toBeUndefined();
    expect(compressor.compress(Buffer.alloc(0))).toBeUndefined();
    expect(compressor.compress(dull)).toBeDefined();
    expect(new SegmentCompressor({ kind: 'none' }, 100_000).compress(dull)).toBeUndefined();
  });

  it('of kind auto rests after four segments that did not shrink', () => {
    const compressor = new SegmentCompressor({ kind: 'auto' }, 100_000);
    for (let i = 0; i < 4; i += 1) compressor.compress(random.bytes(10_000));
    const rest = Array.from({ length: 33 }, () => compressor.compress(dull) !== undefined);

    expect(rest.slice(0, 32)).toEqual(Array.from({ length: 32 }, () => false));
    expect(rest[32]).toBe(true);
  });

  it('is damage when it gives fewer or more bytes than were recorded, or none', () => {
    const compressed = Buffer.from(
      new SegmentCompressor({ kind: 'zstd', level: 3 }, 1_000).compress(dull) ?? [],
    );

    for (const length of [0, 1, dull.length - 1, dull.length + 1])
      expect(() => decompressed(compressed, length)).toThrow(RepositoryError);
    // Without its length in the header, only what comes out tells.
    const untold = zstdCompressSync(dull, { params: { [constants.ZSTD_c_contentSizeFlag]: 0 } });
    expect(decompressed(untold, dull.length).equals(dull)).toBe(true);
    for (const length of [dull.length - 1, dull.length + 1])
      expect(() => decompressed(untold, length)).toThrow(RepositoryError);
    for (const cut of [Buffer.alloc(0), compressed.subarray(0, -1), compressed.subarray(1)])
      expect(() => decompressed(cut, dull.length)).toThrow(RepositoryError);
  });
});
