import { createCipheriv } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { RepositoryError } from '../../../src/base/errors.ts';
import { DIRECTORY_SEQUENCE, ObjectSeal, PADDING_SEQUENCE } from '../../../src/codec/seal.ts';
import {
  CIPHER_GCM,
  OBJECT_TYPES,
  contextLength,
  encodeHeader,
  keyTypeOf,
  type Cipher,
  type ObjectType,
} from '../../../src/format/header.ts';
import { openObject, sealObject } from '../../../src/repository/objects/objects.ts';
import { testKeys, testMaterial, secretBytes } from '../../support/test-keys.ts';
import { ObjectKeys } from '../../../src/codec/keys.ts';

const keys = testKeys();
const plaintext = Buffer.from('forty bytes that nobody else should read');

function refused(open: () => unknown): string {
  try {
    open();
  } catch (error) {
    if (error instanceof RepositoryError) return error.code;
    throw error;
  }
  return 'opened';
}

function* bitFlips(bytes: Buffer): Generator<Buffer> {
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const flipped = Buffer.from(bytes);
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    yield flipped;
  }
}

describe('a sealed object', () => {
  it.each(Object.values(OBJECT_TYPES).filter((type) => type > 2))(
    'of type %i is refused with any single bit of header, context or part flipped',
    (type) => {
      const whole = sealObject(keys, type, Buffer.alloc(contextLength(type), 3), plaintext).bytes;
      const seen = new Set<string>();
      for (const flipped of bitFlips(whole))
        seen.add(refused(() => openObject(keys, type, flipped, 'object')));

      expect(openObject(keys, type, whole, 'object').plaintext.equals(plaintext)).toBe(true);
      expect([...seen].sort()).toEqual(['CORRUPT_DATA', 'NEWER_FORMAT']);
    },
  );

  it('is refused when it is cut short or has bytes more', () => {
    const { bytes } = sealObject(keys, OBJECT_TYPES.lease, Buffer.alloc(9), plaintext);
    const lengths = Array.from({ length: bytes.length }, (_, i) => bytes.subarray(0, i));
    const codes = [...lengths, Buffer.concat([bytes, Buffer.of(0)])].map((cut) =>
      refused(() => openObject(keys, OBJECT_TYPES.lease, cut, 'object')),
    );

    expect(new Set(codes)).toEqual(new Set(['CORRUPT_DATA']));
  });

  it('is refused with a tag of less than 16 bytes, also where there is nothing but the tag', () => {
    const seal = ObjectSeal.create(keys, OBJECT_TYPES.lease, CIPHER_GCM, Buffer.alloc(9));
    const nothing = seal.seal(0, Buffer.alloc(0));
    // Lengths of which GCM would accept the beginning of the right tag.
    const codes = [4, 8, 12, 13, 14, 15].map((length) =>
      refused(() => seal.open(0, nothing.subarray(0, length), 'object')),
    );

    expect(seal.open(0, nothing, 'object')).toHaveLength(0);
    expect(new Set(codes)).toEqual(new Set(['CORRUPT_DATA']));
  });

  it('is refused for its key commitment before it is decrypted, though all of it authenticates', () => {
    const type = OBJECT_TYPES.lease;
    const salt = Buffer.alloc(32, 7);
    const { key, commitment } = keys.objectKey(keyTypeOf(type), keys.generation, salt, 'object');
    const sealedWith = (claimed: Buffer): Buffer => {
      const header = encodeHeader({
        type,
        cipher: CIPHER_GCM,
        generation: keys.generation,
        salt,
        commitment: claimed,
        sealedBy: 0,
      });
      const prefix = Buffer.concat([header, Buffer.alloc(contextLength(type))]);
      const cipher = createCipheriv('aes-256-gcm', key, Buffer.alloc(12), { authTagLength: 16 });
      cipher.setAAD(Buffer.concat([prefix, keys.repository, Buffer.alloc(17)]));
      return Buffer.concat([prefix, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
    };

    expect(openObject(keys, type, sealedWith(commitment), 'object').plaintext.equals(plaintext)).toBe(true);
    expect(() => openObject(keys, type, sealedWith(Buffer.alloc(32)), 'object')).toThrow(
      "object was not sealed with this repository's key",
    );
  });

  it('is refused as an object of another type, of another repository, or under another name', () => {
    const { bytes, name } = sealObject(keys, OBJECT_TYPES.head, Buffer.alloc(56), plaintext);

    expect(refused(() => openObject(keys, OBJECT_TYPES.tombstone, bytes, 'object'))).toBe('CORRUPT_DATA');
    expect(refused(() => openObject(testKeys('another'), OBJECT_TYPES.head, bytes, 'object'))).toBe(
      'CORRUPT_DATA',
    );
    expect(refused(() => openObject(keys, OBJECT_TYPES.head, bytes, 'object', '0'.repeat(64)))).toBe(
      'CORRUPT_DATA',
    );
    expect(refused(() => openObject(keys, OBJECT_TYPES.head, bytes, 'object', name))).toBe('opened');
  });

  it('is refused when its type was changed to one that has the same key', () => {
    const seal = ObjectSeal.create(keys, OBJECT_TYPES.dataPack, 1, Buffer.alloc(0));
    const sealed = seal.seal(0, plaintext);
    const changed = Buffer.from(seal.prefix);
    changed[5] = OBJECT_TYPES.treePack;
    const opener = ObjectSeal.open(keys, changed, 'pack', [OBJECT_TYPES.treePack]);

    expect(refused(() => opener.open(0, sealed, 'pack'))).toBe('CORRUPT_DATA');
  });

  it('opens with an old key generation and says when the generation is not there', () => {
    const { bytes } = sealObject(keys, OBJECT_TYPES.head, Buffer.alloc(56), plaintext);
    const material = testMaterial();
    const second = { g: 2, key: secretBytes('generation 2'), state: 'current' as const };
    const old = material.generations.map((one) => ({ ...one, state: 'old' as const }));
    const later = new ObjectKeys({ ...material, generations: [...old, second] });
    const without = new ObjectKeys({ ...material, generations: [second] });

    expect(later.generation).toBe(2);
    expect(refused(() => openObject(later, OBJECT_TYPES.head, bytes, 'object'))).toBe('opened');
    expect(refused(() => openObject(without, OBJECT_TYPES.head, bytes, 'object'))).toBe('CORRUPT_DATA');
    expect(refused(() => new ObjectKeys({ ...material, generations: old }))).toBe('CORRUPT_DATA');
  });
});

describe.each([
  ['sealed', 1],
  ['plain', 0],
] as const)('the %s parts of a pack', (_, cipher: Cipher) => {
  const type: ObjectType = OBJECT_TYPES.dataPack;
  const segment = { rawLength: 40, compression: 0 };
  const seal = ObjectSeal.create(keys, type, cipher, Buffer.alloc(0));
  const opener = ObjectSeal.open(keys, seal.prefix, 'pack', [type]);

  it('are refused with a bit flipped, in the part or in the header', () => {
    const sealed = seal.seal(7, plaintext, segment);
    const codes = new Set<string>();
    for (const flipped of bitFlips(sealed))
      codes.add(refused(() => opener.open(7, flipped, 'pack', segment)));
    for (const flipped of bitFlips(seal.prefix)) {
      codes.add(
        refused(() => ObjectSeal.open(keys, flipped, 'pack', [1, 2]).open(7, sealed, 'pack', segment)),
      );
    }

    expect([...codes].sort()).toEqual(['CORRUPT_DATA', 'NEWER_FORMAT']);
  });

  it('are refused in the place of each other, or as something else than they are', () => {
    const sealed = seal.seal(7, plaintext, segment);
    const places: [number, typeof segment | undefined][] = [
      [6, segment],
      [8, segment],
      [7, undefined],
      [7, { rawLength: 41, compression: 0 }],
      [7, { rawLength: 40, compression: 1 }],
      [DIRECTORY_SEQUENCE, undefined],
      [PADDING_SEQUENCE, undefined],
    ];

    for (const [q, facts] of places)
      expect(refused(() => opener.open(q, sealed, 'pack', facts))).toBe('CORRUPT_DATA');
    const directory = seal.seal(DIRECTORY_SEQUENCE, plaintext);
    expect(refused(() => opener.open(PADDING_SEQUENCE, directory, 'pack'))).toBe('CORRUPT_DATA');
    expect(refused(() => opener.open(7, sealed, 'pack', segment))).toBe('opened');
  });

  it('are refused in another pack', () => {
    const other = ObjectSeal.create(keys, type, cipher, Buffer.alloc(0));
    const sealed = other.seal(7, plaintext, segment);

    expect(refused(() => opener.open(7, sealed, 'pack', segment))).toBe('CORRUPT_DATA');
  });

  it('open with what an index object says of the pack, and not when it says something else', () => {
    const sealed = seal.seal(7, plaintext, segment);
    const indexed = ObjectSeal.ofPack(keys, seal.header);
    const wrong = ObjectSeal.ofPack(keys, { ...seal.header, salt: secretBytes('another salt') });

    expect(indexed.open(7, sealed, 'pack', segment).equals(plaintext)).toBe(true);
    expect(refused(() => wrong.open(7, sealed, 'pack', segment))).toBe('CORRUPT_DATA');
    expect(refused(() => opener.open(7, sealed.subarray(0, 15), 'pack', segment))).toBe('CORRUPT_DATA');
  });
});
