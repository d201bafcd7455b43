/**
 * Knows which chunks the repository has, and where: one table in shared memory for all threads. A worker learns in
 * nanoseconds, without a message, whether a chunk is known and whether it is the one to store it.
 *
 * A slot is eight 32-bit words: state, four words of the id, pack number and segment, offset in the segment, length.
 * Tables use open addressing with linear probing and have a fixed size. When the newest is three quarters full another
 * one, twice as large, is added; entries never move under running threads. A slot of 32 bytes means 43-64 bytes for
 * each chunk.
 */

const EMPTY = 0;
const BUSY = 1;
const READY = 2;

const WORDS = 8;
const FILL = 0.75;
/**
 * Sizes of the first two tables in slots: a small repository opens without filling 2 MiB, and one that grows soon has
 * enough room.
 */
const FIRST = 1 << 10;
const SECOND = 1 << 16;
const LARGEST = 1 << 25;
const MAX_TABLES = 12;

/** Pack number of chunks that this run stores itself; their pack may still be open. */
export const OWN_PACK = 0xff_ffff;

export interface ChunkLocation {
  /** Index into the repository's list of packs, or OWN_PACK. */
  readonly pack: number;
  readonly segment: number;
  /** Offset in the raw bytes of the segment. */
  readonly offset: number;
  readonly length: number;
}

/** The shared memory, in the form in which it is posted to worker threads. */
export interface ChunkTableMemory {
  /**
   * [0] number of the newest table, [1] unused, [2] and [3] chunks in the newest table, by whether its number is even
   * or odd.
   */
  readonly control: SharedArrayBuffer;
  readonly tables: SharedArrayBuffer[];
  /** One byte for each pack: set when this run relies on a chunk in it. */
  readonly relied: SharedArrayBuffer;
}

export class ChunkTable {
  readonly #control: Int32Array;
  readonly #tables: Int32Array[] = [];
  readonly #memory: ChunkTableMemory;
  readonly #relied: Uint8Array;

  /**
   * @param expected the least number of chunks that will be added; determines the sizes of the first tables
   * @param packs how many packs chunks can be located in
   */
  static create(expected: number, packs: number): ChunkTable {
    const slots = Math.max(FIRST, Math.ceil((expected * 1.05) / FILL));
    return new ChunkTable({
      control: new SharedArrayBuffer(16),
      // All threads must have the tables from the start, so all are reserved as addresses; only the first has memory.
      tables: Array.from({ length: MAX_TABLES }, (_, i) => {
        const wanted = i === 0 ? slots : Math.max(SECOND, slots) * 2 ** (i - 1);
        const maxByteLength = Math.min(wanted, LARGEST) * WORDS * 4;
        return new SharedArrayBuffer(i === 0 ? maxByteLength : 0, { maxByteLength });
      }),
      relied: new SharedArrayBuffer(Math.max(1, packs)),
    });
  }

  constructor(memory: ChunkTableMemory) {
    this.#memory = memory;
    this.#control = new Int32Array(memory.control);
    this.#relied = new Uint8Array(memory.relied);
  }

