/** Decides what may be decompressed: one whole zstd frame (RFC 8878, section 3.1.1), whichever library reads it. */

const MAGIC = 0xfd2f_b528;
/** The largest window that every decoder must support (RFC 8878, section 3.1.1.1.2): bounds what a decoder allocates. */
const LARGEST_WINDOW = 8 * 1024 * 1024;
const RESERVED_BLOCK = 3;
const RLE_BLOCK = 1;
const CHECKSUM_BYTES = 4;

interface FrameHeader {
  readonly bytes: number;
  /** Undefined when the frame does not state it. */
  readonly contentSize: number | undefined;
  readonly hasChecksum: boolean;
}

/**
 * True for exactly one frame, whole and followed by nothing, that needs no dictionary and no window beyond 8 MiB, and
 * that does not announce another length than `length`. The content of its blocks is left to the decoder.
 *
 * The libraries differ in what else they accept: one reads several frames in a row as one, another ignores what follows
 * the first. Writers produce neither.
 */
export function isPlainFrame(frame: Buffer, length: number): boolean {
  const header = readHeader(frame);
  if (header === undefined) return false;
  if (header.contentSize !== undefined && header.contentSize !== length) return false;
  const end = endOfBlocks(frame, header.bytes);
  return end !== undefined && end + (header.hasChecksum ? CHECKSUM_BYTES : 0) === frame.length;
}

function readHeader(frame: Buffer): FrameHeader | undefined {
  if (frame.length < 6 || frame.readUInt32LE(0) !== MAGIC) return undefined;
  const descriptor = frame.readUInt8(4);
  const hasReservedBit = (descriptor & 0b1000) !== 0;
  const hasDictionary = (descriptor & 0b11) !== 0;
  if (hasReservedBit || hasDictionary) return undefined;
  const isSingleSegment = (descriptor & 0b10_0000) !== 0;
  if (!isSingleSegment && windowSize(frame.readUInt8(5)) > LARGEST_WINDOW) return undefined;
  const at = isSingleSegment ? 5 : 6;
  const sizeBytes = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0;
  if (frame.length < at + sizeBytes) return undefined;
  return {
    bytes: at + sizeBytes,
    contentSize: contentSize(frame, at, sizeBytes),
    hasChecksum: (descriptor & 0b100) !== 0,
  };
}

function windowSize(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >> 3));
  return base + (base / 8) * (descriptor & 0b111);
}

function contentSize(frame: Buffer, at: number, bytes: number): number | undefined {
  switch (bytes) {
    case 1:
      return frame.readUInt8(at);
    case 2:
      return frame.readUInt16LE(at) + 256;
    case 4:
      return frame.readUInt32LE(at);
    case 8:
      return Number(frame.readBigUInt64LE(at));
    default:
      return undefined;
  }
}

/** The offset of the end of the last block; undefined when the frame is cut short. */
function endOfBlocks(frame: Buffer, start: number): number | undefined {
  let at = start;
  while (at + 3 <= frame.length) {
    const block = frame.readUIntLE(at, 3);
    const type = (block >> 1) & 0b11;
    if (type === RESERVED_BLOCK) return undefined;
    at += 3 + (type === RLE_BLOCK ? 1 : block >> 3);
    if ((block & 1) === 1) return at;
  }
  return undefined;
}
