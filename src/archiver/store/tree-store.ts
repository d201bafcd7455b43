import { ChunkHasher } from '../../codec/hash.ts';
import { DEFAULT_COMPRESSION, type Compression } from '../../codec/compress.ts';
import type { Namespace } from '../../codec/keys.ts';
import { CIPHER_GCM, CIPHER_PLAIN } from '../../format/header.ts';
import { encodeList } from '../../format/tree-encode.ts';
import { INLINE_IDS, LIST_IDS } from '../../format/tree.ts';
import type { ChunkTable } from '../../repository/packs/chunk-table.ts';
import { NO_CACHE, type MetadataCache } from '../../repository/metadata-cache.ts';
import { PackWriter } from '../../repository/packs/pack-writer.ts';
import type { Repository } from '../../repository/repository.ts';
import { treeName } from '../../repository/contents/tree-reader.ts';
import type { PackStore } from './pack-store.ts';

/** Tree packs on their way to the destination before the walk has to wait. */
const PACKS_IN_FLIGHT = 1;

/** Stores tree chunks in packs of their own. */
export class TreeStore {
  readonly #table: ChunkTable;
  readonly #writer: PackWriter;
  readonly #hasher: ChunkHasher;
  readonly #store: PackStore;
  readonly #cache: MetadataCache;
  #inFlight = 0;
  readonly #free: Buffer[] = [];
  /** Bytes of tree chunks that were new. */
  newBytes = 0;

  constructor(
    repository: Repository,
    table: ChunkTable,
    store: PackStore,
    options: { namespace: Namespace; compression: Compression },
  ) {
    this.#table = table;
    this.#store = store;
    this.#cache = repository.cache;
    const { packTarget, segmentTarget } = repository.config;
    const idKey = repository.keys.idKey('tree', options.namespace);
    this.#hasher = new ChunkHasher(idKey);
    this.#writer = new PackWriter({
      keys: repository.keys,
      kind: 'tree',
      cipher: options.namespace.plain ? CIPHER_PLAIN : CIPHER_GCM,
      idKey,
      packTarget,
      segmentTarget,
      compression: options.compression.kind === 'none' ? options.compression : DEFAULT_COMPRESSION,
      take: (capacity) => {
        const free = this.#free.pop();
        return free !== undefined && free.length >= capacity ? free : Buffer.allocUnsafeSlow(capacity);
      },
      emit: ({ name, bytes, indexEntry }) => {
        this.#inFlight += 1;
        store.store({ name, bytes, indexEntry }, () => {
          this.#inFlight -= 1;
          this.#free.push(Buffer.from(bytes.buffer));
        });
      },
    });
  }

  /** Keeps one tree chunk; returns its id. */
  readonly put = (chunk: Buffer): Buffer => {
    const id = this.#hasher.id(chunk);
    if (this.#table.claim(id)) {
      this.#writer.append(id, chunk);
      this.newBytes += chunk.length;
    }
    // The next backup reads this chunk, whether or not it was new to the repository.
    if (this.#cache !== NO_CACHE) this.#cache.keep(treeName(id), chunk);
    return id;
  };

  /** The content field of a file with these data chunks: the ids themselves, or the lists that hold them. */
  content(ids: Buffer): { content: Buffer; indirect: boolean } {
    if (ids.length <= INLINE_IDS * 24) return { content: ids, indirect: false };
    const lists: Buffer[] = [];
    for (let at = 0; at < ids.length; at += LIST_IDS * 24) {
      lists.push(this.put(encodeList(ids.subarray(at, Math.min(ids.length, at + LIST_IDS * 24)))));
    }
    return { content: Buffer.concat(lists), indirect: true };
  }

  /** Waits while too many tree packs are under way. */
  async room(signal: AbortSignal): Promise<void> {
    while (this.#inFlight > PACKS_IN_FLIGHT) {
      signal.throwIfAborted();
      await this.#store.oneStored();
    }
  }

  finish(): void {
    this.#writer.finish();
  }
}
