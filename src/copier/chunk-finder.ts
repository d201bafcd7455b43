import { ChunkHasher } from '../codec/hash.ts';
import type { Namespace } from '../codec/keys.ts';
import type { IndexedPack } from '../format/index-object.ts';
import { eachChunk, isDamage, type KnownPack } from '../repository/chunk-index.ts';
import { ChunkTable, type ChunkLocation } from '../repository/packs/chunk-table.ts';
import { isLostObject } from '../repository/objects/lost-object.ts';
import type { Repository } from '../repository/repository.ts';
import { SegmentCache } from '../repository/contents/segment-reader.ts';

const CACHE_BYTES = 32 * 1024 * 1024;
/**
 * The most places noted for one chunk. Each further one takes a repack or a repair that was followed by damage, so more
 * than this does not occur in an honest repository.
 */
const MOST_PLACES = 16;

/** Where chunks lie. Each table has one place of a chunk; further places are in further tables. */
export interface ChunkPlaces {
  readonly packs: readonly KnownPack[];
  readonly tables: readonly ChunkTable[];
}

/** Every place of every chunk in these packs, since any of them may be the one that is still readable. */
export function everyPlace(indexed: readonly IndexedPack[]): ChunkPlaces {
  const tables: ChunkTable[] = [];
  const take = (ids: Buffer, at: number, location: ChunkLocation): void => {
    for (const table of tables)
      if (table.add(ids, at, location) || table.find(ids, at)?.pack === location.pack) return;
    if (tables.length === MOST_PLACES) return;
    const table = ChunkTable.create(0, indexed.length);
    table.add(ids, at, location);
    tables.push(table);
  };
  return { packs: eachChunk(indexed, take), tables };
}

/** Reads single chunks by their ids, from a repository that may be damaged, or from another one that names chunks alike. */
export class ChunkFinder {
  readonly #tables: readonly ChunkTable[];
  readonly #segments: SegmentCache;
  readonly #hasher: ChunkHasher;

  constructor(repository: Repository, places: ChunkPlaces, of: 'data' | 'tree', namespace: Namespace) {
    this.#tables = places.tables;
    this.#segments = new SegmentCache(repository.destination, repository.keys, places, CACHE_BYTES);
    this.#hasher = new ChunkHasher(repository.keys.idKey(of, namespace));
  }

  /**
   * The chunk's bytes, checked against its id; undefined when they cannot be read here.
   * @throws {DestinationError}
   */
  async find(id: Buffer, signal: AbortSignal): Promise<Buffer | undefined> {
    for (const table of this.#tables) {
      const location = table.find(id);
      const bytes = location && (await this.#read(location, id, signal));
      if (bytes !== undefined) return bytes;
    }
    return undefined;
  }

  async #read(location: ChunkLocation, id: Buffer, signal: AbortSignal): Promise<Buffer | undefined> {
    try {
      const raw = await this.#segments.segment(location.pack, location.segment, signal);
      const bytes = raw.subarray(location.offset, location.offset + location.length);
      return this.#hasher.matches(bytes, id) ? bytes : undefined;
    } catch (error) {
      if (!isDamage(error) && !isLostObject(error)) throw error;
      return undefined;
    }
  }
}
