import { expand } from './kdf.ts';

/** Sizes in bytes. */
export interface ChunkerParameters {
  readonly min: number;
  readonly avg: number;
  readonly max: number;
}

/**
 * 128 KiB, 320 KiB, 2 MiB. After scattered changes in a disk image, a backup stores the chunks that were touched: half
 * as much as with chunks of 1 MiB (docs/performance.md).
 */
export const DEFAULT_CHUNKER: ChunkerParameters = { min: 131_072, avg: 327_680, max: 2_097_152 };

/** Bytes after which a Gear hash has forgotten what came before. */
const WINDOW = 32;

/** Bytes of each of the three stretches that are searched at once: small, so that little is searched in vain beyond a cut. */
const STRETCH = 2_048;

/**
 * Content-defined chunking with a Gear hash and normalised cut points (Xia et al., "FastCDC", USENIX ATC 2016). The
 * table comes from a secret key, so cut points say nothing about content.
 */
export class Chunker {
  readonly parameters: ChunkerParameters;
  readonly #gear: Int32Array;
  /** A mask that is harder to meet, before the average size, and an easier one after it. */
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
    const cut = this.#find(data, start + min, turn, this.#hardMask);
    if (cut >= 0) return cut + 1 - start;
    const late = this.#find(data, turn, end, this.#easyMask);
    return late >= 0 ? late + 1 - start : end - start;
  }

  /**
   * The first place from `at` on, before `end`, whose hash meets the mask; -1 when there is none. Each hash depends on
   * the one before it, which would leave the processor idle half of the time, so three stretches are searched at once.
   */
  #find(data: Buffer, at: number, end: number, mask: number): number {
    const gear = this.#gear;
    let from = at;
    // The two loops are the hottest of the program; indexes are in range by construction, hence the assertions.
    while (end - from >= 3 * STRETCH) {
      let one = this.#hashBefore(data, from);
      let two = this.#hashBefore(data, from + STRETCH);
      let three = this.#hashBefore(data, from + 2 * STRETCH);
      let place = from;
      for (const stop = from + STRETCH; place < stop; place += 1) {
        one = ((one << 1) + (gear[data[place] as number] as number)) | 0;
        two = ((two << 1) + (gear[data[place + STRETCH] as number] as number)) | 0;
        three = ((three << 1) + (gear[data[place + 2 * STRETCH] as number] as number)) | 0;
        if ((one & mask) === 0) return place;
        if ((two & mask) === 0 || (three & mask) === 0) break;
      }
      // One stretch has a cut, but an earlier one may have another further on: all are searched again in order.
      if (place < from + STRETCH) break;
      from += 3 * STRETCH;
    }
    let hash = this.#hashBefore(data, from);
    for (; from < end; from += 1) {
      hash = ((hash << 1) + (gear[data[from] as number] as number)) | 0;
      if ((hash & mask) === 0) return from;
    }
    return -1;
  }

  /** The hash of the window that ends before `at`. */
  #hashBefore(data: Buffer, at: number): number {
    const gear = this.#gear;
    let hash = 0;
    for (let i = at - WINDOW; i < at; i += 1) hash = ((hash << 1) + (gear[data[i] as number] as number)) | 0;
    return hash;
  }
}

function highBits(count: number): number {
  return -1 << (32 - count);
}
