import { textOfBytes } from '../base/byte-path.ts';
import { RequestError, corrupt } from '../base/errors.ts';
import { ChunkHasher } from '../codec/hash.ts';
import type { Namespace } from '../codec/keys.ts';
import type { FileEntry } from '../format/tree.ts';
import { requireChunk, type ChunkIndex } from '../repository/chunk-index.ts';
import type { ChunkLocation } from '../repository/packs/chunk-table.ts';
import type { Repository } from '../repository/repository.ts';
import { SegmentCache } from '../repository/contents/segment-reader.ts';
import type { Snapshot } from '../repository/snapshots.ts';
import { TreeReader } from '../repository/contents/tree-reader.ts';

/** Part of a file, in bytes from its start. What lies beyond the end of the file is ignored. */
export interface FileRange {
  readonly offset: number;
  readonly length: number;
}

/** Raw segments to keep: small files of one directory lie in few segments, and chunks may repeat. */
const CACHE_BYTES = 32 * 1024 * 1024;
/** Segments fetched and opened ahead of their use. */
const SEGMENTS_AHEAD = 3;
/** Parts of a file planned ahead, of any kind: holes and tiny chunks take no segment of their own. */
const PIECES_AHEAD = 64;
const LONGEST_ZEROS = 1024 * 1024;

/**
 * The bytes of a file, or of a part of it, in order.
 * @throws {RepositoryError} CORRUPT_DATA
 * @throws {RequestError} INVALID_RANGE
 */
