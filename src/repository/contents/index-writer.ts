import { OBJECT_TYPES } from '../../format/header.ts';
import { encodeIndexObject, type IndexedPack, MAX_INDEX_BYTES } from '../../format/index-object.ts';
import type { ChunkIndex } from '../chunk-index.ts';
import { packKey } from '../objects/listing.ts';
import { compressRecord, sealObject } from '../objects/objects.ts';
import type { Repository } from '../repository.ts';

/** Bytes of the version and the two counts. */
const FIXED_BYTES = 12;
const NAME_BYTES = 32;

/** Collects what finished packs hold and writes it as index objects. */
export class IndexWriter {
  readonly #repository: Repository;
  readonly #limit: number;
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;

  /** @param limit most raw bytes of one index object; smaller only in tests */
  constructor(repository: Repository, limit = MAX_INDEX_BYTES) {
    this.#repository = repository;
    this.#limit = limit;
  }

  /** Raw bytes that the next flush writes. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /** Adds one pack, as `encodeIndexedPack` gives it. */
  add(entry: Uint8Array): void {
    // A pack of millions of tiny chunks can outgrow an index object: readers then use the pack's own directory.
    if (entry.length + FIXED_BYTES > this.#limit) return;
    this.#pending.push(entry);
    this.#pendingBytes += entry.length;
  }

  /**
   * Writes what is pending and returns the names of the new index objects. The last of them supersedes `supersedes`,
   * so that the older ones stay in force until all are stored. After an error everything is still pending.
   * @throws {DestinationError}
   */
  async flush(supersedes: readonly string[], signal: AbortSignal): Promise<string[]> {
    const taken = this.#pending;
    this.#pending = [];
    this.#pendingBytes = 0;
    try {
      return await this.#write(taken, supersedes, signal);
    } catch (error) {
      this.#pending = [...taken, ...this.#pending];
      this.#pendingBytes = this.#pending.reduce((sum, entry) => sum + entry.length, 0);
      throw error;
    }
  }

  async #write(
    entries: readonly Uint8Array[],
    supersedes: readonly string[],
    signal: AbortSignal,
  ): Promise<string[]> {
    const groups = this.#grouped(entries, supersedes.length);
    const names: string[] = [];
    for (const [i, group] of groups.entries()) {
      const raw = encodeIndexObject(i === groups.length - 1 ? supersedes : [], group);
      const { bytes, name } = sealObject(
        this.#repository.keys,
        OBJECT_TYPES.index,
        Buffer.alloc(0),
        compressRecord(raw),
      );
      await this.#repository.destination.put(`index/${name}`, bytes, signal);
      this.#repository.cache.keep(`index/${name}`, bytes);
      names.push(name);
    }
    return names;
  }

  #grouped(entries: readonly Uint8Array[], superseded: number): Uint8Array[][] {
    const groups: Uint8Array[][] = [];
    const tail = FIXED_BYTES + superseded * NAME_BYTES;
    let group: Uint8Array[] = [];
    let bytes = tail;
    for (const entry of entries) {
      if (group.length > 0 && bytes + entry.length > this.#limit) {
        groups.push(group);
        group = [];
        bytes = tail;
      }
      group.push(entry);
      bytes += entry.length;
    }
    if (group.length > 0 || superseded > 0) groups.push(group);
    return groups;
  }
}

/**
 * The packs that no index object names yet, for a caller that is about to name them; most are left by a run that died.
 * They are made durable first, since that run may not have done so, and readers take packs named by an index object for
 * durable.
 *
 * @param without packs that are left out: those with a tombstone, or about to be deleted
 * @throws {DestinationError}
 */
export async function durableUncovered(
  { destination }: Repository,
  { uncovered }: Pick<ChunkIndex, 'uncovered'>,
  without: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<readonly IndexedPack[]> {
  const packs = uncovered.filter(({ name }) => !without.has(name));
  if (packs.length > 0) {
    const keys = packs.map(({ name }) => packKey(name));
    await destination.makeDurable?.(keys, signal);
  }
  return packs;
}
