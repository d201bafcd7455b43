import type { PackStore } from '../archiver/store/pack-store.ts';
import { corrupt, RepositoryError } from '../base/errors.ts';
import type { Compression } from '../codec/compress.ts';
import { ChunkHasher, ID_BYTES } from '../codec/hash.ts';
import type { Namespace } from '../codec/keys.ts';
import { CIPHER_GCM, CIPHER_PLAIN } from '../format/header.ts';
import type { ChunkIndex } from '../repository/chunk-index.ts';
import { fetchSegment, SegmentOpener } from '../repository/contents/segment-reader.ts';
import { isUnending } from '../repository/contents/tree-bounds.ts';
import { corruptBy, isLostObject } from '../repository/objects/lost-object.ts';
import { mapParallel } from '../repository/objects/parallel.ts';
import type { ChunkTable } from '../repository/packs/chunk-table.ts';
import { PackWriter } from '../repository/packs/pack-writer.ts';
import type { Repository } from '../repository/repository.ts';

/** Packs on their way to the target while the next one fills. */
const PACKS_IN_FLIGHT = 1;
/** Segments fetched at once: as many as keep the connection to a far destination busy, at 2 MiB each. */
const MOST_FETCHES = 16;

export interface ChunkCopyParts {
  readonly from: Repository;
  readonly fromIndex: ChunkIndex;
  readonly to: Repository;
  readonly toTable: ChunkTable;
  readonly store: PackStore;
  readonly namespace: Namespace;
  readonly compression: Compression;
}

/** Copies the data chunks of one namespace. A segment of the source is fetched and opened once for all chunks in it. */
export class ChunkCopy {
  readonly #parts: ChunkCopyParts;
  /** Both repositories name chunks alike, so chunks that the target has need not be read. */
  readonly #isAlike: boolean;
  readonly #fromHasher: ChunkHasher;
  readonly #toHasher: ChunkHasher;
  readonly #writer: PackWriter;
  readonly #free: Buffer[] = [];
  /** Chunks to be copied: ids by slot in the source's table. */
  #wanted = new Map<number, Buffer>();
  /** Ids in the target, by slot in the source's table; empty when both name chunks alike. */
  readonly #ids = new Map<number, Buffer>();
  #failure: unknown;
  /** Raw bytes of the chunks that were new to the target. */
  newBytes = 0;

