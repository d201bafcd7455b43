import { argon2Sync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { agree, generateKeys, signEd25519, verifyEd25519 } from '../../../src/codec/curves.ts';
import { ChunkHasher, plainChecksum } from '../../../src/codec/hash.ts';
import { argon2id, expand, hkdf } from '../../../src/codec/kdf.ts';
import { ObjectKeys } from '../../../src/codec/keys.ts';
import { testKeys, secretBytes } from '../../support/test-keys.ts';

describe('the keys of chunk ids', () => {
  const keys = testKeys();
  const salt = secretBytes('salt', 16);

  it('are other ones for data and trees, plain and sealed, with each salt and without', () => {
    const all = (['data', 'tree'] as const).flatMap((of) =>
      [true, false].flatMap((plain) =>
        [undefined, salt, secretBytes('another salt', 16)].map((one) => keys.idKey(of, { plain, salt: one })),
      ),
    );

    expect(new Set(all.map((key) => key.toString('hex'))).size).toBe(12);
  });
});

describe('generations that are taken over', () => {
  it('give the keys of what write-only keys sealed, and no older ones stay behind', () => {
    const facts = { generation: 1, sealedBy: 1, salt: generateKeys('x25519').public };
    const before = testKeys();
    const { material } = before;
    const old = before.sealedObjectKey('pack', facts, 'o');
    const generations = [{ g: 1, key: secretBytes('another root', 32), state: 'current' as const }];
    before.adopt(generations);
    const now = before.sealedObjectKey('pack', facts, 'o');

    expect(now).toEqual(new ObjectKeys({ ...material, generations }).sealedObjectKey('pack', facts, 'o'));
    expect(now.key).not.toEqual(old.key);
  });
});

describe('fresh salts', () => {
  it('are never the same, whoever makes them', () => {
    const [one, other] = [testKeys(), testKeys()];
    const salts = Array.from({ length: 2_000 }, (_, i) =>
      (i % 2 === 0 ? one : other).freshSalt().toString('hex'),
    );

    expect(new Set(salts).size).toBe(2_000);
    expect(salts[0]).toHaveLength(64);
  });
});

describe('derivations', () => {
  // RFC 5869, test case 1.
  const [ikm, salt] = [Buffer.alloc(22, 0x0b), Buffer.from('000102030405060708090a0b0c', 'hex')];
  const info = Buffer.from('f0f1f2f3f4f5f6f7f8f9', 'hex');
  const okm = '3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865';

  it('are those of RFC 5869', () => {
    const prk = Buffer.from('077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5', 'hex');

    expect(hkdf(ikm, salt, info, 42).toString('hex')).toBe(okm);
    expect(expand(prk, info, 42).toString('hex')).toBe(okm);
    expect(expand(prk, info, 0)).toHaveLength(0);
  });

  it('of passphrases are the same in both implementations of Argon2id', async () => {
    for (const [m, t, p] of [
      [8, 1, 1],
      [64, 3, 4],
      [1_021, 2, 3],
    ] as const) {
      const password = secretBytes(`password ${m}`, 1 + (m % 32));
      const ours = await argon2id(password, secretBytes('salt'), { m, t, p });
      const other = argon2Sync('argon2id', {
        message: password,
        nonce: secretBytes('salt'),
        parallelism: p,
        tagLength: 32,
        memory: m,
        passes: t,
      });
      expect(other.toString('hex')).toBe(ours.toString('hex'));
    }
  });
});

describe('curves', () => {
  it('agree on a secret, each side with its own private key', () => {
    const [a, b] = [generateKeys('x25519'), generateKeys('x25519')];

    expect(agree(a.private, b.public)).toEqual(agree(b.private, a.public));
    expect([a.private.length, a.public.length]).toEqual([32, 32]);
  });

  it('verify a signature over what was signed and nothing else', () => {
    const { private: seed, public: key } = generateKeys('ed25519');
    const message = Buffer.from('message');
    const signature = signEd25519(seed, message);

    expect(verifyEd25519(key, message, signature)).toBe(true);
    expect(verifyEd25519(key, Buffer.from('massage'), signature)).toBe(false);
    expect(verifyEd25519(generateKeys('ed25519').public, message, signature)).toBe(false);
    expect(verifyEd25519(key, message, Buffer.alloc(64))).toBe(false);
    expect(verifyEd25519(Buffer.alloc(32, 0xff), message, signature)).toBe(false);
  });
});

describe('hashes', () => {
  it('name a chunk by its bytes and the key, however often the hasher was used', () => {
    const hasher = new ChunkHasher(secretBytes('key'));
    const [a, b] = [hasher.id(Buffer.from('a')), hasher.id(Buffer.from('b'))];

    expect(hasher.id(Buffer.from('a'))).toEqual(a);
    expect(new ChunkHasher(secretBytes('another key')).id(Buffer.from('a'))).not.toEqual(a);
    expect(a).toHaveLength(24);
    expect([hasher.matches(Buffer.from('a'), a), hasher.matches(Buffer.from('a'), b)]).toEqual([true, false]);
  });

  it('of plain parts cover both what is stored and where', () => {
    const checksum = plainChecksum(Buffer.from('ab'), Buffer.from('c'));

    expect(checksum).toHaveLength(16);
    expect(plainChecksum(Buffer.from('ab'), Buffer.from('d'))).not.toEqual(checksum);
    expect(plainChecksum(Buffer.from('xb'), Buffer.from('c'))).not.toEqual(checksum);
  });
});
