import type { ByteString } from '../../base/byte-path.ts';
import { corrupt } from '../../base/errors.ts';
import { ChunkHasher } from '../../codec/hash.ts';
import type { Namespace } from '../../codec/keys.ts';
import { decodeTreeChunk } from '../../format/tree-decode.ts';
import { MAX_LEVEL, type Entry, type FileEntry, type TreeChunk } from '../../format/tree.ts';
import { requireChunk, type ChunkIndex, type IndexSource } from '../chunk-index.ts';
import { NO_CACHE } from '../metadata-cache.ts';
import type { Repository } from '../repository.ts';
import { SegmentCache } from './segment-reader.ts';
import { ContentBudget } from './tree-bounds.ts';

/**
 * Bytes of raw tree segments in the cache: directories that are near each other in the tree are near each other in the
 * packs.
 */
const CACHE_BYTES = 32 * 1024 * 1024;

interface StoredTrees {
  readonly index: ChunkIndex;
  readonly segments: SegmentCache;
}

/** The name of a tree chunk in a metadata cache. Ids of different namespaces differ, since their keys do. */
export function treeName(id: Buffer): string {
  return `tree/${id.toString('base64url')}`;
}

/** Reads the trees of one namespace; every chunk is hashed and compared with its id. */
export class TreeReader {
  readonly #repository: Repository;
  readonly #index: IndexSource;
  readonly #hasher: ChunkHasher;
  #stored: StoredTrees | undefined;

  /** @param index loaded only when the repository's cache lacks a chunk */
  constructor(repository: Repository, index: IndexSource, namespace: Namespace) {
    this.#repository = repository;
    this.#index = index;
    this.#hasher = new ChunkHasher(repository.keys.idKey('tree', namespace));
  }

  /** @throws {RepositoryError} CORRUPT_DATA when the chunk is missing or damaged */
  async chunk(id: Buffer, signal: AbortSignal): Promise<TreeChunk> {
    const object = `tree ${id.toString('hex')}`;
    const { cache } = this.#repository;
    const kept = cache === NO_CACHE ? undefined : cache.read(treeName(id));
    if (kept !== undefined && this.#hasher.matches(kept, id)) return decodeTreeChunk(kept, object);
    const { index, segments } = await this.#openStored();
    const { pack, segment, offset, length } = requireChunk(index, id);
    const raw = await segments.segment(pack, segment, signal);
    const bytes = raw.subarray(offset, offset + length);
    if (bytes.length !== length || !this.#hasher.matches(bytes, id))
      throw corrupt(object, 'its bytes do not match its id');
    if (cache !== NO_CACHE) cache.keep(treeName(id), bytes);
    return decodeTreeChunk(bytes, object);
  }

  async #openStored(): Promise<StoredTrees> {
    if (this.#stored !== undefined) return this.#stored;
    const { destination, keys } = this.#repository;
    const index = typeof this.#index === 'function' ? await this.#index() : this.#index;
    this.#stored ??= { index, segments: new SegmentCache(destination, keys, index, CACHE_BYTES) };
    return this.#stored;
  }

  /** The entries of a directory in order, one leaf at a time, so that a million of them are never in memory together. */
  async *leaves(
    id: Buffer,
    signal: AbortSignal,
    each: (chunk: Buffer) => void = () => {},
  ): AsyncGenerator<readonly Entry[], void, undefined> {
    let last: ByteString | undefined;
    const unread: { readonly id: Buffer; readonly firstName?: ByteString; readonly below: number }[] = [
      { id, below: MAX_LEVEL + 1 },
    ];
    for (let part = unread.pop(); part !== undefined; part = unread.pop()) {
      each(part.id);
      const chunk = await this.chunk(part.id, signal);
      const object = `tree ${part.id.toString('hex')}`;
      if (chunk.form === 'list' || (chunk.form === 'branch' && chunk.level >= part.below))
        throw corrupt(object, 'it is not a part of a directory');
      const first = chunk.form === 'leaf' ? chunk.entries[0]?.name : chunk.children[0]?.firstName;
      const isFirst = part.firstName === undefined || first === part.firstName;
      // Ascending names mean that no part can come twice, so every directory ends.
      if (!isFirst || (first !== undefined && last !== undefined && !(last < first)))
        throw corrupt(`tree ${id.toString('hex')}`, 'its leaves are out of order');
      if (chunk.form === 'leaf') {
        last = chunk.entries.at(-1)?.name ?? last;
        yield chunk.entries;
        continue;
      }
      const { level } = chunk;
      for (const child of chunk.children.toReversed()) unread.push({ ...child, below: level });
    }
  }

  /**
   * All entries of a directory, in order of their names.
   * @param each receives the id of every chunk of the directory
   */
  async directory(
    id: Buffer,
    signal: AbortSignal,
    each: (chunk: Buffer) => void = () => {},
  ): Promise<readonly Entry[]> {
    const chunk = await this.chunk(id, signal);
    if (chunk.form === 'leaf') {
      each(id);
      return chunk.entries;
    }
    const entries: Entry[] = [];
    for await (const leaf of this.leaves(id, signal, each)) for (const entry of leaf) entries.push(entry);
    return entries;
  }

  /** The ids of a file's data chunks, 24 bytes each, with indirect lists resolved. */
  async contentIds(file: FileEntry, signal: AbortSignal): Promise<Buffer> {
    if (!file.indirect) return file.content;
    const lists: Buffer[] = [];
    for await (const ids of this.lists(file, signal)) lists.push(ids);
    return Buffer.concat(lists);
  }

  /** The lists of an indirect file, one at a time: a file of 1 TiB has 80 MiB of ids. */
  async *lists(file: FileEntry, signal: AbortSignal): AsyncGenerator<Buffer, void, undefined> {
    const budget = new ContentBudget(file);
    for (let at = 0; at < file.content.length; at += 24) {
      const id = file.content.subarray(at, at + 24);
      const chunk = await this.chunk(id, signal);
      if (chunk.form !== 'list') throw corrupt(`tree ${id.toString('hex')}`, 'it is not a list of chunks');
      if (!budget.has(id, chunk.ids.length / 24))
        throw corrupt(`tree ${id.toString('hex')}`, 'a file that names it has more chunks than it can');
      yield chunk.ids;
    }
  }
}
