/** The interface for compression and decompression, whichever library implements it. */

export interface ZstdSettings {
  /** 1 to 19. */
  readonly level: number;
  /** Size in bytes that most inputs do not exceed. */
  readonly expected: number;
  /** Table sizes as powers of two; the level's own where undefined. */
  readonly hashLog?: number;
  readonly chainLog?: number;
}

/** Returns one frame, which states the length of its content. Valid until the next call. */
export type Compress = (raw: Buffer) => Buffer;

/**
 * Decompresses one frame into `target` and returns the number of bytes.
 * @throws whatever the library throws for a damaged frame, or for one whose content does not fit
 */
export type Decompress = (target: Buffer, frame: Buffer) => number;

export interface Zstd {
  readonly name: 'zstd-napi' | 'node:zlib';
  /** Version of the library itself, e.g. `1.5.7`. */
  readonly version: string;
  compressor(settings: ZstdSettings): Compress;
  decompressor(): Decompress;
}
