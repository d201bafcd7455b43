/**
 * The building blocks of docs/repository-format.md, section 2, straight on node:crypto, BLAKE3 and CBOR: for the reader
 * and the writer that know the format from that page alone. Nothing here comes from src/.
 */

import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  hkdfSync,
  type KeyObject,
} from 'node:crypto';
import { Blake3Hasher } from '@napi-rs/blake-hash';
import { decode, encode, rfc8949EncodeOptions } from 'cborg';

export const ascii = (text: string): Buffer => Buffer.from(text, 'latin1');

/** Text is latin1, numbers are u8. */
export type Part = Uint8Array | string | number;

/** Parts one after the other. */
export function join(...parts: readonly Part[]): Buffer {
  return Buffer.concat(
    parts.map((part) =>
      typeof part === 'string' ? ascii(part) : typeof part === 'number' ? Buffer.of(part) : part,
    ),
  );
}

export function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

export function u24(value: number): Buffer {
  const bytes = Buffer.alloc(3);
  bytes.writeUIntBE(value, 0, 3);
  return bytes;
}

export function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}

export function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}

export function hmac(key: Uint8Array, ...parts: readonly Uint8Array[]): Buffer {
  return createHmac('sha256', key).update(Buffer.concat(parts)).digest();
}

export function hkdf(ikm: Uint8Array, salt: Uint8Array, info: Uint8Array, length: number): Buffer {
  return Buffer.from(hkdfSync('sha256', ikm, salt, info, length));
}

/** HKDF-Expand alone (RFC 5869, 2.3). */
export function expand(prk: Uint8Array, info: Uint8Array, length: number): Buffer {
  const blocks: Buffer[] = [];
  for (let i = 1; blocks.length * 32 < length; i += 1)
    blocks.push(hmac(prk, blocks.at(-1) ?? Buffer.alloc(0), info, Buffer.of(i)));
  return Buffer.concat(blocks).subarray(0, length);
}

export function blake3(...parts: readonly Uint8Array[]): Buffer {
  return new Blake3Hasher().update(Buffer.concat(parts)).digestBuffer();
}

export function blake3Keyed(key: Uint8Array, bytes: Uint8Array): Buffer {
  return Blake3Hasher.newKeyed(Buffer.from(key)).update(Buffer.from(bytes)).digestBuffer();
}

export function gcmSeal(key: Uint8Array, nonce: Uint8Array, aad: Uint8Array, plaintext: Uint8Array): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: 16 });
  cipher.setAAD(aad);
  return Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
}

/** Throws when a bit differs. */
export function gcmOpen(key: Uint8Array, nonce: Uint8Array, aad: Uint8Array, sealed: Uint8Array): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: 16 });
  decipher.setAAD(aad);
  decipher.setAuthTag(sealed.subarray(sealed.length - 16));
  return Buffer.concat([decipher.update(sealed.subarray(0, sealed.length - 16)), decipher.final()]);
}

/** node:crypto takes no raw keys: public ones go in as JSON Web Keys, private ones in DER (RFC 8410). */
export function rawKey(curve: 'X25519' | 'Ed25519', half: 'private' | 'public', raw: Uint8Array): KeyObject {
  const prefix = curve === 'X25519' ? '6e' : '70';
  if (half === 'public') {
    const jwk = { kty: 'OKP', crv: curve, x: Buffer.from(raw).toString('base64url') };
    return createPublicKey({ key: jwk, format: 'jwk' });
  }
  const der = Buffer.concat([Buffer.from(`302e020100300506032b65${prefix}04220420`, 'hex'), raw]);
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
}

export function publicOf(curve: 'X25519' | 'Ed25519', rawPrivate: Uint8Array): Buffer {
  const { x } = createPublicKey(rawKey(curve, 'private', rawPrivate)).export({ format: 'jwk' });
  return Buffer.from(x ?? '', 'base64url');
}

export function x25519(rawPrivate: Uint8Array, rawPublic: Uint8Array): Buffer {
  return diffieHellman({
    privateKey: rawKey('X25519', 'private', rawPrivate),
    publicKey: rawKey('X25519', 'public', rawPublic),
  });
}

export function cbor(value: unknown): Buffer {
  return Buffer.from(encode(value, rfc8949EncodeOptions));
}

/** A map in the one form it may have. Byte strings come out as Uint8Array. */
export function uncbor(bytes: Uint8Array): Record<string, unknown> {
  const value: unknown = decode(bytes, {
    strict: true,
    allowIndefinite: false,
    rejectDuplicateMapKeys: true,
  });
  if (typeof value !== 'object' || value === null || !cbor(value).equals(bytes))
    throw new Error('this is not a map in deterministic CBOR');
  return Object.fromEntries(Object.entries(value));
}

export function without(map: Record<string, unknown>, field: string): Buffer {
  return cbor(Object.fromEntries(Object.entries(map).filter(([name]) => name !== field)));
}