  /** The words of table `t`. Its memory exists before `control` counts the table. */
  #words(t: number): Int32Array | undefined {
    const known = this.#tables[t];
    if (known !== undefined) return known;
    const memory = this.#memory.tables[t];
    if (memory === undefined) return undefined;
    // A view of fixed length: one that follows the buffer's length is slower.
    const words = new Int32Array(memory, 0, memory.maxByteLength / 4);
    this.#tables[t] = words;
    return words;
  }

  get memory(): ChunkTableMemory {
    return this.#memory;
  }

  /** Packs with a chunk that this run relies on, by pack number. */
  reliedPacks(): number[] {
    const packs: number[] = [];
    for (let i = 0; i < this.#relied.length; i += 1) if (this.#relied[i] === 1) packs.push(i);
    return packs;
  }

  /**
   * True when the caller is the first to claim this chunk and must store it; false when it is known. A hit marks the
   * pack as relied on.
   */
  claim(id: Buffer): boolean {
    return this.#insert(id, 0, OWN_PACK, 0, 0, 0);
  }

  /** Adds a stored chunk; the first location wins. `id` may be cut to 16 bytes. */
  add(ids: Buffer, at: number, location: ChunkLocation): boolean {
    return this.#insert(ids, at, location.pack, location.segment, location.offset, location.length);
  }

  /** Where a chunk lies, or undefined when the repository does not have it. */
  find(ids: Buffer, at = 0): ChunkLocation | undefined {
    const a = ids.readInt32LE(at);
    const b = ids.readInt32LE(at + 4);
    const c = ids.readInt32LE(at + 8);
    const d = ids.readInt32LE(at + 12);
    const count = Atomics.load(this.#control, 0) + 1;
    for (let t = 0; t < count; t += 1) {
      const table = this.#words(t);
      if (table === undefined) break;
      const base = this.#search(table, a, b, c, d);
      if (base >= 0) return location(table, base);
    }
    return undefined;
  }

  /** Number of the slot that holds a chunk, or -1. Slots never move, so sets of chunks can be kept as sets of slots. */
  slotOf(ids: Buffer, at = 0): number {
    const a = ids.readInt32LE(at);
    const b = ids.readInt32LE(at + 4);
    const c = ids.readInt32LE(at + 8);
    const d = ids.readInt32LE(at + 12);
    const count = Atomics.load(this.#control, 0) + 1;
    let first = 0;
    for (let t = 0; t < count; t += 1) {
      const table = this.#words(t);
      if (table === undefined) break;
      const base = this.#search(table, a, b, c, d);
      if (base >= 0) return first + base / WORDS;
      first += table.length / WORDS;
    }
    return -1;
  }

  /** The location in a slot that `slotOf` returned. */
  locationAt(slot: number): ChunkLocation {
    let rest = slot;
    for (let t = 0; t <= Atomics.load(this.#control, 0); t += 1) {
      const table = this.#words(t);
      if (table === undefined) break;
      const slots = table.length / WORDS;
      if (rest < slots) return location(table, rest * WORDS);
      rest -= slots;
    }
    throw new RangeError('There is no such slot');
  }

  #insert(ids: Buffer, at: number, pack: number, segment: number, offset: number, length: number): boolean {
    const a = ids.readInt32LE(at);
    const b = ids.readInt32LE(at + 4);
    const c = ids.readInt32LE(at + 8);
    const d = ids.readInt32LE(at + 12);
    for (let t = 0; ; t += 1) {
      const table = this.#words(t);
      if (table === undefined) throw new RangeError('The chunk table is full');
      if (t < Atomics.load(this.#control, 0)) {
        const base = this.#search(table, a, b, c, d);
        if (base >= 0) return this.#hit(table, base);
        continue;
      }
      const slots = table.length / WORDS;
      let slot = (a >>> 0) % slots;
      for (;;) {
        const base = slot * WORDS;
        const state = Atomics.load(table, base);
        if (state === EMPTY) {
          if (t < Atomics.load(this.#control, 0)) break;
          if (Atomics.compareExchange(table, base, EMPTY, BUSY) !== EMPTY) continue;
          table[base + 1] = a;
          table[base + 2] = b;
          table[base + 3] = c;
          table[base + 4] = d;
          table[base + 5] = (pack << 8) | (segment & 0xff);
          table[base + 6] = offset;
          table[base + 7] = (length & 0xff_ffff) | ((segment >>> 8) << 24);
          Atomics.store(table, base, READY);
          this.#grow(t, slots);
          return true;
        }
        if (state === BUSY) continue;
        if (
          table[base + 1] === a &&
          table[base + 2] === b &&
          table[base + 3] === c &&
          table[base + 4] === d
        ) {
          return this.#hit(table, base);
        }
        slot = slot + 1 === slots ? 0 : slot + 1;
      }
    }
  }

  #hit(table: Int32Array, base: number): false {
    const pack = (table[base + 5] as number) >>> 8;
    if (pack < this.#relied.length) this.#relied[pack] = 1;
    return false;
  }

  /** Counts the new chunk and opens the next table when this one is three quarters full. */
  #grow(t: number, slots: number): void {
    const used = Atomics.add(this.#control, 2 + (t & 1), 1) + 1;
    if (used < slots * FILL) return;
    const next = this.#memory.tables[t + 1];
    // Two threads may both get here; growing twice to the same length is harmless.
    if (next !== undefined && Atomics.load(this.#control, 0) === t) next.grow(next.maxByteLength);
    if (Atomics.compareExchange(this.#control, 0, t, t + 1) === t)
      Atomics.store(this.#control, 2 + (t & 1), 0);
  }

  /** Base of the slot with this id in a table, or -1. */
  #search(table: Int32Array, a: number, b: number, c: number, d: number): number {
    const slots = table.length / WORDS;
    let slot = (a >>> 0) % slots;
    for (;;) {
      const base = slot * WORDS;
      const state = Atomics.load(table, base);
      if (state === EMPTY) return -1;
      if (state === BUSY) continue;
      if (table[base + 1] === a && table[base + 2] === b && table[base + 3] === c && table[base + 4] === d)
        return base;
      slot = slot + 1 === slots ? 0 : slot + 1;
    }
  }
}

function location(table: Int32Array, base: number): ChunkLocation {
  const packWord = table[base + 5] as number;
  const lengthWord = table[base + 7] as number;
  return {
    pack: packWord >>> 8,
    segment: (packWord & 0xff) | ((lengthWord >>> 24) << 8),
    offset: (table[base + 6] as number) >>> 0,
    length: lengthWord & 0xff_ffff,
  };
}
