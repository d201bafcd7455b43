import type { PackStore } from '../archiver/store/pack-store.ts';
import { DEFAULT_COMPRESSION } from '../codec/compress.ts';
import { ID_BYTES } from '../codec/hash.ts';
import type { Namespace } from '../codec/keys.ts';
import { CIPHER_GCM, CIPHER_PLAIN } from '../format/header.ts';
import type { IndexedPack } from '../format/index-object.ts';
import { decodeTreeChunk } from '../format/tree-decode.ts';
import type { Entry } from '../format/tree.ts';
import type { ChunkIndex } from '../repository/chunk-index.ts';
import { PackWriter } from '../repository/packs/pack-writer.ts';
import type { Repository } from '../repository/repository.ts';
import type { Snapshot } from '../repository/snapshots.ts';
import { ChunkFinder, everyPlace, type ChunkPlaces } from './chunk-finder.ts';

/** Number of hex digits of the part of an id that index objects keep. */
const SHORT_ID_DIGITS = 32;

export interface HealingParts {
  readonly repository: Repository;
  readonly other: Repository;
  /** Index without damaged packs and those marked for deletion. */
  readonly sound: ChunkIndex;
  /** The damaged packs, and those that are marked for deletion. */
  readonly unsound: readonly IndexedPack[];
  readonly otherIndex: ChunkIndex;
  readonly store: PackStore;
}

interface KindOfChunk {
  /** Where to look, in this order, for a chunk that no sound pack holds. */
  readonly finders: readonly ChunkFinder[];
  readonly writer: PackWriter;
}

interface NamespaceHealing {
  readonly data: KindOfChunk;
  readonly tree: KindOfChunk;
  /** Reads trees from sound packs. */
  readonly treeFinder: ChunkFinder;
  /** Whether everything below a tree chunk is available by now, by its id. */
  readonly whole: Map<string, boolean>;
}

/** Follows trees and stores again every chunk that no sound pack holds. Each tree chunk is looked at once. */
export class Healing {
  readonly #parts: HealingParts;
  readonly #namespaces = new Map<string, NamespaceHealing>();
  readonly #unsound: ChunkPlaces;
  /** Ids of the chunks that were not found anywhere. */
  readonly lost = new Set<string>();
  /** Raw bytes that were stored. */
  bytes = 0;

  constructor(parts: HealingParts) {
    this.#parts = parts;
    this.#unsound = everyPlace(parts.unsound);
  }

