import { ChunkHasher } from '../codec/hash.ts';
import type { Namespace } from '../codec/keys.ts';
import { isDamage, type ChunkIndex } from '../repository/chunk-index.ts';
import type { Repository } from '../repository/repository.ts';
import { SegmentCache } from '../repository/segment-reader.ts';

const CACHE_BYTES = 32 * 1024 * 1024;

/** Looks for single chunks by their ids, in a repository that may be damaged, or another one that names them alike. */
export class ChunkFinder {
  readonly #index: ChunkIndex;
  readonly #segments: SegmentCache;
  readonly #hasher: ChunkHasher;

  constructor(repository: Repository, index: ChunkIndex, of: 'data' | 'tree', namespace: Namespace) {
    this.#index = index;
    this.#segments = new SegmentCache(repository.destination, repository.keys, index, CACHE_BYTES);
    this.#hasher = new ChunkHasher(repository.keys.idKey(of, namespace));
  }

  /** The chunk's bytes, checked against its id; undefined when they cannot be had here. @throws {DestinationError} */
  async find(id: Buffer, signal: AbortSignal): Promise<Buffer | undefined> {
    const location = this.#index.table.find(id);
    if (location === undefined) return undefined;
    try {
      const raw = await this.#segments.segment(location.pack, location.segment, signal);
      const bytes = raw.subarray(location.offset, location.offset + location.length);
      return this.#hasher.matches(bytes, id) ? bytes : undefined;
    } catch (error) {
      if (!isDamage(error)) throw error;
      return undefined;
    }
  }
}
