/**
 * The ends of chunk ids. The chunk table knows a chunk by the first 16 of 24 bytes; whoever restores compares all of them, so
 * a tree that names a chunk by another end names none. Packs keep whole ids in their directories, which a check reads.
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

  /** What the directory of a pack says of the chunks that are located in it; one with short ids says nothing. */
  takeDirectory(name: string, { ids, idBytes }: Pick<PackDirectory, 'ids' | 'idBytes'>): void {
    const number = this.#numbers.get(name);
    if (number === undefined || idBytes !== ID_BYTES) return;
    for (let at = 0; at < ids.length; at += ID_BYTES) {
      const slot = this.#table.slotOf(ids, at);
      if (slot >= 0 && this.#table.locationAt(slot).pack === number) this.#stored.set(slot, endOf(ids, at));
    }
  }

  /** A tree names the chunk of a slot by this id. False when it is known by now that its pack has it under another one. */
  takeNamed(slot: number, ids: Buffer, at: number): boolean {
    const end = endOf(ids, at);
    const before = this.#named.get(slot);
    if (before === 0) this.#named.set(slot, end);
    else if (before !== end) this.#isNamedTwice = true;
    const stored = this.#stored.get(slot);
    return stored === 0 || stored === end;
  }

  /** Whether something was named otherwise than its pack has it; what exactly, another walk of the trees tells. */
  get differ(): boolean {
    if (this.#isNamedTwice) return true;
    return this.#named.some((end, slot) => {
      const stored = this.#stored.get(slot);
      return stored !== 0 && stored !== end;
    });
  }
}

/** The last 8 bytes in 32 bits that are not all 0: a single bit that is wrong shows, and chance agrees once in four thousand million. */
function endOf(ids: Buffer, at: number): number {
  return (ids.readUInt32LE(at + 16) ^ ids.readUInt32LE(at + 20)) >>> 0 || 1;
}

/** 32 bits for each slot that has some, 0 for all others: 40 MiB for ten million chunks. */
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
