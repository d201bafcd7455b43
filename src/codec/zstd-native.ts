/** zstd by the package zstd-napi: one context for all frames, and no allocation per frame. */
import type * as binding from 'zstd-napi/binding.js';
import type { Zstd, ZstdSettings } from './zstd.ts';

type Binding = typeof binding;

export function nativeZstd(library: Binding): Zstd {
  return {
    name: 'zstd-napi',
    version: library.versionString(),
    compressor: (settings) => {
      const context = compressionContext(library, settings);
      let output = Buffer.allocUnsafe(library.compressBound(settings.expected));
      return (raw) => {
        const bound = library.compressBound(raw.length);
        if (bound > output.length) output = Buffer.allocUnsafe(bound);
        return output.subarray(0, context.compress2(output, raw));
      };
    },
    decompressor: () => {
      const context = new library.DCtx();
      return (target, frame) => context.decompress(target, frame);
    },
  };
}

function compressionContext(library: Binding, { level, hashLog, chainLog }: ZstdSettings): binding.CCtx {
  const context = new library.CCtx();
  context.setParameter(library.CParameter.compressionLevel, level);
  if (hashLog !== undefined) context.setParameter(library.CParameter.hashLog, hashLog);
  if (chainLog !== undefined) context.setParameter(library.CParameter.chainLog, chainLog);
  return context;
}
