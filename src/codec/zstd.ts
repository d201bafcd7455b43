/** The interface for compression and decompression, whichever library implements it. */
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

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

/** The smallest chunk size that `node:zlib` accepts. */
const SMALLEST_PIECE = 64;
/** Inputs below this size get an extra margin in the bound for data that does not shrink: ZSTD_COMPRESSBOUND of zstd.h. */
const SMALL = 128 * 1024;

export const nodeZstd: Zstd = {
  name: 'node:zlib',
  version: process.versions['zstd'] ?? '',
  compressor: (settings) => {
    const params = parametersOf(settings);
    return (raw) => zstdCompressSync(raw, { params, chunkSize: compressBound(raw.length) });
  },
  decompressor: () => (target, frame) => {
    const raw = zstdDecompressSync(frame, {
      chunkSize: Math.max(target.length, SMALLEST_PIECE),
      maxOutputLength: Math.max(target.length, 1),
    });
    return raw.copy(target);
  },
};

function parametersOf({ level, hashLog, chainLog }: ZstdSettings): Record<number, number> {
  return {
    [constants.ZSTD_c_compressionLevel]: level,
    ...(hashLog === undefined ? {} : { [constants.ZSTD_c_hashLog]: hashLog }),
    ...(chainLog === undefined ? {} : { [constants.ZSTD_c_chainLog]: chainLog }),
  };
}

function compressBound(length: number): number {
  const margin = length < SMALL ? (SMALL - length) >> 11 : 0;
  return Math.max(length + (length >> 8) + margin, SMALLEST_PIECE);
}
