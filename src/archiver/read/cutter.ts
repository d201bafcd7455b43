import type { Chunker } from '../../codec/chunker.ts';
import type { Hole } from '../../format/tree.ts';

/** Zero bytes are looked for in blocks of this size, aligned to file offsets. */
const ZERO_BLOCK = 65_536;
/** The most holes that one file may have. With these its entry stays below 5 MiB, where a tree chunk may have 8 MiB. */
export const MAX_HOLES = 524_288;
const ZEROS = Buffer.alloc(ZERO_BLOCK);

/** Content of a file, or of a span of it, cut into chunks and holes. */
export interface CutContent {
  readonly ids: Buffer[];
  readonly holes: Hole[];
}

/**
 * Cuts bytes that arrive in order, in parts of any size, into chunks. Aligned blocks of zeros become holes. What lies
 * between two holes is cut by content.
 */
export class Cutter {
  readonly #chunker: Chunker;
  readonly #take: (chunk: Buffer) => Buffer;
  readonly #buffer: Buffer;
  /** Offset in the buffer of the first byte that is waiting to be cut. */
  #start = 0;
  /** End of the bytes that are known not to be part of a hole. */
  #run = 0;
  /** End of the bytes that have arrived. */
  #end = 0;
  #ids: Buffer[] = [];
  #holes: { offset: number; length: number }[] = [];
  #maxHoles = MAX_HOLES;

  /** @param take stores one chunk and returns its id; the bytes are valid during the call only */
  constructor(chunker: Chunker, take: (chunk: Buffer) => Buffer) {
    this.#chunker = chunker;
    this.#take = take;
    this.#buffer = Buffer.allocUnsafeSlow(chunker.parameters.max * 2 + ZERO_BLOCK);
  }

  /** Limits the number of holes until `finish`. A file that is cut in spans needs this, as all its holes are in one entry. */
  limitHoles(count: number): void {
    this.#maxHoles = count;
  }

  /** False when a hole at `offset` would exceed the limit: its zeros are then read like any data. */
  takesHole(offset: number): boolean {
    const last = this.#holes.at(-1);
    return (
      this.#holes.length < this.#maxHoles || (last !== undefined && last.offset + last.length === offset)
    );
  }

  /**
   * Room for the next bytes of the file: at least one byte, at most as much as keeps later reads aligned to blocks.
   * @param offset file offset of the next byte
   */
  room(offset: number): Buffer {
    if (this.#start > 0) {
      this.#buffer.copyWithin(0, this.#start, this.#end);
      this.#run -= this.#start;
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
    let position = offset - (this.#end - this.#run);
    this.#end += length;
    for (;;) {
      const block = ZERO_BLOCK - (position % ZERO_BLOCK);
      // Whether a block is a hole is decided once all of it has arrived, so the result does not depend on the size of
      // the parts.
      if (this.#end - this.#run < block) return;
      if (block === ZERO_BLOCK && this.#isZero(this.#run) && this.takesHole(position)) {
        this.#cutAll();
        this.#addHole(position, block);
        this.#start = this.#run + block;
      }
      this.#run += block;
      position += block;
      while (this.#run - this.#start >= this.#chunker.parameters.max) this.#cutOne();
    }
  }

  /** Takes a hole that the file system reported; it ends the run of bytes before it. */
  hole(offset: number, length: number): void {
    this.#run = this.#end;
    this.#cutAll();
    this.#addHole(offset, length);
  }

  /** Ends the file or span. */
  finish(): CutContent {
    this.#run = this.#end;
    this.#cutAll();
    const content = { ids: this.#ids, holes: this.#holes };
    this.#ids = [];
    this.#holes = [];
    this.#maxHoles = MAX_HOLES;
    this.#start = 0;
    this.#run = 0;
    this.#end = 0;
    return content;
  }

  #isZero(at: number): boolean {
    return this.#buffer[at] === 0 && this.#buffer.compare(ZEROS, 0, ZERO_BLOCK, at, at + ZERO_BLOCK) === 0;
  }

  #addHole(offset: number, length: number): void {
    const last = this.#holes.at(-1);
    if (last !== undefined && last.offset + last.length === offset) last.length += length;
    else this.#holes.push({ offset, length });
  }

  #cutAll(): void {
    while (this.#run > this.#start) this.#cutOne();
  }

  #cutOne(): void {
    const pending = this.#buffer.subarray(this.#start, this.#run);
    const length = this.#chunker.cut(pending, 0);
    this.#ids.push(this.#take(pending.subarray(0, length)));
    this.#start += length;
  }
}
