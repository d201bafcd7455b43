import { Blake3Hasher } from '@napi-rs/blake-hash';

/** Bytes of a chunk id: 192 bits of keyed BLAKE3. */
export const ID_BYTES = 24;

/**
 * Number of ids that share an allocation. An id in Node's common pool would keep 64 KiB of it alive until its pack is
 * closed.
 */
const IDS_PER_BLOCK = 128;

/**
 * Computes ids of chunks. One hasher is reused for every chunk, because making one costs three times the hashing of 4
 * KiB.
 */
export class ChunkHasher {
  readonly #hasher: Blake3Hasher;
  readonly #scratch = Buffer.alloc(ID_BYTES);
  #block = Buffer.alloc(0);

  constructor(key: Uint8Array) {
    this.#hasher = Blake3Hasher.newKeyed(Buffer.from(key));
  }

  /** The 24-byte id of `chunk`. */
  id(chunk: Buffer): Buffer {
    if (this.#block.length === 0) this.#block = Buffer.allocUnsafeSlow(ID_BYTES * IDS_PER_BLOCK);
    const id = this.#block.subarray(0, ID_BYTES);
    this.#block = this.#block.subarray(ID_BYTES);
    id.write(this.#hex(chunk), 0, ID_BYTES, 'hex');
    return id;
  }

  /** True when `chunk` has this id. */
  matches(chunk: Buffer, id: Buffer): boolean {
    this.#scratch.write(this.#hex(chunk), 0, ID_BYTES, 'hex');
    return this.#scratch.equals(id);
  }

  /** The digest as hex text: a buffer made outside of V8 costs three times as much, and more in garbage collection later. */
  #hex(chunk: Buffer): string {
    this.#hasher.reset();
    this.#hasher.update(chunk);
    return this.#hasher.digest('hex');
  }
}

const plainKey = new Blake3Hasher();

/** First 16 bytes of unkeyed BLAKE3 over the two parts: the checksum of parts that are not encrypted. */
export function plainChecksum(associated: Buffer, plaintext: Buffer): Buffer {
  plainKey.reset();
  plainKey.update(associated);
  plainKey.update(plaintext);
  return plainKey.digestBuffer().subarray(0, 16);
}
