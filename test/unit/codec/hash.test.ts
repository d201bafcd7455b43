import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { ChunkHasher, ID_BYTES } from '../../../src/codec/hash.ts';

describe('the ids of chunks', () => {
  const hasher = new ChunkHasher(randomBytes(32));

  test('are the same for the same bytes alone', () => {
    const one = hasher.id(Buffer.from('one'));
    expect(one).toHaveLength(ID_BYTES);
    expect(hasher.id(Buffer.from('one'))).toEqual(one);
    expect(hasher.id(Buffer.from('two'))).not.toEqual(one);
    expect(hasher.matches(Buffer.from('one'), one)).toBe(true);
    expect(hasher.matches(Buffer.from('two'), one)).toBe(false);
  });

  test('stay what they are while others are made', () => {
    const ids = Array.from({ length: 1000 }, (_, i) => hasher.id(Buffer.from(`chunk ${i}`)));
    for (const [i, id] of ids.entries()) expect(hasher.matches(Buffer.from(`chunk ${i}`), id)).toBe(true);
  });

  test('keep little memory alive beside themselves, however few of them are kept', () => {
    const kept = new Set<ArrayBufferLike>();
    for (let i = 0; i < 1000; i += 1) {
      // What happens between two directories: other buffers come from the common pool.
      Buffer.allocUnsafe(1000);
      kept.add(hasher.id(Buffer.from(`chunk ${i}`)).buffer);
    }
    const bytes = [...kept].reduce((sum, { byteLength }) => sum + byteLength, 0);
    expect(bytes).toBeLessThan(1000 * ID_BYTES * 2);
  });
});
