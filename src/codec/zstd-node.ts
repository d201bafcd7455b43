/** zstd by Node.js itself. It makes a stream for every frame, which costs about 25 us per compression or decompression. */
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { Zstd, ZstdSettings } from './zstd.ts';

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
