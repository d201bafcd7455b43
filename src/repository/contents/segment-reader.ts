import { corrupt } from '../../base/errors.ts';
import { SegmentDecompressor, STORED_ZSTD } from '../../codec/compress.ts';
import type { ObjectKeys } from '../../codec/keys.ts';
import { ObjectSeal } from '../../codec/seal.ts';
import type { Destination } from '../../destination/destination.ts';
import { OBJECT_TYPES } from '../../format/header.ts';
import { segmentOf, type ChunkIndex, type KnownPack } from '../chunk-index.ts';
import { packKey } from '../objects/listing.ts';

/** Opens sealed segments: authenticates, decrypts and decompresses. Synchronous, so that any thread can use it. */
export class SegmentOpener {
  readonly #keys: ObjectKeys;
  readonly #decompressor = new SegmentDecompressor();
  readonly #seals = new Map<string, ObjectSeal>();
  /** Buffer for the compressed bytes of the current segment. */
  #scratch = Buffer.alloc(0);

  constructor(keys: ObjectKeys) {
    this.#keys = keys;
  }

  /**
   * The raw bytes of segment `number` from its sealed form.
   * @param into reused for the result when it is large enough
   * @throws {RepositoryError} CORRUPT_DATA
   */
  open(pack: KnownPack, number: number, sealed: Buffer, into?: Buffer): Buffer {
    const { rawLength, compression } = segmentOf(pack, number);
    const context = { rawLength, compression };
    const scratch = compression === STORED_ZSTD ? this.#scratchFor(sealed.length) : undefined;
    const stored = this.#seal(pack).open(number, sealed, `pack ${pack.name}`, context, scratch);
    if (compression !== STORED_ZSTD) {
      if (stored.length !== rawLength)
        throw corrupt(`pack ${pack.name}`, `its segment ${number} has another length than recorded`);
      return stored;
    }
    const raw =
      into !== undefined && into.length >= rawLength
        ? into.subarray(0, rawLength)
        : Buffer.allocUnsafe(rawLength);
    this.#decompressor.decompressInto(raw, stored);
    return raw;
  }

  #scratchFor(length: number): Buffer {
    if (this.#scratch.length < length) this.#scratch = Buffer.allocUnsafeSlow(length);
    return this.#scratch;
  }

  #seal(pack: KnownPack): ObjectSeal {
    let seal = this.#seals.get(pack.name);
    if (seal === undefined) {
      const type = pack.kind === 'data' ? OBJECT_TYPES.dataPack : OBJECT_TYPES.treePack;
      seal = ObjectSeal.ofPack(this.#keys, { ...pack, type });
      if (this.#seals.size > 1_000) this.#seals.clear();
      this.#seals.set(pack.name, seal);
    }
    return seal;
  }
}

/** Range reads from remote stores are widened to multiples of this, so that their sizes reveal nothing. */
const REMOTE_STEP = 262_144;

/** Reads one sealed segment from the destination. */
export async function fetchSegment(
  destination: Destination,
  pack: KnownPack,
  number: number,
  signal: AbortSignal,
): Promise<Buffer> {
  const { offset, storedLength } = segmentOf(pack, number);
  if (!destination.properties.remote) {
    return await destination.get(packKey(pack.name), { offset, length: storedLength }, signal);
  }
  const start = Math.floor(offset / REMOTE_STEP) * REMOTE_STEP;
  const end = Math.min(pack.length, Math.ceil((offset + storedLength) / REMOTE_STEP) * REMOTE_STEP);
  const wide = await destination.get(packKey(pack.name), { offset: start, length: end - start }, signal);
  return wide.subarray(offset - start, offset - start + storedLength);
}

/** A cache of raw segments that drops the least recently used ones beyond a number of bytes. */
export class SegmentCache {
  readonly #destination: Destination;
  readonly #opener: SegmentOpener;
  readonly #packs: readonly KnownPack[];
  readonly #limit: number;
  readonly #segments = new Map<string, Promise<Buffer>>();
  readonly #sizes = new Map<string, number>();
  #bytes = 0;

  constructor(
    destination: Destination,
    keys: ObjectKeys,
    { packs }: Pick<ChunkIndex, 'packs'>,
    limitBytes: number,
  ) {
    this.#destination = destination;
    this.#opener = new SegmentOpener(keys);
    this.#packs = packs;
    this.#limit = limitBytes;
  }

  async segment(packNumber: number, number: number, signal: AbortSignal): Promise<Buffer> {
    const key = `${packNumber}/${number}`;
    const known = this.#segments.get(key);
    if (known !== undefined) {
      this.#segments.delete(key);
      this.#segments.set(key, known);
      return await known;
    }
    const loading = this.#load(packNumber, number, signal);
    this.#segments.set(key, loading);
    try {
      const raw = await loading;
      this.#sizes.set(key, raw.length);
      this.#bytes += raw.length;
      this.#evict(key);
      return raw;
    } catch (error) {
      this.#segments.delete(key);
      throw error;
    }
  }

  async #load(packNumber: number, number: number, signal: AbortSignal): Promise<Buffer> {
    const pack = this.#packs[packNumber];
    if (pack === undefined) throw corrupt(`pack number ${packNumber}`, 'it is not in the index');
    return this.#opener.open(pack, number, await fetchSegment(this.#destination, pack, number, signal));
  }

  #evict(keep: string): void {
    for (const key of this.#segments.keys()) {
      if (this.#bytes <= this.#limit) return;
      const size = this.#sizes.get(key);
      if (key === keep || size === undefined) continue;
      this.#segments.delete(key);
      this.#sizes.delete(key);
      this.#bytes -= size;
    }
  }
}
