import { createHash } from 'node:crypto';
import { BugError, RepositoryError } from '../../base/errors.ts';
import {
  SegmentCompressor,
  SegmentDecompressor,
  STORED_RAW,
  STORED_ZSTD,
  type Compression,
} from '../../codec/compress.ts';
import { ChunkHasher, ID_BYTES } from '../../codec/hash.ts';
import type { ObjectKeys } from '../../codec/keys.ts';
import { DIRECTORY_SEQUENCE, ObjectSeal, PADDING_SEQUENCE, TAG_BYTES } from '../../codec/seal.ts';
import { HEADER_BYTES, OBJECT_TYPES, type Cipher } from '../../format/header.ts';
import { encodeIndexedPack } from '../../format/index-object.ts';
import {
  MAX_CHUNK_BYTES,
  MAX_SEGMENTS,
  TAIL_BYTES,
  directoryLength,
  encodePackDirectory,
  encodeTail,
  padme,
  type PackDirectory,
  type PackKind,
  type SegmentEntry,
} from '../../format/pack.ts';

/** A complete pack, verified and named, ready to be stored. */
export interface FinishedPack {
  readonly name: string;
  readonly kind: PackKind;
  readonly cipher: Cipher;
  /** The pack's bytes: a view of a buffer that `take` gave. */
  readonly bytes: Buffer;
  /** The pack's entry for an index object. */
  readonly indexEntry: Buffer;
  readonly chunks: number;
  readonly rawBytes: number;
}

export interface PackWriterOptions {
  readonly keys: ObjectKeys;
  readonly kind: PackKind;
  readonly cipher: Cipher;
  /** Key for the ids of the added chunks: every segment is hashed again before it is handed over. */
  readonly idKey: Buffer;
  readonly packTarget: number;
  /** The target of the first pack if it differs from `packTarget`; each later pack may be twice as long as the one before. */
  readonly firstTarget?: number | undefined;
  readonly segmentTarget: number;
  readonly compression: Compression;
  /** A buffer of at least this many bytes for the next pack; may block until one is free. */
  readonly take: (capacity: number) => Buffer;
  readonly emit: (pack: FinishedPack) => void;
}

/** Chunks of this size or more get a segment of their own; smaller ones compress better together. */
const LARGE_CHUNK = 1_048_576;

/**
 * Collects chunks into segments, seals them into packs and checks every segment (open, decompress, hash again)
 * before the pack is handed over, because libraries and memory have corrupted backups before.
 */
export class PackWriter {
  readonly #options: PackWriterOptions;
  readonly #compressor: SegmentCompressor;
  readonly #decompressor = new SegmentDecompressor();
  readonly #hasher: ChunkHasher;
  readonly #segment: Buffer;
  #segmentLength = 0;
  #pendingIds: Buffer[] = [];
  #pendingLengths: number[] = [];
  #check: Buffer;
  #opened: Buffer;
  #open: OpenPack | undefined;
  #target: number;

  constructor(options: PackWriterOptions) {
    this.#options = options;
    this.#target = Math.min(options.firstTarget ?? options.packTarget, options.packTarget);
    this.#compressor = new SegmentCompressor(options.compression, options.segmentTarget);
    this.#hasher = new ChunkHasher(options.idKey);
    this.#segment = Buffer.allocUnsafeSlow(options.segmentTarget + LARGE_CHUNK);
    this.#check = Buffer.allocUnsafeSlow(options.segmentTarget);
    this.#opened = Buffer.allocUnsafeSlow(options.segmentTarget);
  }

  /**
   * Room for a chunk of up to `length` (below LARGE_CHUNK) bytes at the end of the open segment. The caller fills it
   * and calls `commit`, or does nothing when the chunk turns out to be known.
   */
  reserve(length: number): Buffer {
    if (this.#segmentLength + length > this.#options.segmentTarget) this.#flushSegment();
    return this.#segment.subarray(this.#segmentLength, this.#segmentLength + length);
  }

  /** Makes the first `length` bytes of the reserved room the next chunk. */
  commit(id: Buffer, length: number): void {
    this.#pendingIds.push(id);
    this.#pendingLengths.push(length);
    this.#segmentLength += length;
  }

  /** Adds a chunk from elsewhere; large ones become a segment of their own. */
  append(id: Buffer, chunk: Buffer): void {
    if (chunk.length > MAX_CHUNK_BYTES)
      throw new BugError(`A chunk of ${chunk.length} bytes cannot be stored`);
    if (chunk.length >= LARGE_CHUNK) {
      this.#writeSegment(chunk, [id], [chunk.length]);
      return;
    }
    chunk.copy(this.reserve(chunk.length));
    this.commit(id, chunk.length);
  }

  /** Ends the open segment and pack. */
  finish(): void {
    this.#flushSegment();
    this.#closePack();
  }

  #flushSegment(): void {
    if (this.#segmentLength === 0) return;
    this.#writeSegment(
      this.#segment.subarray(0, this.#segmentLength),
      this.#pendingIds,
      this.#pendingLengths,
    );
    this.#segmentLength = 0;
    this.#pendingIds = [];
    this.#pendingLengths = [];
  }