  /** The packs that hold lost chunks: a part of these may still be recoverable by hand. */
  get lostIn(): ReadonlySet<string> {
    const lost = new Set([...this.lost].map((id) => id.slice(0, SHORT_ID_DIGITS)));
    const isLost = (id: Buffer): boolean => lost.has(id.toString('hex', 0, SHORT_ID_DIGITS / 2));
    const holding = this.#parts.unsound.filter(({ directory: { ids, idBytes } }) =>
      [...idsIn(ids, idBytes)].some(isLost),
    );
    return new Set(holding.map(({ name }) => name));
  }

  /**
   * Restores what a snapshot lacks. True when it is whole afterwards.
   * @throws {DestinationError}
   */
  async heal({ record }: Snapshot, signal: AbortSignal): Promise<boolean> {
    const { plain, salt } = record;
    const key = `${plain}/${salt?.toString('hex') ?? ''}`;
    const namespace = this.#namespaces.get(key) ?? this.#open({ plain, salt });
    this.#namespaces.set(key, namespace);
    return await this.#healTree(namespace, record.root, signal);
  }

  finish(): void {
    for (const { data, tree } of this.#namespaces.values()) {
      data.writer.finish();
      tree.writer.finish();
    }
  }

  async #healTree(namespace: NamespaceHealing, id: Buffer, signal: AbortSignal): Promise<boolean> {
    const key = id.toString('hex');
    const known = namespace.whole.get(key);
    if (known !== undefined) return known;
    signal.throwIfAborted();
    // Otherwise a tree that contained itself would be followed for ever.
    namespace.whole.set(key, true);
    const bytes =
      (await namespace.treeFinder.find(id, signal)) ?? (await this.#restore(namespace.tree, id, signal));
    const isWhole = bytes !== undefined && (await this.#healBelow(namespace, bytes, key, signal));
    namespace.whole.set(key, isWhole);
    return isWhole;
  }

  async #healBelow(
    namespace: NamespaceHealing,
    bytes: Buffer,
    key: string,
    signal: AbortSignal,
  ): Promise<boolean> {
    const chunk = decodeTreeChunk(bytes, `tree ${key}`);
    let isWhole = true;
    const all = async (parts: AsyncIterable<boolean> | Iterable<Promise<boolean>>): Promise<void> => {
      for await (const one of parts) isWhole &&= one;
    };
    if (chunk.form === 'list') await all(this.#healData(namespace, chunk.ids, signal));
    else if (chunk.form === 'branch')
      await all(each(chunk.children, async (child) => await this.#healTree(namespace, child.id, signal)));
    else await all(each(chunk.entries, async (entry) => await this.#healEntry(namespace, entry, signal)));
    return isWhole;
  }

  async #healEntry(namespace: NamespaceHealing, entry: Entry, signal: AbortSignal): Promise<boolean> {
    if (entry.type === 'directory') return await this.#healTree(namespace, entry.id, signal);
    if (entry.type !== 'file') return true;
    let isWhole = true;
    const parts = entry.indirect
      ? each(idsIn(entry.content), async (id) => await this.#healTree(namespace, id, signal))
      : this.#healData(namespace, entry.content, signal);
    for await (const one of parts) isWhole &&= one;
    return isWhole;
  }

  async *#healData(
    { data }: NamespaceHealing,
    ids: Buffer,
    signal: AbortSignal,
  ): AsyncGenerator<boolean, void, undefined> {
    for (const id of idsIn(ids)) {
      const isThere = this.#parts.sound.table.slotOf(id) >= 0;
      yield isThere || (await this.#restore(data, id, signal)) !== undefined;
    }
  }

  /** Stores a chunk again; undefined when it is not found anywhere. */
  async #restore(kind: KindOfChunk, id: Buffer, signal: AbortSignal): Promise<Buffer | undefined> {
    const { sound, store } = this.#parts;
    for (const finder of kind.finders) {
      const bytes = await finder.find(id, signal);
      if (bytes === undefined) continue;
      if (sound.table.claim(id)) {
        kind.writer.append(id, bytes);
        this.bytes += bytes.length;
      }
      while (store.inFlight > 1) await store.oneStored();
      store.throwIfFailed();
      return bytes;
    }
    this.lost.add(id.toString('hex'));
    return undefined;
  }

  #open(namespace: Namespace): NamespaceHealing {
    const { repository, sound } = this.#parts;
    return {
      data: this.#kind('data', namespace),
      tree: this.#kind('tree', namespace),
      treeFinder: new ChunkFinder(repository, onePlace(sound), 'tree', namespace),
      whole: new Map(),
    };
  }

  #kind(kind: 'data' | 'tree', namespace: Namespace): KindOfChunk {
    const { repository, other, otherIndex, store } = this.#parts;
    const { keys, config } = repository;
    const idKey = keys.idKey(kind, namespace);
    const isAlike = idKey.equals(other.keys.idKey(kind, namespace));
    return {
      finders: [
        ...(isAlike ? [new ChunkFinder(other, onePlace(otherIndex), kind, namespace)] : []),
        new ChunkFinder(repository, this.#unsound, kind, namespace),
      ],
      writer: new PackWriter({
        keys,
        kind,
        cipher: namespace.plain ? CIPHER_PLAIN : CIPHER_GCM,
        idKey,
        packTarget: config.packTarget,
        segmentTarget: config.segmentTarget,
        compression: DEFAULT_COMPRESSION,
        take: (capacity) => Buffer.allocUnsafeSlow(capacity),
        emit: ({ name, bytes, indexEntry }) => store.store({ name, bytes, indexEntry }, () => {}),
      }),
    };
  }
}

function onePlace({ packs, table }: ChunkIndex): ChunkPlaces {
  return { packs, tables: [table] };
}

function* idsIn(ids: Buffer, idBytes = ID_BYTES): Generator<Buffer, void, undefined> {
  for (let at = 0; at < ids.length; at += idBytes) yield ids.subarray(at, at + idBytes);
}

async function* each<T>(
  items: Iterable<T>,
  work: (item: T) => Promise<boolean>,
): AsyncGenerator<boolean, void, undefined> {
  for (const item of items) yield await work(item);
}
