import { expand } from './kdf.ts';

/** Sizes in bytes. */
export interface ChunkerParameters {
  readonly min: number;
  readonly avg: number;
  readonly max: number;
}

/**
 * 128 KiB, 320 KiB, 2 MiB. A disk image whose files changed here and there costs what its touched chunks weigh: half of
 * what it costs with chunks of 1 MiB (docs/performance.md).
 */
export const DEFAULT_CHUNKER: ChunkerParameters = { min: 131_072, avg: 327_680, max: 2_097_152 };

/** Bytes after which a Gear hash has forgotten what came before. */
const WINDOW = 32;

/**
 * Content-defined chunking with a Gear hash and normalised cut points (Xia et al., "FastCDC", USENIX ATC 2016). The
 * table comes from a secret key, so cut points say nothing about content.
 */
export class Chunker {
  readonly parameters: ChunkerParameters;
  readonly #gear: Int32Array;
  /** Harder to meet before the average size, easier after it. */
  readonly #hardMask: number;
  readonly #easyMask: number;

  constructor(key: Uint8Array, parameters: ChunkerParameters) {
    this.parameters = parameters;
    const table = expand(key, 'hf1/gear', 1_024);
    this.#gear = Int32Array.from({ length: 256 }, (_, i) => table.readInt32BE(i * 4));
    const bits = Math.round(Math.log2(parameters.avg));
    this.#hardMask = highBits(bits + 2);
    this.#easyMask = highBits(bits - 2);
  }

  /**
   * Length of the chunk that begins at `start`: `data.length - start` when no cut is found and `data` ends (the
   * caller decides whether more follows), never above `max`.
   */
  cut(data: Buffer, start: number): number {
    const { min, avg, max } = this.parameters;
    const available = data.length - start;
    if (available <= min) return available;
    const end = start + Math.min(available, max);
    const turn = Math.min(end, start + avg);
    const gear = this.#gear;
    let hash = 0;
    let at = start + min - WINDOW;
    for (const warm = start + min; at < warm; at += 1)
      hash = (hash << 1) + (gear[data[at] as number] as number);
    const hard = this.#hardMask;
    // The two loops are the hottest of the program; indexes are in range by construction, hence the assertions.
    for (; at < turn; at += 1) {
      hash = ((hash << 1) + (gear[data[at] as number] as number)) | 0;
      if ((hash & hard) === 0) return at + 1 - start;
    }
    const easy = this.#easyMask;
    for (; at < end; at += 1) {
      hash = ((hash << 1) + (gear[data[at] as number] as number)) | 0;
      if ((hash & easy) === 0) return at + 1 - start;
    }
    return end - start;
  }
}

function highBits(count: number): number {
  return -1 << (32 - count);
}
