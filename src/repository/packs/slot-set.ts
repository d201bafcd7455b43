/** A page has 128 KiB, so that memory is used only where slots are. */
const PAGE_BITS = 20;
const PAGE_SLOTS = 1 << PAGE_BITS;

/** A set of chunks as one bit per slot of the chunk table: 1.2 MiB for ten million chunks. */
export class SlotSet {
  readonly #pages: (Uint32Array | undefined)[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** True when the slot was not in the set before. */
  add(slot: number): boolean {
    const page = (this.#pages[slot >>> PAGE_BITS] ??= new Uint32Array(PAGE_SLOTS / 32));
    const at = (slot & (PAGE_SLOTS - 1)) >>> 5;
    const bit = 1 << (slot & 31);
    const word = page[at] ?? 0;
    if ((word & bit) !== 0) return false;
    page[at] = word | bit;
    this.#size += 1;
    return true;
  }

  has(slot: number): boolean {
    const word = this.#pages[slot >>> PAGE_BITS]?.[(slot & (PAGE_SLOTS - 1)) >>> 5] ?? 0;
    return (word & (1 << (slot & 31))) !== 0;
  }

  /** Calls `visit` with every slot in the set, ascending. */
  forEach(visit: (slot: number) => void): void {
    for (const [number, page] of this.#pages.entries()) {
      if (page === undefined) continue;
      for (let at = 0; at < page.length; at += 1) {
        for (let rest = page[at] ?? 0; rest !== 0; rest &= rest - 1) {
          visit(number * PAGE_SLOTS + at * 32 + (31 - Math.clz32(rest & -rest)));
        }
      }
    }
  }
}
