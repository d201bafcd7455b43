import { corrupt, newerFormat } from '../base/errors.ts';
import { CIPHER_GCM, type Cipher } from './header.ts';
import { decodeDirectoryBody, encodeDirectoryBody, type PackDirectory } from './pack.ts';

export const MAX_INDEX_BYTES = 64 * 1024 * 1024;
const NAME = 32;
const PACK_FIXED = NAME + 48;
/** Value of the cipher byte for a pack that a write-only key sealed; the key's number then follows the salt. */
const SEALED = 2;
const SEALED_BY = 4;

export interface IndexedPack {
  /** SHA-256 of the pack, lower-case hex. */
  readonly name: string;
  readonly cipher: Cipher;
  /** Key generation and salt of the pack's header, so that its segments can be opened without reading it. */
  readonly generation: number;
  readonly salt: Buffer;
  /** Number of the write-only key that sealed the pack, or 0. */
  readonly sealedBy: number;
  readonly directory: PackDirectory;
}

export interface IndexObject {
  /** Names of index objects that this one replaces. */
  readonly supersedes: readonly string[];
  readonly packs: readonly IndexedPack[];
}

/** Encodes a pack's entry of an index object; a worker hands it over together with the finished pack. */
export function encodeIndexedPack(pack: IndexedPack): Buffer {
  const { directory } = pack;
  const sealed = pack.sealedBy !== 0;
  const fixed = Buffer.alloc(PACK_FIXED + (sealed ? SEALED_BY : 0));
  fixed.write(pack.name, 0, 'hex');
  fixed[NAME] = directory.kind === 'data' ? 1 : 2;
  fixed[NAME + 1] = sealed ? SEALED : pack.cipher;
  fixed.writeUInt16BE(directory.segments.length, NAME + 2);
  fixed.writeUInt32BE(directory.lengths.length, NAME + 4);
  fixed.writeUInt32BE(directory.packLength, NAME + 8);
  fixed.writeUInt32BE(pack.generation, NAME + 12);
  pack.salt.copy(fixed, NAME + 16);
  if (sealed) fixed.writeUInt32BE(pack.sealedBy, PACK_FIXED);
  return Buffer.concat([fixed, encodeDirectoryBody(directory, 16)]);
}

/** Kind and short chunk ids of an encoded pack. */
export function indexedIds(entry: Uint8Array): { kind: 'data' | 'tree'; ids: Buffer } {
  const bytes = Buffer.from(entry.buffer, entry.byteOffset, entry.byteLength);
  const length = bytes.readUInt32BE(NAME + 4) * 16;
  return {
    kind: bytes[NAME] === 1 ? 'data' : 'tree',
    ids: Buffer.from(bytes.subarray(bytes.length - length)),
  };
}

/** The plaintext of an index object made of encoded packs. */
export function encodeIndexObject(
  supersedes: readonly string[],
  encodedPacks: readonly Uint8Array[],
): Buffer {
  const head = Buffer.alloc(8 + supersedes.length * NAME + 4);
  head[0] = 1;
  head.writeUInt32BE(supersedes.length, 4);
  let at = 8;
  for (const name of supersedes) at += head.write(name, at, 'hex');
  head.writeUInt32BE(encodedPacks.length, at);
  return Buffer.concat([head, ...encodedPacks]);
}

/** @throws {RepositoryError} CORRUPT_DATA */
export function decodeIndexObject(bytes: Buffer, object: string): IndexObject {
  const version = bytes[0] ?? 0;
  if (version > 1) throw newerFormat(object);
  if (bytes.length < 12 || version < 1 || bytes.readUIntBE(1, 3) !== 0)
    throw corrupt(object, 'its content has an unknown version');
  const supersededCount = bytes.readUInt32BE(4);
  let at = 8;
  if (at + supersededCount * NAME + 4 > bytes.length) throw corrupt(object, 'its content is cut short');
  const supersedes: string[] = [];
  for (let i = 0; i < supersededCount; i += 1, at += NAME)
    supersedes.push(bytes.toString('hex', at, at + NAME));
  const packCount = bytes.readUInt32BE(at);
  at += 4;
  const packs: IndexedPack[] = [];
  for (let i = 0; i < packCount; i += 1) {
    if (at + PACK_FIXED > bytes.length) throw corrupt(object, 'its content is cut short');
    const name = bytes.toString('hex', at, at + NAME);
    const kindByte = bytes[at + NAME];
    const cipherByte = bytes[at + NAME + 1];
    const cipher = cipherByte === SEALED ? CIPHER_GCM : cipherByte;
    if ((kindByte !== 1 && kindByte !== 2) || (cipher !== 0 && cipher !== 1)) {
      throw corrupt(object, `its entry for pack ${name} has impossible values`);
    }
    const facts = {
      kind: kindByte === 1 ? ('data' as const) : ('tree' as const),
      packLength: bytes.readUInt32BE(at + NAME + 8),
      segmentCount: bytes.readUInt16BE(at + NAME + 2),
      chunkCount: bytes.readUInt32BE(at + NAME + 4),
      idBytes: 16 as const,
    };
    const generation = bytes.readUInt32BE(at + NAME + 12);
    const salt = Buffer.from(bytes.subarray(at + NAME + 16, at + PACK_FIXED));
    let body = at + PACK_FIXED;
    let sealedBy = 0;
    if (cipherByte === SEALED) {
      if (body + SEALED_BY > bytes.length) throw corrupt(object, 'its content is cut short');
      sealedBy = bytes.readUInt32BE(body);
      if (sealedBy === 0) throw corrupt(object, `its entry for pack ${name} has impossible values`);
      body += SEALED_BY;
    }
    const { directory, end } = decodeDirectoryBody(bytes, body, facts, object);
    packs.push({ name, cipher, generation, salt, sealedBy, directory });
    at = end;
  }
  if (at !== bytes.length) throw corrupt(object, 'its content has bytes after its end');
  return { supersedes, packs };
}
