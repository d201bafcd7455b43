/** Every encryption of a repository, watched where it happens: no key and nonce twice, even when random numbers repeat. */

import type * as Crypto from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ChunkHasher } from '../../src/codec/hash.ts';
import { DIRECTORY_SEQUENCE, ObjectSeal, PADDING_SEQUENCE } from '../../src/codec/seal.ts';
import { sealObject } from '../../src/repository/objects/objects.ts';
import { PackWriter } from '../../src/repository/packs/pack-writer.ts';
import { testKeys } from '../support/test-keys.ts';

const audit = vi.hoisted(() => ({ seals: 0, pairs: new Set<string>(), sameRandom: false, asked: 0 }));

vi.mock('node:crypto', async (importOriginal) => {
  const crypto = await importOriginal<typeof Crypto>();
  const rawKeys = new WeakMap<KeyObject, string>();
  return {
    ...crypto,
    randomBytes: (length: number): Buffer => {
      audit.asked += 1;
      return audit.sameRandom ? Buffer.alloc(length, 7) : crypto.randomBytes(length);
    },
    createCipheriv: (
      algorithm: 'aes-256-gcm',
      key: KeyObject,
      nonce: Buffer,
      options: Crypto.CipherGCMOptions,
    ) => {
      const raw = rawKeys.get(key) ?? key.export().toString('latin1');
      rawKeys.set(key, raw);
      audit.seals += 1;
      audit.pairs.add(raw + nonce.toString('latin1'));
      return crypto.createCipheriv(algorithm, key, nonce, options);
    },
  };
});

afterEach(() => {
  audit.sameRandom = false;
  audit.seals = 0;
  audit.pairs.clear();
  audit.asked = 0;
});

const plaintext = Buffer.from('x');

/** Objects of every type and with many parts, by several holders of the same keys. */
function sealMuch(objects: number): void {
  for (let i = 0; i < objects; i += 1) {
    const keys = testKeys();
    const seal = ObjectSeal.create(keys, 1, 1, Buffer.alloc(0));
    for (let q = 0; q < 94; q += 1) seal.seal(q, plaintext, { rawLength: 1, compression: 0 });
    seal.seal(PADDING_SEQUENCE, plaintext);
    seal.seal(DIRECTORY_SEQUENCE, plaintext);
    for (const [type, length] of [
      [4, 0],
      [5, 56],
      [6, 8],
      [7, 56],
      [8, 56],
      [9, 9],
    ] as const) {
      sealObject(keys, type, Buffer.alloc(length), plaintext);
    }
  }
}

describe('100,000 seals', () => {
  it.each([
    [100, false],
    [1_000, true],
  ])(
    '(of %i holders of the keys) use no key and nonce twice (all random numbers the same: %s)',
    (holders, sameRandom) => {
      audit.sameRandom = sameRandom;
      sealMuch(holders);

      expect(audit.seals).toBe(holders * 102);
      expect(audit.pairs.size).toBe(audit.seals);
      expect(audit.asked).toBeGreaterThanOrEqual(holders);
    },
  );
});

describe('a pack writer', () => {
  it.each([false, true])(
    'seals each part of its packs once (random numbers always the same: %s)',
    (sameRandom) => {
      audit.sameRandom = sameRandom;
      const keys = testKeys();
      const idKey = keys.idKey('data', { plain: false });
      const hasher = new ChunkHasher(idKey);
      let packs = 0;
      for (let session = 0; session < 2; session += 1) {
        const writer = new PackWriter({
          keys,
          kind: 'data',
          cipher: 1,
          idKey,
          packTarget: 65_536,
          segmentTarget: 1_000,
          compression: { kind: 'zstd', level: 1 },
          take: (capacity) => Buffer.alloc(capacity),
          emit: () => {
            packs += 1;
          },
        });
        for (let i = 0; i < 3_000; i += 1) {
          const chunk = Buffer.alloc(300, `${session} ${i}`);
          writer.append(hasher.id(chunk), chunk);
        }
        writer.finish();
      }

      expect(packs).toBeGreaterThan(1);
      expect(audit.seals).toBeGreaterThan(2_000);
      expect(audit.pairs.size).toBe(audit.seals);
    },
  );
});