  #writeSegment(raw: Buffer, ids: readonly Buffer[], lengths: readonly number[]): void {
    const compressed = this.#compressor.compress(raw);
    const stored = compressed ?? raw;
    const compression = compressed === undefined ? STORED_RAW : STORED_ZSTD;
    const pack = this.#packWithRoom(stored.length + TAG_BYTES, ids.length);
    const number = pack.segments.length;
    const context = { rawLength: raw.length, compression };
    const length = pack.seal.sealInto(pack.buffer, pack.length, number, stored, context);
    const sealed = pack.buffer.subarray(pack.length, pack.length + length);
    if (this.#opened.length < stored.length) this.#opened = Buffer.allocUnsafeSlow(stored.length);
    const opened = pack.seal.open(number, sealed, 'a new pack', context, this.#opened);
    this.#verify(opened, raw.length, compression, ids, lengths);
    pack.segments.push({
      offset: pack.length,
      storedLength: length,
      rawLength: raw.length,
      compression,
      chunks: ids.length,
    });
    pack.length += length;
    pack.rawBytes += raw.length;
    for (const id of ids) pack.ids.push(id);
    for (const one of lengths) pack.lengths.push(one);
  }

  #verify(
    stored: Buffer,
    rawLength: number,
    compression: 0 | 1,
    ids: readonly Buffer[],
    lengths: readonly number[],
  ): void {
    let raw = stored;
    if (compression === STORED_ZSTD) {
      if (this.#check.length < rawLength) this.#check = Buffer.allocUnsafeSlow(rawLength);
      raw = this.#check.subarray(0, rawLength);
      this.#decompressor.decompressInto(raw, stored);
    }
    let at = 0;
    for (const [i, id] of ids.entries()) {
      const end = at + (lengths[i] ?? 0);
      if (!this.#hasher.matches(raw.subarray(at, end), id)) {
        throw new RepositoryError(
          'CORRUPT_DATA',
          'Data changed in memory between reading and sealing; nothing damaged was stored',
          {
            hint: "Test this machine's memory, then run the backup again.",
          },
        );
      }
      at = end;
    }
  }

  #packWithRoom(storedLength: number, chunks: number): OpenPack {
    const { packTarget, take, keys, kind, cipher } = this.#options;
    const open = this.#open;
    if (open !== undefined) {
      const directory = directoryLength(open.segments.length + 1, open.ids.length + chunks);
      const total = open.length + storedLength + directory + TAG_BYTES * 2 + TAIL_BYTES;
      if (total <= this.#target && open.segments.length < MAX_SEGMENTS) return open;
      this.#closePack();
    }
    const least = HEADER_BYTES + storedLength + directoryLength(1, chunks) + TAG_BYTES * 2 + TAIL_BYTES;
    const seal = ObjectSeal.create(
      keys,
      kind === 'data' ? OBJECT_TYPES.dataPack : OBJECT_TYPES.treePack,
      cipher,
      Buffer.alloc(0),
    );
    const buffer = take(Math.max(padme(packTarget), padme(least)));
    seal.prefix.copy(buffer);
    this.#open = {
      seal,
      buffer,
      length: seal.prefix.length,
      segments: [],
      ids: [],
      lengths: [],
      rawBytes: 0,
    };
    return this.#open;
  }

  #closePack(): void {
    const pack = this.#open;
    if (pack === undefined) return;
    this.#open = undefined;
    const { kind, cipher, packTarget, emit } = this.#options;
    this.#target = Math.min(packTarget, this.#target * 2);
    const directoryBytes = directoryLength(pack.segments.length, pack.ids.length) + TAG_BYTES;
    const packLength = padme(pack.length + directoryBytes + TAIL_BYTES + TAG_BYTES);
    const paddingLength = packLength - pack.length - directoryBytes - TAIL_BYTES;
    const directory: PackDirectory = {
      kind,
      packLength,
      segments: pack.segments,
      lengths: Uint32Array.from(pack.lengths),
      ids: Buffer.concat(pack.ids, pack.ids.length * ID_BYTES),
      idBytes: ID_BYTES,
    };
    let at = pack.length;
    at += pack.seal.sealInto(pack.buffer, at, PADDING_SEQUENCE, Buffer.alloc(paddingLength - TAG_BYTES));
    const tail = encodeTail({ directoryOffset: at, directoryLength: directoryBytes, paddingLength });
    at += pack.seal.sealInto(pack.buffer, at, DIRECTORY_SEQUENCE, encodePackDirectory(directory));
    tail.copy(pack.buffer, at);
    const bytes = pack.buffer.subarray(0, packLength);
    const name = createHash('sha256').update(bytes).digest('hex');
    const { generation, salt, sealedBy } = pack.seal.header;
    const indexEntry = encodeIndexedPack({ name, cipher, generation, salt, sealedBy, directory });
    emit({ name, kind, cipher, bytes, indexEntry, chunks: pack.ids.length, rawBytes: pack.rawBytes });
  }
}

interface OpenPack {
  readonly seal: ObjectSeal;
  readonly buffer: Buffer;
  length: number;
  readonly segments: SegmentEntry[];
  readonly ids: Buffer[];
  readonly lengths: number[];
  rawBytes: number;
}
