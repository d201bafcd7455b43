import { corrupt, newerFormat } from '../base/errors.ts';
import { HEADER_BYTES } from './header.ts';

const MAX_PACK_BYTES = 128 * 1024 * 1024;
export const MAX_CHUNK_BYTES = 8 * 1024 * 1024;
export const MAX_SEGMENTS = 65_535;
export const TAIL_BYTES = 16;
/** Most raw bytes of a segment, above what writers make: the target plus one small chunk, or one large chunk. */
const MAX_SEGMENT_BYTES = 16 * 1024 * 1024;
const TAIL_MAGIC = Buffer.from('HF1T', 'latin1');
const ID = 24;
const SEGMENT_ENTRY = 12;
const FIXED = 12;
/** Tag or checksum at the end of every sealed part. */
const SEAL_BYTES = 16;

export type PackKind = 'data' | 'tree';

export interface SegmentEntry {
  /** Where the sealed segment begins in the pack. */
  readonly offset: number;
  /** Sealed length, tag included. */
  readonly storedLength: number;
  readonly rawLength: number;
  readonly compression: 0 | 1;
  readonly chunks: number;
}

/** What a pack holds. Chunk i has length `lengths[i]` and id `ids[i*idBytes …]`; chunks lie in segments in order. */
export interface PackDirectory {
  readonly kind: PackKind;
  readonly packLength: number;
  readonly segments: readonly SegmentEntry[];
  readonly lengths: Uint32Array;
  readonly ids: Buffer;
  /** 24 in a pack's own directory, 16 in an index object. */
  readonly idBytes: 24 | 16;
}

/** Rounds a length up so that sizes reveal little (Padmé; Nikitin et al., "Reducing Metadata Leakage from Encrypted Files", 2019). */
export function padme(length: number): number {
  if (length < 2) return length;
  const exponent = Math.floor(Math.log2(length));
  const significant = Math.floor(Math.log2(exponent)) + 1;
  const step = 2 ** (exponent - significant);
  return step <= 1 ? length : Math.ceil(length / step) * step;
}

/** Bytes of an encoded directory with this many segments and chunks. */
export function directoryLength(segments: number, chunks: number): number {
  return FIXED + segments * SEGMENT_ENTRY + chunks * (3 + ID);
}

/** Encodes the part that packs and index objects share: segments, chunk lengths, and chunk ids of `idBytes` each. */
export function encodeDirectoryBody(directory: PackDirectory, idBytes: 24 | 16): Buffer {
  const { segments, lengths } = directory;
  const body = Buffer.allocUnsafe(segments.length * SEGMENT_ENTRY + lengths.length * (3 + idBytes));
  let at = 0;
  for (const segment of segments) {
    at = body.writeUInt32BE(segment.storedLength, at);
    at = body.writeUInt32BE(segment.rawLength, at);
    at = body.writeUInt8(segment.compression, at);
    at = body.writeUIntBE(segment.chunks, at, 3);
  }
  for (const length of lengths) at = body.writeUIntBE(length, at, 3);
  if (idBytes === directory.idBytes) {
    directory.ids.copy(body, at);
    return body;
  }
  for (let i = 0; i < lengths.length; i += 1) {
    at += directory.ids.copy(body, at, i * directory.idBytes, i * directory.idBytes + idBytes);
  }
  return body;
}