export function fileContent(
  repository: Repository,
  index: ChunkIndex,
  snapshot: Snapshot,
  file: FileEntry,
  range: FileRange | undefined,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void, undefined> {
  return new ContentReader(repository, index, snapshot.record).read(file, range, signal);
}

/** Reads files of one namespace, one after the other. Recently read segments are kept for the next files. */
export class ContentReader {
  readonly #index: ChunkIndex;
  readonly #trees: TreeReader;
  readonly #hasher: ChunkHasher;
  readonly #cache: SegmentCache;

  constructor(repository: Repository, index: ChunkIndex, { plain, salt }: Namespace) {
    const namespace = { plain, salt };
    this.#index = index;
    this.#trees = new TreeReader(repository, index, namespace);
    this.#hasher = new ChunkHasher(repository.keys.idKey('data', namespace));
    this.#cache = new SegmentCache(repository.destination, repository.keys, index, CACHE_BYTES);
  }

  /**
   * The file's bytes in buffers of at most one chunk, each checked against its id. Only segments with chunks in the
   * range are fetched. The buffers are views of larger ones, so copy what is to be kept.
   * @throws {RepositoryError} CORRUPT_DATA, also when chunks and holes do not add up to the size of the file
   * @throws {RequestError} INVALID_RANGE
   */
  async *read(
    file: FileEntry,
    range: FileRange | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<Buffer, void, undefined> {
    const pieces = this.#pieces(file, clip(range, file.size), signal);
    const ahead: { readonly piece: Piece; readonly segment: Promise<Buffer> | undefined }[] = [];
    let segmentsAhead = 0;
    let planned = false;
    try {
      for (;;) {
        while (!planned && segmentsAhead < SEGMENTS_AHEAD && ahead.length < PIECES_AHEAD) {
          const { value: piece, done } = await pieces.next();
          planned = done === true;
          if (piece === undefined) break;
          const last = ahead.at(-1);
          const shared = last !== undefined && sameSegment(last.piece, piece) ? last.segment : undefined;
          if (piece.chunk !== undefined && shared === undefined) segmentsAhead += 1;
          ahead.push({ piece, segment: shared ?? this.#prefetch(piece, signal) });
        }
        const next = ahead.shift();
        if (next === undefined) return;
        const { piece, segment } = next;
        if (piece.chunk === undefined || segment === undefined) {
          yield* zeros(piece.length);
          continue;
        }
        const following = ahead[0];
        if (following === undefined || following.segment !== segment) segmentsAhead -= 1;
        signal.throwIfAborted();
        yield this.#bytesOf(piece.chunk, await segment).subarray(piece.from, piece.from + piece.length);
      }
    } finally {
      await pieces.return();
    }
  }

  /**
   * Starts fetching the segment with the first bytes of a file that will be read soon. Returns a name for the segment;
   * undefined when there is nothing to fetch.
   */
  prefetch(file: FileEntry, signal: AbortSignal): string | undefined {
    const id = file.content.subarray(0, 24);
    const location = file.indirect || id.length === 0 ? undefined : this.#index.table.find(id);
    if (location === undefined) return undefined;
    void this.#prefetch({ from: 0, length: 0, chunk: { id, location } }, signal);
    return `${location.pack}/${location.segment}`;
  }

  #prefetch({ chunk }: Piece, signal: AbortSignal): Promise<Buffer> | undefined {
    if (chunk === undefined) return undefined;
    const segment = this.#cache.segment(chunk.location.pack, chunk.location.segment, signal);
    // The consumer of the piece gets the error. If there is none any more, the rejection must not end the process.
    segment.catch(() => {});
    return segment;
  }

  #bytesOf({ id, location }: PieceChunk, segment: Buffer): Buffer {
    const bytes = segment.subarray(location.offset, location.offset + location.length);
    if (bytes.length !== location.length || !this.#hasher.id(bytes).equals(id)) {
      throw corrupt(`chunk ${id.toString('hex')}`, 'its bytes do not match its id');
    }
    return bytes;
  }

  /** The chunks and holes of the file in order, cut to the range. */
  async *#pieces(
    file: FileEntry,
    { start, end }: { start: number; end: number },
    signal: AbortSignal,
  ): AsyncGenerator<Piece, void, undefined> {
    const holes = file.holes ?? [];
    let nextHole = 0;
    let at = 0;
    const cut = (length: number, from: number, chunk: PieceChunk | undefined): Piece | undefined => {
      const first = Math.max(at, start);
      const behind = Math.min(at + length, end);
      at += length;
      return first < behind
        ? { from: from + first - (at - length), length: behind - first, chunk }
        : undefined;
    };
    for await (const ids of this.#contentIds(file, signal)) {
      for (let i = 0; i < ids.length; i += 24) {
        const id = ids.subarray(i, i + 24);
        const location = requireChunk(this.#index, id);
        let from = 0;
        while (from < location.length) {
          const hole = holes[nextHole];
          const isHole = hole?.offset === at;
          const length = isHole
            ? hole.length
            : Math.min(location.length - from, (hole?.offset ?? Infinity) - at);
          const piece = isHole ? cut(length, 0, undefined) : cut(length, from, { id, location });
          if (isHole) nextHole += 1;
          else from += length;
          if (piece !== undefined) yield piece;
        }
        if (at > file.size) throw wrongSize(file, at);
        if (at >= end && end < file.size) return;
      }
    }
    for (const hole of holes.slice(nextHole)) {
      if (hole.offset !== at) break;
      const piece = cut(hole.length, 0, undefined);
      if (piece !== undefined) yield piece;
    }
    if (at !== file.size) throw wrongSize(file, at);
  }

  /** The ids of a file's chunks; a long content is yielded list by list. */
  async *#contentIds(file: FileEntry, signal: AbortSignal): AsyncGenerator<Buffer, void, undefined> {
    if (!file.indirect) {
      yield file.content;
      return;
    }
    yield* this.#trees.lists(file, signal);
  }
}

interface PieceChunk {
  readonly id: Buffer;
  readonly location: ChunkLocation;
}

/** A hole, or `length` bytes from `from` of a chunk. */
interface Piece {
  readonly from: number;
  readonly length: number;
  readonly chunk: PieceChunk | undefined;
}

function sameSegment(a: Piece, b: Piece): boolean {
  if (a.chunk === undefined || b.chunk === undefined) return false;
  const [{ location: left }, { location: right }] = [a.chunk, b.chunk];
  return left.pack === right.pack && left.segment === right.segment;
}

function clip(range: FileRange | undefined, size: number): { start: number; end: number } {
  if (range === undefined) return { start: 0, end: size };
  const { offset, length } = range;
  if (!Number.isSafeInteger(offset) || !Number.isSafeInteger(length) || offset < 0 || length < 0) {
    throw new RequestError('INVALID_RANGE', `${length} bytes from ${offset} on are not a part of a file`, {
      hint: 'Give whole numbers that are not negative.',
    });
  }
  return { start: Math.min(offset, size), end: Math.min(offset + length, size) };
}

function* zeros(length: number): Generator<Buffer, void, undefined> {
  for (let left = length; left > 0; left -= LONGEST_ZEROS) yield Buffer.alloc(Math.min(left, LONGEST_ZEROS));
}

function wrongSize(file: FileEntry, found: number): Error {
  return corrupt(
    `file ${textOfBytes(file.name)}`,
    `its chunks and holes make ${found} bytes, its size is ${file.size}`,
  );
}
