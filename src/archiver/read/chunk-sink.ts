import { ChunkHasher } from '../../codec/hash.ts';
import type { ChunkTable } from '../../repository/packs/chunk-table.ts';
import type { PackWriter } from '../../repository/packs/pack-writer.ts';

/** Takes the chunks of files: names each, looks it up, and stores it unless another thread has claimed it. */
export class ChunkSink {
  readonly #hasher: ChunkHasher;
  readonly #table: ChunkTable;
  readonly #writer: PackWriter;
  /** Bytes of chunks that were new. */
  newBytes = 0;

  constructor(idKey: Buffer, table: ChunkTable, writer: PackWriter) {
    this.#hasher = new ChunkHasher(idKey);
    this.#table = table;
    this.#writer = writer;
  }

  /** Room in the open segment for a small file, so that it is read to where it will be compressed. */
  reserve(length: number): Buffer {
    return this.#writer.reserve(length);
  }

  /** Takes the first `length` bytes of the reserved room as a chunk; returns its id. */
  takeReserved(room: Buffer, length: number): Buffer {
    const id = this.#hasher.id(room.subarray(0, length));
    if (this.#table.claim(id)) {
      this.#writer.commit(id, length);
      this.newBytes += length;
    }
    return id;
  }

  /** Takes a chunk that is not in reserved room; returns its id. */
  take(chunk: Buffer): Buffer {
    const id = this.#hasher.id(chunk);
    if (this.#table.claim(id)) {
      this.#writer.append(id, chunk);
      this.newBytes += chunk.length;
    }
    return id;
  }

  finish(): void {
    this.#writer.finish();
  }
}