  constructor(parts: ChunkCopyParts) {
    const { from, to, store, namespace, compression } = parts;
    this.#parts = parts;
    const fromKey = from.keys.idKey('data', namespace);
    const idKey = to.keys.idKey('data', namespace);
    this.#isAlike = fromKey.equals(idKey);
    this.#fromHasher = new ChunkHasher(fromKey);
    this.#toHasher = new ChunkHasher(idKey);
    const { packTarget, segmentTarget } = to.config;
    this.#writer = new PackWriter({
      keys: to.keys,
      kind: 'data',
      cipher: namespace.plain ? CIPHER_PLAIN : CIPHER_GCM,
      idKey,
      packTarget,
      segmentTarget,
      compression,
      take: (capacity) => {
        const free = this.#free.pop();
        return free !== undefined && free.length >= capacity ? free : Buffer.allocUnsafeSlow(capacity);
      },
      emit: ({ name, bytes, indexEntry }) => {
        store.store({ name, bytes, indexEntry }, () => this.#free.push(Buffer.from(bytes.buffer)));
      },
    });
  }

  /**
   * Notes chunks that are needed.
   * @param ids 24 bytes each
   * @throws {RepositoryError} CORRUPT_DATA when the source does not have one
   */
  need(ids: Buffer): void {
    for (let at = 0; at < ids.length; at += ID_BYTES) {
      const slot = this.#slotOf(ids, at);
      if (this.#wanted.has(slot) || this.#ids.has(slot)) continue;
      const id = ids.subarray(at, at + ID_BYTES);
      if (this.#isAlike && this.#isThere(id)) continue;
      this.#wanted.set(slot, id);
    }
  }

  /** Raw bytes that `run` will read. */
  get wantedBytes(): number {
    const { table } = this.#parts.fromIndex;
    return [...this.#wanted.keys()].reduce((sum, slot) => sum + table.locationAt(slot).length, 0);
  }

  /**
   * Copies the chunks noted since the last call.
   * @param read called with the raw bytes copied from each segment
   * @throws {SourceDamage} {RepositoryError} {DestinationError}
   */
  async run(read: (bytes: number) => void, signal: AbortSignal): Promise<void> {
    const { from, fromIndex, store } = this.#parts;
    const opener = new SegmentOpener(from.keys);
    const segments = this.#bySegment();
    const limit = Math.min(MOST_FETCHES, from.destination.properties.maxParallel);
    await mapParallel(segments, limit, async ({ pack, segment, slots }) => {
      signal.throwIfAborted();
      while (store.inFlight > PACKS_IN_FLIGHT) await store.oneStored();
      store.throwIfFailed();
      const known = fromIndex.packs[pack];
      if (known === undefined) throw corrupt(`pack number ${pack}`, 'it is not in the index');
      const raw = await reading(async () => {
        const sealed = await fetchSegment(from.destination, known, segment, signal);
        return opener.open(known, segment, sealed);
      });
      read(slots.reduce((sum, slot) => sum + this.#copy(slot, raw), 0));
    });
    this.#wanted = new Map();
  }

  /** The ids in the target of chunks that were copied or existed there. */
  idsOf(ids: Buffer): Buffer {
    if (this.#isAlike) return ids;
    const mapped = Buffer.allocUnsafe(ids.length);
    for (let at = 0; at < ids.length; at += ID_BYTES) {
      const id = this.#ids.get(this.#slotOf(ids, at));
      if (id === undefined) throw corrupt(nameOf(ids, at), 'it was not copied');
      id.copy(mapped, at);
    }
    return mapped;
  }

  /**
   * Stores the last pack.
   * @throws the error that kept a claimed chunk from being stored, even if another error was reported in the meantime
   */
  finish(): void {
    if (this.#failure !== undefined) throw this.#failure;
    this.#writer.finish();
  }

  #slotOf(ids: Buffer, at: number): number {
    const slot = this.#parts.fromIndex.table.slotOf(ids, at);
    if (slot < 0) throw corrupt(nameOf(ids, at), 'no pack holds it');
    return slot;
  }

  /** Returns the chunk's length. */
  #copy(slot: number, raw: Buffer): number {
    const { fromIndex, toTable } = this.#parts;
    const { offset, length } = fromIndex.table.locationAt(slot);
    const chunk = raw.subarray(offset, offset + length);
    const id = this.#wanted.get(slot);
    if (id === undefined || chunk.length !== length || !this.#fromHasher.matches(chunk, id))
      throw new SourceDamage(
        corrupt(id === undefined ? 'a chunk' : nameOf(id, 0), 'its bytes do not match its id'),
      );
    const own = this.#isAlike ? id : this.#toHasher.id(chunk);
    if (!this.#isAlike) this.#ids.set(slot, own);
    if (toTable.claim(own)) {
      this.#append(own, chunk);
    }
    return length;
  }

  #append(id: Buffer, chunk: Buffer): void {
    try {
      this.#writer.append(id, chunk);
    } catch (error) {
      this.#failure ??= error;
      throw error;
    }
    this.newBytes += chunk.length;
  }

  /**
   * Whether the target has the chunk; if so this run relies on its pack. A missing chunk is only claimed once it has
   * been read.
   */
  #isThere(id: Buffer): boolean {
    const { toTable } = this.#parts;
    return toTable.slotOf(id) >= 0 && !toTable.claim(id);
  }

  /** The wanted chunks by segment, in the order in which they lie in the source. */
  #bySegment(): readonly SegmentChunks[] {
    const segments = new Map<string, SegmentChunks>();
    for (const slot of this.#wanted.keys()) {
      const { pack, segment } = this.#parts.fromIndex.table.locationAt(slot);
      const key = `${pack}/${segment}`;
      const known = segments.get(key) ?? { pack, segment, slots: [] };
      known.slots.push(slot);
      segments.set(key, known);
    }
    return [...segments.values()].sort((a, b) => a.pack - b.pack || a.segment - b.segment);
  }
}

interface SegmentChunks {
  readonly pack: number;
  readonly segment: number;
  readonly slots: number[];
}

function nameOf(ids: Buffer, at: number): string {
  return `chunk ${ids.toString('hex', at, at + ID_BYTES)}`;
}

/** What was read from the source is damaged, as opposed to errors in handling it afterwards. */
export class SourceDamage extends Error {
  override readonly name = 'SourceDamage';
  override readonly cause: RepositoryError;

  constructor(cause: RepositoryError) {
    super(cause.message);
    this.cause = cause;
  }
}

/**
 * Wraps work that only reads from the source.
 * @throws {SourceDamage}
 */
export async function reading<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isLostObject(error) && !isUnending(error)) throw error;
    throw new SourceDamage(error instanceof RepositoryError ? error : corruptBy(error));
  }
}
