/** What compresses and decompresses, whichever library does it. */

export interface ZstdSettings {
  /** 1 to 19. */
  readonly level: number;
  /** Bytes that most inputs do not exceed. */
  readonly expected: number;
  /** Powers of two of table sizes; the level's own where they are undefined. */
  readonly hashLog?: number;
  readonly chainLog?: number;
}

/** Gives one frame, which says how long its content is. It is valid until the next call. */
export type Compress = (raw: Buffer) => Buffer;

/**
 * Decompresses one frame into `target` and gives the number of bytes.
 * @throws what the library throws of a damaged frame, and of one that gives more than fits
 */
export type Decompress = (target: Buffer, frame: Buffer) => number;

export interface Zstd {
  readonly name: 'zstd-napi' | 'node:zlib';
  /** Of the library itself, e.g. `1.5.7`. */
  readonly version: string;
  compressor(settings: ZstdSettings): Compress;
  decompressor(): Decompress;
}
