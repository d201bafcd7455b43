import { describe, expect, it } from 'vitest';
import { RepositoryError } from '../../../src/base/errors.ts';
import {
  OBJECT_TYPES,
  contextLength,
  decodeHeader,
  encodeHeader,
  keyTypeOf,
} from '../../../src/format/header.ts';

const header = {
  type: OBJECT_TYPES.dataPack,
  cipher: 1,
  generation: 0xffff_ffff,
  salt: Buffer.alloc(32, 1),
  commitment: Buffer.alloc(32, 2),
  sealedBy: 0,
} as const;

function codeOf(bytes: Buffer): string {
  try {
    decodeHeader(bytes, 'object');
  } catch (error) {
    if (error instanceof RepositoryError) return error.code;
    throw error;
  }
  return 'read';
}

function changed(at: number, value: number, of: Parameters<typeof encodeHeader>[0] = header): Buffer {
  const bytes = encodeHeader(of);
  bytes[at] = value;
  return bytes;
}

describe('a header', () => {
  it('is read as it was written', () => {
    for (const type of Object.values(OBJECT_TYPES))
      expect(decodeHeader(encodeHeader({ ...header, type }), 'o')).toEqual({ ...header, type });
    expect(encodeHeader(header)).toHaveLength(80);
  });

  it('of a later format asks for a newer program; everything else that is odd is damage', () => {
    expect(codeOf(changed(4, 2))).toBe('NEWER_FORMAT');
    expect(codeOf(changed(4, 0))).toBe('CORRUPT_DATA');
    for (const [at, value] of [
      [0, 0],
      [3, 1],
      [5, 0],
      [5, 3],
      [5, 10],
      [6, 2],
      [7, 1],
      [76, 1],
      [79, 1],
    ] as const) {
      expect(codeOf(changed(at, value))).toBe('CORRUPT_DATA');
    }
    expect(codeOf(encodeHeader(header).subarray(0, 79))).toBe('CORRUPT_DATA');
  });

  it('may say plain for packs alone, and then has no commitment', () => {
    const plain = { ...header, cipher: 0, commitment: Buffer.alloc(32) } as const;

    expect(codeOf(encodeHeader(plain))).toBe('read');
    expect(codeOf(encodeHeader({ ...plain, type: OBJECT_TYPES.treePack }))).toBe('read');
    for (const type of Object.values(OBJECT_TYPES))
      if (type > 2) expect(codeOf(encodeHeader({ ...plain, type }))).toBe('CORRUPT_DATA');
    expect(codeOf(changed(60, 1, plain))).toBe('CORRUPT_DATA');
  });

  it('names the write-only key that sealed a pack, snapshot or head; it can have sealed nothing else', () => {
    const { dataPack, treePack, snapshot, head } = OBJECT_TYPES;
    const sealed: readonly number[] = [dataPack, treePack, snapshot, head];
    for (const type of Object.values(OBJECT_TYPES)) {
      const bytes = encodeHeader({ ...header, type, sealedBy: 0x0102_0304 });
      expect([bytes[7], bytes.toString('hex', 76)]).toEqual([1, '01020304']);
      expect(codeOf(bytes)).toBe(sealed.includes(type) ? 'read' : 'CORRUPT_DATA');
      if (sealed.includes(type))
        expect(decodeHeader(bytes, 'o')).toEqual({ ...header, type, sealedBy: 0x0102_0304 });
    }
    const plain = { ...header, cipher: 0, commitment: Buffer.alloc(32), sealedBy: 1 } as const;
    expect(codeOf(encodeHeader(plain))).toBe('CORRUPT_DATA');
    expect(codeOf(changed(7, 0, { ...header, sealedBy: 1 }))).toBe('CORRUPT_DATA');
    expect(codeOf(changed(7, 2, { ...header, sealedBy: 1 }))).toBe('CORRUPT_DATA');
  });

  it('is followed by the context of its type', () => {
    const { dataPack, treePack, index, snapshot, config, head, tombstone, lease } = OBJECT_TYPES;

    expect([dataPack, treePack, index].map((type) => contextLength(type))).toEqual([0, 0, 0]);
    expect([snapshot, head, tombstone].map((type) => contextLength(type))).toEqual([56, 56, 56]);
    expect([config, lease].map((type) => contextLength(type))).toEqual([8, 9]);
    expect(keyTypeOf(dataPack)).toBe(keyTypeOf(treePack));
  });
});
