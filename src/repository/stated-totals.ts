/** Whether directories hold as much as the entries that name them say: readers rely on it that no tree is endless. */
import type { DirectoryTotals } from '../format/tree.ts';

/** A directory that is being gone through, all its parts together. */
export class DirectorySum {
  /** What was said of it; undefined for the root of a snapshot. */
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

/** 256 KiB a page. */
const PAGE_BITS = 16;
const PAGE_SLOTS = 1 << PAGE_BITS;

/** What was said first of each directory, as four bytes: two entries that name one must say the same. */
export class NamedTotals {
  readonly #pages: (Uint32Array | undefined)[] = [];

  /** False when something else was said before. */
  isAsBefore(slot: number, totals: DirectoryTotals): boolean {
    const page = (this.#pages[slot >>> PAGE_BITS] ??= new Uint32Array(PAGE_SLOTS));
    const at = slot & (PAGE_SLOTS - 1);
    const digest = digestOf(totals);
    const before = page[at] ?? 0;
    if (before === 0) page[at] = digest;
    return before === 0 || before === digest;
  }
}

/** Never zero. */
function digestOf({ files, bytes, entries }: DirectoryTotals): number {
  let digest = 0x811c_9dc5;
  for (const number of [files, bytes, entries]) {
    for (const word of [number >>> 0, Math.floor(number / 2 ** 32)])
      digest = Math.imul(digest ^ word, 0x0100_0193) ^ (digest >>> 13);
  }
  return digest >>> 0 || 1;
}
