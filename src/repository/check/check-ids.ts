/**
 * Compares the ends of chunk ids. The chunk table identifies a chunk by the first 16 of its 24 bytes, but a restore
 * compares all of them, so a tree that names a chunk with another end cannot be restored. Directories of packs have
 * whole ids, and a check reads them.
 */
import { ID_BYTES } from '../../codec/hash.ts';
import type { PackDirectory } from '../../format/pack.ts';
import type { ChunkIndex } from '../chunk-index.ts';

const PAGE_BITS = 16;
const PAGE_SLOTS = 1 << PAGE_BITS;

export class IdEnds {
  readonly #table: ChunkIndex['table'];
  readonly #numbers: ReadonlyMap<string, number>;
  readonly #stored = new SlotWords();
  readonly #named = new SlotWords();
  #isNamedTwice = false;

  constructor({ table, packs }: Pick<ChunkIndex, 'table' | 'packs'>) {
    this.#table = table;
    this.#numbers = new Map(packs.map(({ name }, number) => [name, number]));
  }

  /** Records the ids of a directory, for the chunks that are located in that pack. A directory with short ids is ignored. */
  takeDirectory(name: string, { ids, idBytes }: Pick<PackDirectory, 'ids' | 'idBytes'>): void {
    const number = this.#numbers.get(name);
    if (number === undefined || idBytes !== ID_BYTES) return;
    for (let at = 0; at < ids.length; at += ID_BYTES) {
      const slot = this.#table.slotOf(ids, at);
      if (slot >= 0 && this.#table.locationAt(slot).pack === number) this.#stored.set(slot, endOf(ids, at));
    }
  }

  /**
   * Records the id by which a tree names the chunk in a slot. False when the chunk's pack is known to have another id
   * for it.
   */
  takeNamed(slot: number, ids: Buffer, at: number): boolean {
    const end = endOf(ids, at);
    const before = this.#named.get(slot);
    if (before === 0) this.#named.set(slot, end);
    else if (before !== end) this.#isNamedTwice = true;
    const stored = this.#stored.get(slot);
    return stored === 0 || stored === end;
  }

  /** Whether any tree names a chunk by another id than its pack has; only another walk of the trees shows which one. */
  get differ(): boolean {
    if (this.#isNamedTwice) return true;
    return this.#named.some((end, slot) => {
      const stored = this.#stored.get(slot);
      return stored !== 0 && stored !== end;
    });
  }
}

/**
 * The last 8 bytes of an id, folded into 32 bits that are never all 0. Every single-bit error shows; a random one is
 * missed once in four thousand million.
 */
function endOf(ids: Buffer, at: number): number {
  return (ids.readUInt32LE(at + 16) ^ ids.readUInt32LE(at + 20)) >>> 0 || 1;
}

/** A 32-bit word for each slot, 0 where none was set: 40 MiB for ten million chunks. */
class SlotWords {
  readonly #pages: (Uint32Array | undefined)[] = [];

  get(slot: number): number {
    return this.#pages[slot >>> PAGE_BITS]?.[slot & (PAGE_SLOTS - 1)] ?? 0;
  }

  set(slot: number, word: number): void {
    (this.#pages[slot >>> PAGE_BITS] ??= new Uint32Array(PAGE_SLOTS))[slot & (PAGE_SLOTS - 1)] = word;
  }

  some(test: (word: number, slot: number) => boolean): boolean {
    return this.#pages.some((page, number) =>
      page?.some((word, at) => word !== 0 && test(word, number * PAGE_SLOTS + at)),
    );
  }
}
