import { createHash } from 'node:crypto';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { corrupt, DestinationError, RepositoryError } from '../../base/errors.ts';
import type { ObjectKeys } from '../../codec/keys.ts';
import { ObjectSeal } from '../../codec/seal.ts';
import { writeOnlyMark } from '../../codec/write-only.ts';
import { isPlainFrame } from '../../codec/zstd-frame.ts';
import type { Destination } from '../../destination/destination.ts';
import { CIPHER_GCM, type ObjectType } from '../../format/header.ts';

/** Records larger than this are refused (docs/repository-format.md): 64 MiB for an index object, the largest kind. */
const MAX_RECORD_BYTES = 96 * 1024 * 1024;

/** A sealed object of one part. */
export interface SealedObject {
  readonly bytes: Buffer;
  /** SHA-256 of the bytes, lower-case hex. */
  readonly name: string;
}

export function sealObject(
  keys: ObjectKeys,
  type: ObjectType,
  context: Buffer,
  plaintext: Buffer,
): SealedObject {
  const seal = ObjectSeal.create(keys, type, CIPHER_GCM, context);
  const bytes = Buffer.concat([seal.prefix, seal.seal(0, plaintext)]);
  return { bytes, name: sha256(bytes) };
}

export interface OpenedObject {
  /** Key generation under which the object is sealed. */
  readonly generation: number;
  /** Number of the write-only key that sealed the object, or 0. */
  readonly sealedBy: number;
  readonly context: Buffer;
  readonly plaintext: Buffer;
}

/**
 * Opens an object of one part.
 * @param name when given, the SHA-256 that the bytes must have
 * @throws {RepositoryError} CORRUPT_DATA, NEWER_FORMAT
 */
export function openObject(
  keys: ObjectKeys,
  type: ObjectType,
  bytes: Buffer,
  object: string,
  name?: string,
): OpenedObject {
  if (name !== undefined && sha256(bytes) !== name) throw corrupt(object, 'its bytes do not match its name');
  const seal = ObjectSeal.open(keys, bytes, object, [type]);
  const { context } = seal;
  const { generation, sealedBy } = seal.header;
  const plaintext = seal.open(0, bytes.subarray(seal.prefix.length), object);
  // One-part objects of a write-only key are records of a chain, and only writers with the key's mark may be named in them.
  if (sealedBy !== 0 && !context.subarray(0, 8).equals(writeOnlyMark(keys.repository, sealedBy).writer))
    throw corrupt(object, 'the write-only key that sealed it is not the writer that it names');
  return { generation, sealedBy, context, plaintext };
}

/**
 * Like `openObject`, for records without which the repository cannot be understood. The keyring gives the repository's
 * format, so no program writes headers of a later one there. Anyone can plant such a header, so it counts as damage and
 * not as a request for a newer program that nothing could ever clear.
 * @throws {RepositoryError} CORRUPT_DATA
 */
export function openRecord(
  keys: ObjectKeys,
  type: ObjectType,
  bytes: Buffer,
  object: string,
  name?: string,
): OpenedObject {
  try {
    return openObject(keys, type, bytes, object, name);
  } catch (error) {
    if (!(error instanceof RepositoryError) || error.code !== 'NEWER_FORMAT') throw error;
    throw corrupt(object, 'it is of a format that this repository does not have', error);
  }
}

/** Compresses an index object before it is sealed. The raw length comes first, so that readers can limit the output. */
export function compressRecord(raw: Buffer): Buffer {
  const compressed = zstdCompressSync(raw);
  if (compressed.length >= raw.length) return Buffer.concat([Buffer.of(0), raw]);
  const head = Buffer.alloc(5);
  head[0] = 1;
  head.writeUInt32BE(raw.length, 1);
  return Buffer.concat([head, compressed]);
}

/** @throws {RepositoryError} CORRUPT_DATA */
export function decompressRecord(bytes: Buffer, object: string): Buffer {
  if (bytes[0] === 0) return bytes.subarray(1);
  if (bytes[0] !== 1 || bytes.length < 5) throw corrupt(object, 'its content has an unknown form');
  const length = bytes.readUInt32BE(1);
  if (length > MAX_RECORD_BYTES) throw corrupt(object, 'it announces more content than is allowed');
  const frame = bytes.subarray(5);
  if (!isPlainFrame(frame, length)) throw corrupt(object, 'its content is not one zstd frame of that length');
  let raw: Buffer;
  try {
    raw = zstdDecompressSync(frame, { maxOutputLength: length });
  } catch (cause) {
    throw corrupt(object, 'its content cannot be decompressed', cause);
  }
  if (raw.length !== length) throw corrupt(object, 'its content has another length than recorded');
  return raw;
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/**
 * Deletes an object that is of no use but harmless, and leaves it where the storage refuses: then false. A storage may
 * have to keep objects for a time.
 */
export async function deleteIfAllowed(
  { destination }: { readonly destination: Pick<Destination, 'delete'> },
  key: string,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await destination.delete(key, signal);
    return true;
  } catch (error) {
    if (!(error instanceof DestinationError) || error.kind !== 'denied') throw error;
    return false;
  }
}