/** Decodes what `encodeDirectoryBody` wrote at `offset`; returns the directory and the offset of its end. */
export function decodeDirectoryBody(
  bytes: Buffer,
  offset: number,
  facts: { kind: PackKind; packLength: number; segmentCount: number; chunkCount: number; idBytes: 24 | 16 },
  object: string,
): { directory: PackDirectory; end: number } {
  const { kind, packLength, segmentCount, chunkCount, idBytes } = facts;
  const end = offset + segmentCount * SEGMENT_ENTRY + chunkCount * (3 + idBytes);
  if (end > bytes.length || packLength > MAX_PACK_BYTES) throw corrupt(object, 'its directory is cut short');
  const segments: SegmentEntry[] = [];
  let at = offset;
  let position = HEADER_BYTES;
  let chunksSeen = 0;
  for (let i = 0; i < segmentCount; i += 1) {
    const storedLength = bytes.readUInt32BE(at);
    const rawLength = bytes.readUInt32BE(at + 4);
    const compression = bytes.readUInt8(at + 8);
    const chunks = bytes.readUIntBE(at + 9, 3);
    at += SEGMENT_ENTRY;
    const sound =
      (compression === 0 || compression === 1) &&
      rawLength <= MAX_SEGMENT_BYTES &&
      (compression === 0 ? storedLength === rawLength + SEAL_BYTES : storedLength > SEAL_BYTES) &&
      chunks > 0;
    if (!sound) throw corrupt(object, `its directory describes an impossible segment ${i}`);
    segments.push({ offset: position, storedLength, rawLength, compression, chunks });
    position += storedLength;
    chunksSeen += chunks;
  }
  if (position > packLength || chunksSeen !== chunkCount)
    throw corrupt(object, 'its directory does not add up');
  const lengths = new Uint32Array(chunkCount);
  let chunk = 0;
  for (const [i, segment] of segments.entries()) {
    let sum = 0;
    for (let k = 0; k < segment.chunks; k += 1, chunk += 1, at += 3) {
      const length = bytes.readUIntBE(at, 3);
      lengths[chunk] = length;
      sum += length;
      if (length < 1 || length > MAX_CHUNK_BYTES)
        throw corrupt(object, 'its directory lists a chunk of an impossible size');
    }
    if (sum !== segment.rawLength) throw corrupt(object, `the chunks of its segment ${i} do not add up`);
  }
  const ids = Buffer.from(bytes.subarray(at, at + chunkCount * idBytes));
  return { directory: { kind, packLength, segments, lengths, ids, idBytes }, end };
}

/** The plaintext of a pack's directory. */
export function encodePackDirectory(directory: PackDirectory): Buffer {
  const fixed = Buffer.alloc(FIXED);
  fixed[0] = 1;
  fixed[1] = directory.kind === 'data' ? 1 : 2;
  fixed.writeUInt16BE(directory.segments.length, 2);
  fixed.writeUInt32BE(directory.lengths.length, 4);
  fixed.writeUInt32BE(directory.packLength, 8);
  return Buffer.concat([fixed, encodeDirectoryBody(directory, 24)]);
}

/** @throws {RepositoryError} CORRUPT_DATA */
export function decodePackDirectory(bytes: Buffer, object: string): PackDirectory {
  const version = bytes[0] ?? 0;
  if (version > 1) throw newerFormat(object);
  if (bytes.length < FIXED || version < 1) throw corrupt(object, 'its directory has an unknown version');
  const kindByte = bytes[1];
  if (kindByte !== 1 && kindByte !== 2) throw corrupt(object, 'its directory has an unknown kind');
  const facts = {
    kind: kindByte === 1 ? ('data' as const) : ('tree' as const),
    packLength: bytes.readUInt32BE(8),
    segmentCount: bytes.readUInt16BE(2),
    chunkCount: bytes.readUInt32BE(4),
    idBytes: 24 as const,
  };
  const { directory, end } = decodeDirectoryBody(bytes, FIXED, facts, object);
  if (end !== bytes.length) throw corrupt(object, 'its directory has bytes after its end');
  return directory;
}

export interface PackTail {
  readonly directoryOffset: number;
  readonly directoryLength: number;
  readonly paddingLength: number;
}

export function encodeTail(tail: PackTail): Buffer {
  const bytes = Buffer.alloc(TAIL_BYTES);
  bytes.writeUInt32BE(tail.directoryOffset, 0);
  bytes.writeUInt32BE(tail.directoryLength, 4);
  bytes.writeUInt32BE(tail.paddingLength, 8);
  TAIL_MAGIC.copy(bytes, 12);
  return bytes;
}

/**
 * Reads the last 16 bytes of a pack of `packLength` bytes.
 * @throws {RepositoryError} CORRUPT_DATA
 */
export function decodeTail(bytes: Buffer, packLength: number, object: string): PackTail {
  const tail = bytes.subarray(bytes.length - TAIL_BYTES);
  if (tail.length !== TAIL_BYTES || !tail.subarray(12).equals(TAIL_MAGIC))
    throw corrupt(object, 'it does not end as a pack does');
  const directoryOffset = tail.readUInt32BE(0);
  const length = tail.readUInt32BE(4);
  const paddingLength = tail.readUInt32BE(8);
  const sound =
    directoryOffset + length + TAIL_BYTES === packLength &&
    length >= 16 &&
    paddingLength >= 16 &&
    directoryOffset >= HEADER_BYTES + paddingLength;
  if (!sound) throw corrupt(object, 'its last bytes point outside of it');
  return { directoryOffset, directoryLength: length, paddingLength };
}
