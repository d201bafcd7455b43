/**
 * Sections 3, 5 and 7 of docs/repository-format.md: objects below a directory, their sealed parts, fields of records.
 * Nothing here comes from src/.
 */

import { timingSafeEqual } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import {
  ascii,
  blake3,
  expand,
  gcmOpen,
  hkdf,
  join,
  publicOf,
  sha256,
  u32,
  u64,
  uncbor,
  x25519,
} from './independent-primitives.ts';

/** The secrets of an opened repository. */
export interface Keys {
  readonly repo: Uint8Array;
  readonly idData: Uint8Array;
  readonly idTree: Uint8Array;
  readonly idPlain: Uint8Array;
  readonly adminPublic: Uint8Array;
  readonly generations: ReadonlyMap<number, Uint8Array>;
}

export function need(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(`independent reader: ${what}`);
}

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

// --- the directory as an object store ---

export function read(directory: string, key: string): Buffer {
  return readFileSync(path.join(directory, key));
}

/** The names below a prefix that look as they should. */
export function names(directory: string, prefix: string, pattern: RegExp): string[] {
  try {
    return readdirSync(path.join(directory, prefix)).filter((name) => pattern.test(name));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

// --- sealed objects ---

const KEY_TYPES: Readonly<Record<number, string>> = {
  1: 'pack',
  2: 'pack',
  4: 'index',
  5: 'snap',
  6: 'config',
  7: 'head',
  8: 'tomb',
  9: 'lease',
};
const CONTEXT: Readonly<Record<number, number>> = { 1: 0, 2: 0, 4: 0, 5: 56, 6: 8, 7: 56, 8: 56, 9: 9 };

export interface Header {
  readonly type: number;
  readonly cipher: number;
  readonly generation: number;
  readonly salt: Buffer;
  /** Section 12: number of the write-only key of an object of wrap 1. */
  readonly sealedBy?: number;
}

/** The first 80 bytes of an object, and the key of its parts: none when they are plain. */
export interface ObjectKey {
  readonly header: Buffer;
  readonly key: Buffer | undefined;
}

/** What an object begins with, and its key, from the four values that are not the same for all. */
export function objectKey(facts: Header, keys: Keys): ObjectKey {
  const { type, cipher, generation, salt, sealedBy = 0 } = facts;
  const start = join('HF1\0', 1, type, cipher, sealedBy === 0 ? 0 : 1, u32(generation), salt);
  need(start.length === 44, 'length of a salt');
  if (cipher === 0) return { header: join(start, Buffer.alloc(36)), key: undefined };
  const root = keys.generations.get(generation);
  need(root !== undefined, 'key generation');
  const name = KEY_TYPES[type] ?? '';
  if (sealedBy !== 0) {
    const okm = sealedKeys(root, sealedBy, salt, join(`hf1/sealed/${name}`, keys.repo));
    return { header: join(start, okm.subarray(32), u32(sealedBy)), key: okm.subarray(0, 32) };
  }
  const typeKey = expand(root, ascii(`hf1/key/${name}`), 32);
  const okm = hkdf(typeKey, salt, join(`hf1/obj/${name}`, keys.repo), 64);
  return { header: join(start, okm.subarray(32), u32(0)), key: okm.subarray(0, 32) };
}

/** Section 12.2: ObjKey and ObjCommit. */
export function sealedKeys(root: Uint8Array, sealedBy: number, own: Uint8Array, info: Buffer): Buffer {
  const sealing = expand(root, ascii('hf1/key/seal'), 32);
  const sealer = expand(root, join('hf1/key/sealer', u32(sealedBy)), 32);
  const shared = x25519(sealing, own);
  return hkdf(join(shared, sealer), join(own, publicOf('X25519', sealing)), info, 64);
}

/** Section 12.1. */
export function markOf(repo: Uint8Array, sealedBy: number): { salt: Buffer; writer: Buffer } {
  const mark = sha256(join('hf1/write-only', repo, u32(sealedBy)));
  return { salt: mark.subarray(0, 16), writer: mark.subarray(16, 24) };
}

/** Checks the header of a stored object of one of the types. */
export function openHeader(stored: Buffer, types: readonly number[], keys: Keys): ObjectKey {
  need(stored.length >= 80 && stored.toString('latin1', 0, 4) === 'HF1\0' && stored[4] === 1, 'header');
  const [type, cipher] = [stored.readUInt8(5), stored.readUInt8(6)];
  need(types.includes(type), 'type');
  need(cipher === 1 || (cipher === 0 && (type === 1 || type === 2)), 'cipher');
  const sealedBy = stored.readUInt32BE(76);
  need(sealedBy === 0 || [1, 2, 5, 7].includes(type), 'type of wrap 1');
  const [generation, salt] = [stored.readUInt32BE(8), stored.subarray(12, 44)];
  const header = { type, cipher, generation, salt, sealedBy };
  const expected = objectKey(header, keys);
  need(timingSafeEqual(expected.header, stored.subarray(0, 80)), 'commitment, wrap or reserved bytes');
  return expected;
}

const NO_SEGMENT = Buffer.alloc(9);

export function openPart(
  { key }: ObjectKey,
  prefix: Buffer,
  repo: Uint8Array,
  q: number,
  sealed: Buffer,
  part: Buffer = NO_SEGMENT,
): Buffer {
  const associated = join(prefix, repo, u64(q), part);
  if (key !== undefined) return gcmOpen(key, join(u32(0), u64(q)), associated, sealed);
  const plaintext = sealed.subarray(0, sealed.length - 16);
  need(blake3(associated, plaintext).subarray(0, 16).equals(sealed.subarray(-16)), 'checksum');
  return plaintext;
}

/** An object of one part. */
export function openObject(stored: Buffer, type: number, keys: Keys): { context: Buffer; plaintext: Buffer } {
  const key = openHeader(stored, [type], keys);
  const prefix = stored.subarray(0, 80 + (CONTEXT[type] ?? 0));
  const plaintext = openPart(key, prefix, keys.repo, 0, stored.subarray(prefix.length));
  const sealedBy = stored.readUInt32BE(76);
  if (sealedBy !== 0) {
    const { salt, writer } = markOf(keys.repo, sealedBy);
    need(prefix.subarray(80, 88).equals(writer), 'writer of a write-only key');
    if (type === 5) {
      const record = uncbor(plaintext);
      need(
        record['plain'] === false && hex(bytes(record, 'salt', 16)) === hex(salt),
        'namespace of a write-only key',
      );
    }
  }
  return { context: prefix.subarray(80), plaintext };
}

/** One that is named by its hash. */
export function openNamed(directory: string, prefix: string, name: string, type: number, keys: Keys): Buffer {
  return openNamedObject(directory, prefix, name, type, keys).plaintext;
}

export function openNamedObject(
  directory: string,
  prefix: string,
  name: string,
  type: number,
  keys: Keys,
): { context: Buffer; plaintext: Buffer } {
  const stored = read(directory, `${prefix}/${name}`);
  need(hex(sha256(stored)) === name, `${prefix}/${name} does not have its name's hash`);
  const opened = openObject(stored, type, keys);
  if (type === 5 || type === 8) {
    const seq = opened.context.readBigUInt64BE(16);
    need(seq >= 1n && seq < 2n ** 53n, 'number of a record');
  }
  return opened;
}

// --- fields of records ---

/** A decoded record. */
export type Fields = Record<string, unknown>;

export function fieldsOf(value: unknown): Fields {
  need(typeof value === 'object' && value !== null, 'no map');
  return Object.fromEntries(Object.entries(value));
}

export function bytesOf(value: unknown, length?: number): Uint8Array {
  need(
    value instanceof Uint8Array && (length === undefined || value.length === length),
    'no such byte string',
  );
  return value;
}

export function bytes(map: Fields, field: string, length?: number): Uint8Array {
  return bytesOf(map[field], length);
}

export function integer(map: Fields, field: string): number {
  const value = map[field];
  need(typeof value === 'number', `no number in ${field}`);
  return value;
}

export function list(map: Fields, field: string): readonly unknown[] {
  const value = map[field];
  need(Array.isArray(value), `no list in ${field}`);
  return value;
}
