import { RepositoryError, corrupt } from '../../base/errors.ts';
import type { FileEntry, Hole } from '../../format/tree.ts';
import type { ChunkIndex } from '../../repository/chunk-index.ts';
import { mostChunks } from '../../repository/contents/tree-bounds.ts';
import type { TreeReader } from '../../repository/contents/tree-reader.ts';
import type { ContentPlan } from './content-plan.ts';
import type { EntryRecord, Piece } from '../target/entry-records.ts';

/**
 * Works out where the content of a file comes from, and checks that before anything is made. One object serves many
 * files in turn.
 */
export class FileContent {
  readonly #index: ChunkIndex;
  readonly #plan: ContentPlan;
  #pieces: Omit<Piece, 'id'>[] = [];
  #ids: Buffer = Buffer.alloc(0);
  #idAt: number[] = [];
  #sameSegment = true;
  #endsInHole = false;

  constructor(index: ChunkIndex, plan: ContentPlan) {
    this.#index = index;
    this.#plan = plan;
  }

  get count(): number {
    return this.#pieces.length;
  }
  /** The only segment, when all pieces lie in one. */
  get onlySegment(): number | undefined {
    return this.#sameSegment ? this.#pieces[0]?.segment : undefined;
  }
  /** The length of the file has to be set, as it does not follow from the pieces. */
  get endsInHole(): boolean {
    return this.#endsInHole;
  }

  /** Puts the pieces into a record made for `count` of them. */
  store(record: EntryRecord): void {
    for (const [i, piece] of this.#pieces.entries()) record.setPiece(i, this.#ids, this.#idAt[i] ?? 0, piece);
  }

  /** Plans every piece separately: several threads will write parts of the file. */
  spread(record: EntryRecord, plan: ContentPlan): void {
    const { words, index } = record.remaining;
    words[index] = this.#pieces.length;
    for (const [i, { segment }] of this.#pieces.entries()) plan.addPart(record.handle, i, segment);
  }

  /**
   * @param largest the most bytes of data that a file can have in its directory
   * @throws {RepositoryError} CORRUPT_DATA, LIMIT_EXCEEDED
   */
  async resolve(
    file: FileEntry,
    reader: TreeReader,
    largest: () => number,
    signal: AbortSignal,
  ): Promise<void> {
    const placing = this.#begin(file, largest);
    if (!file.indirect) {
      this.#ids = file.content;
      this.#addIds(file.content, 0, placing);
    } else {
      const lists: Buffer[] = [];
      let length = 0;
      for await (const ids of reader.lists(file, signal)) {
        this.#addIds(ids, length, placing);
        lists.push(ids);
        length += ids.length;
      }
      this.#ids = Buffer.concat(lists, length);
    }
    this.#end(placing);
  }

  /** As `resolve`, for a file with its ids in the entry: nearly always the case, and nothing has to be read for it. */
  resolveDirect(file: FileEntry, largest: () => number): void {
    const placing = this.#begin(file, largest);
    this.#ids = file.content;
    this.#addIds(file.content, 0, placing);
    this.#end(placing);
  }

  #begin(file: FileEntry, largest: () => number): Placing {
    this.#pieces = [];
    this.#idAt = [];
    this.#sameSegment = true;
    const holes = file.holes ?? [];
    const empty = holes.reduce((sum, hole) => sum + hole.length, 0);
    const dataSize = file.size - empty;
    if (dataSize > WORTH_ASKING && dataSize > largest()) {
      throw new RepositoryError(
        'LIMIT_EXCEEDED',
        `Its ${dataSize} bytes are more than the target's file system can hold`,
      );
    }
    return {
      size: file.size,
      holes,
      nextHole: 0,
      position: 0,
      data: 0,
      dataSize,
      chunks: 0,
    };
  }

  #addIds(ids: Buffer, idsStart: number, placing: Placing): void {
    const { table } = this.#index;
    for (let at = 0; at < ids.length; at += ID) {
      const found = table.find(ids, at);
      if (found === undefined) throw corrupt(`chunk ${ids.toString('hex', at, at + ID)}`, 'no pack holds it');
      const { pack, segment, offset, length } = found;
      placing.chunks += 1;
      placing.data += length;
      if (length === 0 || placing.data > placing.dataSize) throw doesNotAddUp();
      // too many small chunks would be an attempt to exhaust the reader
      if (placing.chunks > mostChunks(placing.data, placing.holes.length)) {
        throw new RepositoryError(
          'LIMIT_EXCEEDED',
          'It consists of more chunks than a file of its size can have',
        );
      }
      const number = this.#plan.segmentNumber(pack, segment);
      if (number !== this.#pieces[0]?.segment && this.#pieces.length > 0) this.#sameSegment = false;
      this.#place({ segment: number, offset, length }, idsStart + at, placing);
    }
  }

  /** Lays a chunk into the file, skipping holes. A hole in the middle of a chunk splits it into two pieces. */
  #place(chunk: { segment: number; offset: number; length: number }, idAt: number, placing: Placing): void {
    for (let skip = 0; skip < chunk.length;) {
      skipHoles(placing);
      const hole = placing.holes[placing.nextHole];
      const room = hole === undefined ? Number.POSITIVE_INFINITY : hole.offset - placing.position;
      const take = Math.min(chunk.length - skip, room);
      this.#pieces.push({ ...chunk, skip, take, fileOffset: placing.position });
      this.#idAt.push(idAt);
      placing.position += take;
      skip += take;
    }
  }

  #end(placing: Placing): void {
    this.#endsInHole = false;
    const dataEnd = placing.position;
    skipHoles(placing);
    if (placing.data !== placing.dataSize || placing.position !== placing.size) throw doesNotAddUp();
    this.#endsInHole = placing.size > dataEnd;
  }
}

const ID = 24;
/** For files up to this size the file system is not asked how much it can hold. */
const WORTH_ASKING = 64 * 1024 ** 3;

/** The progress of laying out a file. */
interface Placing {
  readonly size: number;
  readonly holes: readonly Hole[];
  nextHole: number;
  position: number;
  /** Bytes of chunks so far; in the end they must equal `dataSize`. */
  data: number;
  readonly dataSize: number;
  chunks: number;
}

function skipHoles(placing: Placing): void {
  for (;;) {
    const hole = placing.holes[placing.nextHole];
    if (hole === undefined || hole.offset > placing.position) return;
    placing.position = hole.offset + hole.length;
    placing.nextHole += 1;
  }
}

function doesNotAddUp(): RepositoryError {
  return new RepositoryError('CORRUPT_DATA', 'Its size, its chunks and its holes do not add up');
}
