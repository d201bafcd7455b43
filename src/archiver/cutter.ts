import type { Chunker } from '../codec/chunker.ts';
import type { Hole } from '../format/tree.ts';

/** Zero bytes are looked for in blocks of this size, aligned to file offsets. */
export const ZERO_BLOCK = 65_536;
const ZEROS = Buffer.alloc(ZERO_BLOCK);

/** Content of a file, or of a span of it, cut into chunks and holes. */
export interface CutContent {
  readonly ids: Buffer[];
  readonly holes: Hole[];
}

/**
 * Cuts a sequence of blocks that arrive in order into chunks. Aligned blocks of zeros become holes; what lies between
 * two holes is cut by content.
 */
export class Cutter {
  readonly #chunker: Chunker;
  readonly #take: (chunk: Buffer) => Buffer;
  readonly #buffer: Buffer;
  #start = 0;
  #end = 0;
  #ids: Buffer[] = [];
  #holes: { offset: number; length: number }[] = [];
  #maxHoles = Number.POSITIVE_INFINITY;

  /** @param take stores one chunk and returns its id; the bytes are valid during the call only */
  constructor(chunker: Chunker, take: (chunk: Buffer) => Buffer) {
    this.#chunker = chunker;
    this.#take = take;
    this.#buffer = Buffer.allocUnsafeSlow(chunker.parameters.max * 2 + ZERO_BLOCK);
  }

  /** Until `finish`: so many holes at most, because all holes of a file stand in its entry. */
  limitHoles(count: number): void {
    this.#maxHoles = count;
  }

  /** False when a hole at `offset` would be one too many: its zeros are then to be read like any data. */
  takesHole(offset: number): boolean {
    const last = this.#holes.at(-1);
    return (
      this.#holes.length < this.#maxHoles || (last !== undefined && last.offset + last.length === offset)
    );
  }

  /**
   * Room for the next bytes of the file: at least one block, at most what keeps later reads aligned to blocks.
   * @param offset file offset of the next byte
   */
  room(offset: number): Buffer {
    if (this.#start > 0) {
      this.#buffer.copyWithin(0, this.#start, this.#end);
      this.#end -= this.#start;
      this.#start = 0;
    }
    const free = this.#buffer.length - this.#end;
    const misaligned = offset % ZERO_BLOCK;
    const aligned = Math.floor((free + misaligned) / ZERO_BLOCK) * ZERO_BLOCK - misaligned;
    return this.#buffer.subarray(this.#end, this.#end + aligned);
  }

  /** The first `length` bytes of the room were filled with the bytes at `offset`. */
  filled(offset: number, length: number): void {
    let from = this.#end;
    const stop = this.#end + length;
    let position = offset;
    while (from < stop) {
      const block = Math.min(ZERO_BLOCK - (position % ZERO_BLOCK), stop - from);
      if (block === ZERO_BLOCK && this.#isZero(from) && this.takesHole(position)) {
        this.#end = from;
        this.#cutAll();
        this.hole(position, block);
        this.#start = from + block;
      }
      from += block;
      position += block;
      this.#end = from;
      if (this.#end - this.#start >= this.#chunker.parameters.max) this.#cutReady();
    }
  }

  /** A hole the file system reported: ends the run before it. */
  hole(offset: number, length: number): void {
    this.#cutAll();
    const last = this.#holes.at(-1);
    if (last !== undefined && last.offset + last.length === offset) last.length += length;
    else this.#holes.push({ offset, length });
  }

  /** Ends the file or span. */
  finish(): CutContent {
    this.#cutAll();
    const content = { ids: this.#ids, holes: this.#holes };
    this.#ids = [];
    this.#holes = [];
    this.#maxHoles = Number.POSITIVE_INFINITY;
    this.#start = 0;
    this.#end = 0;
    return content;
  }

  #isZero(at: number): boolean {
    return this.#buffer[at] === 0 && this.#buffer.compare(ZEROS, 0, ZERO_BLOCK, at, at + ZERO_BLOCK) === 0;
  }

  #cutReady(): void {
    while (this.#end - this.#start >= this.#chunker.parameters.max) this.#cutOne();
  }

  #cutAll(): void {
    while (this.#end > this.#start) this.#cutOne();
  }

  #cutOne(): void {
    const pending = this.#buffer.subarray(this.#start, this.#end);
    const length = this.#chunker.cut(pending, 0);
    this.#ids.push(this.#take(pending.subarray(0, length)));
    this.#start += length;
  }
}
