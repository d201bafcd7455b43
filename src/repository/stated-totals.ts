/**
 * Checks that directories hold as much as the entries that name them state. Readers rely on this to know that no tree
 * is endless.
 */
import type { DirectoryTotals } from '../format/tree.ts';

/** The sum of a directory that is being read, over all of its parts. */
export class DirectorySum {
  /** What the directory's entry states; undefined for the root of a snapshot. */
  readonly stated: DirectoryTotals | undefined;
  #files = 0;
  #bytes = 0;
  #entries = 0;
  #parts = 1;
  #isWhole = true;

  constructor(stated: DirectoryTotals | undefined) {
    this.stated = stated;
  }

  add({ files, bytes, entries }: DirectoryTotals): void {
    this.#files += files;
    this.#bytes += bytes;
    this.#entries += entries;
  }

  /** A part turned out to consist of others. */
  split(parts: number): void {
    this.#parts += parts;
  }

  /** All parts are done. */
  get isOver(): boolean {
    return this.#parts === 0;
  }

  /** One part is done. Returns the sum when it was the last one and all could be read. */
  partDone(isRead: boolean): DirectoryTotals | undefined {
    this.#parts -= 1;
    this.#isWhole &&= isRead;
    if (this.#parts > 0 || !this.#isWhole) return undefined;
    const bytes = Math.min(this.#bytes, Number.MAX_SAFE_INTEGER);
    return { files: this.#files, bytes, entries: this.#entries };
  }
}

/** Slots of a page as a power of two; a page has 256 KiB. */
const PAGE_BITS = 16;
const PAGE_SLOTS = 1 << PAGE_BITS;

/** A 4-byte digest of the totals first stated for each directory: all entries that name one directory must state the same. */
export class NamedTotals {
  readonly #pages: (Uint32Array | undefined)[] = [];

  /** False when an earlier entry stated other totals. */
  isAsBefore(slot: number, totals: DirectoryTotals): boolean {
    const page = (this.#pages[slot >>> PAGE_BITS] ??= new Uint32Array(PAGE_SLOTS));
    const at = slot & (PAGE_SLOTS - 1);
    const digest = digestOf(totals);
    const before = page[at] ?? 0;
    if (before === 0) page[at] = digest;
    return before === 0 || before === digest;
  }
}

/** Never 0, which marks an empty slot. */
function digestOf({ files, bytes, entries }: DirectoryTotals): number {
  let digest = 0x811c_9dc5;
  for (const number of [files, bytes, entries]) {
    for (const word of [number >>> 0, Math.floor(number / 2 ** 32)])
      digest = Math.imul(digest ^ word, 0x0100_0193) ^ (digest >>> 13);
  }
  return digest >>> 0 || 1;
}
