/**
 * Keys with which a write-only key seals (docs/repository-format.md, section 12): to a public key of the repository, so
 * that it cannot open what it stored, and with a secret of its own, so that nobody else can store in its name.
 */
import { createHash } from 'node:crypto';
import type { KeyType } from '../format/header.ts';
import { publicKeyOf, type RawKeyPair } from './curves.ts';
import { expand, hkdf } from './kdf.ts';

/** Types of objects that a write-only key seals; for the others it has the type's key, or none. */
export type SealedType = Extract<KeyType, 'pack' | 'snap' | 'head'>;

/** The key pair to which objects of one key generation are sealed. */
export function sealingPair(rootKey: Uint8Array): RawKeyPair {
  const own = expand(rootKey, 'hf1/key/seal', 32);
  return { private: own, public: publicKeyOf('x25519', own) };
}

/** The secret that distinguishes objects of write-only key `n` from those of others who know the public key. */
export function sealerKey(rootKey: Uint8Array, n: number): Buffer {
  return expand(rootKey, Buffer.concat([Buffer.from('hf1/key/sealer', 'latin1'), u32(n)]), 32);
}

/** Values that mark everything a write-only key stores, so that it cannot pose as another writer and shares no chunk ids. */
export interface WriteOnlyMark {
  /** The salt of its snapshots, 16 bytes. */
  readonly salt: Buffer;
  /** The first 8 bytes of its writer ids. */
  readonly writer: Buffer;
}

export function writeOnlyMark(repository: Uint8Array, n: number): WriteOnlyMark {
  const mark = createHash('sha256').update('hf1/write-only').update(repository).update(u32(n)).digest();
  return { salt: mark.subarray(0, 16), writer: mark.subarray(16, 24) };
}

/** Key and commitment of a sealed object. */
export function sealedObjectKey(facts: {
  /** X25519 of the object's own key and the sealing key. */
  readonly shared: Uint8Array;
  readonly sealer: Uint8Array;
  /** Public key of the object, the salt of its header. */
  readonly own: Uint8Array;
  readonly sealing: Uint8Array;
  readonly type: SealedType;
  readonly repository: Uint8Array;
}): { key: Buffer; commitment: Buffer } {
  const okm = hkdf(
    Buffer.concat([facts.shared, facts.sealer]),
    Buffer.concat([facts.own, facts.sealing]),
    Buffer.concat([Buffer.from(`hf1/sealed/${facts.type}`, 'latin1'), facts.repository]),
    64,
  );
  return { key: okm.subarray(0, 32), commitment: okm.subarray(32) };
}

export function isSealedType(type: KeyType): type is SealedType {
  return type === 'pack' || type === 'snap' || type === 'head';
}

function u32(n: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(n);
  return bytes;
}
