/**
 * Holds what a restore has to remember about each directory and file: records in shared memory, written by the planner
 * and read by every worker thread without a message. A record takes about 160 bytes for a file of one chunk.
 *
 * Layout, little-endian, every record on a multiple of 8: 80 bytes of fixed fields, the name, the pieces of the content
 * (56 bytes each), the extended attributes.
 */

import { asByteString, type ByteString } from '../../base/byte-path.ts';
import { BugError } from '../../base/errors.ts';
import type { EntryMetadata, Xattr } from '../../format/tree.ts';

/** Number of a page and the position in it, in units of 8 bytes. */
export type RecordHandle = number;

export const NO_RECORD = 0xffff_ffff;

const PAGE_BYTES = 4 * 1024 * 1024;
const POSITION_BITS = 19;
const POSITION_MASK = 2 ** POSITION_BITS - 1;
const MAX_PAGES = 2 ** (32 - POSITION_BITS) - 1;

const HEADER_BYTES = 80;
const PIECE_BYTES = 56;
const ID_BYTES = 24;
const NS_PER_SECOND = 1_000_000_000n;

/** Bits of `flags`. */
export const RECORD = {
  /** A file with this name exists in the target; what differs is rewritten in place. */
  update: 1,
  /** Something else, or something that cannot be written, has this name: it is replaced by a rename. */
  replace: 2,
  /** Several threads write parts of the file, because the pieces that it lacks lie in several segments. */
  spread: 4,
  /** Other entries are hard links to this one. */
  leader: 8,
  /** The file is shorter than its last piece says, or ends in a hole: its length has to be set. */
  sized: 16,
  /** Only the metadata differs. */
  metadataOnly: 32,
  /** A directory that was itself selected: it gets its metadata even if it existed before. */
  selected: 64,
  /** A directory that this run created. */
  created: 128,
  /** A new file that replaces an existing one, and gets its owner. */
  keepsOwner: 256,
  /** A directory has this name. It is removed with everything in it once the file is complete. */
  clears: 512,
  /** It is right as it is but has other names, perhaps outside of the restore: nothing about it is changed. */
  shared: 1024,
} as const;

interface Page {
  readonly bytes: Buffer;
  readonly u16: Uint16Array;
  readonly u32: Uint32Array;
  readonly i32: Int32Array;
  readonly f64: Float64Array;
  readonly u64: BigUint64Array;
}

function pageOver(memory: SharedArrayBuffer): Page {
  return {
    bytes: Buffer.from(memory),
    u16: new Uint16Array(memory),
    u32: new Uint32Array(memory),
    i32: new Int32Array(memory),
    f64: new Float64Array(memory),
    u64: new BigUint64Array(memory),
  };
}

/** One piece of a file's content: a chunk, or, when a hole lies inside of a chunk, a part of one. */
export interface Piece {
  /** 24 bytes. */
  readonly id: Buffer;
  /** Segment number over all packs. */
  readonly segment: number;
  /** Where the chunk lies in the raw bytes of the segment. */
  readonly offset: number;
  readonly length: number;
  /** Bytes of the chunk before this piece, and in it (`take`). */
  readonly skip: number;
  readonly take: number;
  readonly fileOffset: number;
}

/** A thread's view of a record. */
export class EntryRecord {
  readonly handle: RecordHandle;
  readonly #page: Page;
  /** In units of 8 bytes. */
  readonly #at: number;

  constructor(handle: RecordHandle, page: Page) {
    this.handle = handle;
    this.#page = page;
    this.#at = handle & POSITION_MASK;
  }

  /** The record of the directory in which the entry lies. */
  get parent(): RecordHandle {
    return this.#page.u32[this.#at * 2] ?? 0;
  }
  get mode(): number {
    return this.#page.u16[this.#at * 4 + 2] ?? 0;
  }
  get flags(): number {
    return this.#page.u16[this.#at * 4 + 3] ?? 0;
  }
  set flags(flags: number) {
    this.#page.u16[this.#at * 4 + 3] = flags;
  }
  has(flag: number): boolean {
    return (this.flags & flag) !== 0;
  }
  get uid(): number {
    return this.#page.u32[this.#at * 2 + 2] ?? 0;
  }
  get gid(): number {
    return this.#page.u32[this.#at * 2 + 3] ?? 0;
  }
  get mtimeNs(): bigint {
    return (
      BigInt(this.#page.f64[this.#at + 2] ?? 0) * NS_PER_SECOND +
      BigInt(this.#page.u32[this.#at * 2 + 6] ?? 0)
    );
  }
  /** The number of the entry, from 1. Makes temporary names differ. */
  get serial(): number {
    return this.#page.u32[this.#at * 2 + 7] ?? 0;
  }
  get size(): number {
    return this.#page.f64[this.#at + 4] ?? 0;
  }
  get pieceCount(): number {
    return this.#page.u32[this.#at * 2 + 10] ?? 0;
  }
  get name(): ByteString {
    const length = this.#nameLength;
    const start = this.#at * 8 + HEADER_BYTES;
    return asByteString(this.#page.bytes.toString('latin1', start, start + length));
  }

  /** Inode and device of a file that was made, or that was found in the target; 0 and 0 before that, and after it failed. */
  get created(): { readonly ino: bigint; readonly dev: bigint } {
    return { ino: this.#page.u64[this.#at + 6] ?? 0n, dev: this.#page.u64[this.#at + 7] ?? 0n };
  }
  set created({ ino, dev }: { readonly ino: bigint; readonly dev: bigint }) {
    this.#page.u64[this.#at + 6] = ino;
    this.#page.u64[this.#at + 7] = dev;
  }

  piece(number: number): Piece {
    const page = this.#page;
    const at = this.#pieceAt(number);
    const word = at / 4;
    return {
      id: page.bytes.subarray(at, at + ID_BYTES),
      segment: page.u32[word + 6] ?? 0,
      offset: page.u32[word + 7] ?? 0,
      length: page.u32[word + 8] ?? 0,
      skip: page.u32[word + 9] ?? 0,
      take: page.u32[word + 10] ?? 0,
      fileOffset: page.f64[at / 8 + 6] ?? 0,
    };
  }

  setPiece(number: number, ids: Buffer, idAt: number, piece: Omit<Piece, 'id'>): void {
    const page = this.#page;
    const at = this.#pieceAt(number);
    const word = at / 4;
    ids.copy(page.bytes, at, idAt, idAt + ID_BYTES);
    page.u32[word + 6] = piece.segment;
    page.u32[word + 7] = piece.offset;
    page.u32[word + 8] = piece.length;
    page.u32[word + 9] = piece.skip;
    page.u32[word + 10] = piece.take;
    page.u32[word + 11] = 0;
    page.f64[at / 8 + 6] = piece.fileOffset;
  }

  /** True when the target already has the bytes of this piece. */
  isPresent(piece: number): boolean {
    return this.#page.u32[this.#pieceAt(piece) / 4 + 11] === 1;
  }

  setPresent(piece: number, present: boolean): void {
    this.#page.u32[this.#pieceAt(piece) / 4 + 11] = present ? 1 : 0;
  }

  get xattrs(): Xattr[] {
    const { bytes } = this.#page;
    const xattrs: Xattr[] = [];
    let at = this.#pieceAt(this.pieceCount);
    const count = this.#page.u32[this.#at * 2 + 17] ?? 0;
    for (let i = 0; i < count; i += 1) {
      const nameLength = bytes.readUInt32LE(at);
      const valueLength = bytes.readUInt32LE(at + 4);
      const valueAt = at + 8 + nameLength;
      xattrs.push({
        name: asByteString(bytes.toString('latin1', at + 8, valueAt)),
        value: Buffer.from(bytes.subarray(valueAt, valueAt + valueLength)),
      });
      at = valueAt + valueLength;
    }
    return xattrs;
  }
  get hasXattrs(): boolean {
    return this.#page.u32[this.#at * 2 + 17] !== 0;
  }

  /** The state that threads have reached with this file, for `Atomics`. */
  get state(): { readonly words: Int32Array; readonly index: number } {
    return { words: this.#page.i32, index: this.#at * 2 + 18 };
  }
  /** Pieces that are not written yet, for `Atomics`. */
  get remaining(): { readonly words: Int32Array; readonly index: number } {
    return { words: this.#page.i32, index: this.#at * 2 + 19 };
  }

  get #nameLength(): number {
    return this.#page.u32[this.#at * 2 + 16] ?? 0;
  }

  #pieceAt(number: number): number {
    return this.#at * 8 + HEADER_BYTES + padded(this.#nameLength) + number * PIECE_BYTES;
  }
}

/** A thread's access to the records. */
export class EntryRecords {
  readonly #pages: Page[] = [];

  constructor(memory: readonly SharedArrayBuffer[]) {
    this.addPages(memory);
  }

  get pages(): number {
    return this.#pages.length;
  }

  addPages(memory: readonly SharedArrayBuffer[]): void {
    for (const one of memory) this.#pages.push(pageOver(one));
  }

  at(handle: RecordHandle): EntryRecord {
    const page = this.#pages[handle >>> POSITION_BITS];
    if (page === undefined)
      throw new BugError('A restore record is in memory that this thread does not have');
    return new EntryRecord(handle, page);
  }
}

/** Adds records; only the planner does. */
export class EntryRecordWriter {
  readonly records = new EntryRecords([]);
  /** Pages in the order of their numbers. New ones are posted to the workers before a job that needs them. */
  readonly memory: SharedArrayBuffer[] = [];
  #free = 0;
  #end = 0;
  #serial = 0;

  add(parent: RecordHandle, entry: EntryMetadata, flags: number, size: number, pieces: number): EntryRecord {
    const xattrs = entry.xattrs ?? [];
    const xattrBytes = xattrs.reduce((sum, { name, value }) => sum + 8 + name.length + value.length, 0);
    const bytes = HEADER_BYTES + padded(entry.name.length) + pieces * PIECE_BYTES + padded(xattrBytes);
    const handle = this.#allocate(bytes);
    const memory = this.memory[handle >>> POSITION_BITS];
    if (memory === undefined) throw new BugError('A restore record has no memory');
    const page = this.#newest ?? pageOver(memory);
    const at = handle & POSITION_MASK;
    this.#serial += 1;
    page.u32[at * 2] = parent;
    page.u16[at * 4 + 2] = entry.mode;
    page.u16[at * 4 + 3] = flags;
    page.u32[at * 2 + 2] = entry.uid;
    page.u32[at * 2 + 3] = entry.gid;
    const ns = BigInt.asUintN(64, ((entry.mtimeNs % NS_PER_SECOND) + NS_PER_SECOND) % NS_PER_SECOND);
    page.f64[at + 2] = Number((entry.mtimeNs - ns) / NS_PER_SECOND);
    page.u32[at * 2 + 6] = Number(ns);
    page.u32[at * 2 + 7] = this.#serial;
    page.f64[at + 4] = size;
    page.u32[at * 2 + 10] = pieces;
    page.u64[at + 6] = 0n;
    page.u64[at + 7] = 0n;
    page.u32[at * 2 + 16] = entry.name.length;
    page.u32[at * 2 + 17] = xattrs.length;
    page.i32[at * 2 + 18] = 0;
    page.i32[at * 2 + 19] = 0;
    page.bytes.write(entry.name, at * 8 + HEADER_BYTES, 'latin1');
    if (xattrs.length > 0) {
      writeXattrs(
        page.bytes,
        at * 8 + HEADER_BYTES + padded(entry.name.length) + pieces * PIECE_BYTES,
        xattrs,
      );
    }
    return new EntryRecord(handle, page);
  }

  /** A record of the same file under another name, without its pieces. */
  addLike(like: EntryRecord, parent: RecordHandle, name: ByteString, flags: number): EntryRecord {
    const { mode, uid, gid, mtimeNs, size, pieceCount } = like;
    const xattrs = like.hasXattrs ? like.xattrs : undefined;
    const entry = { name, mode, uid, gid, mtimeNs, ctimeNs: 0n, inode: 0, xattrs };
    return this.add(parent, entry, flags, size, pieceCount);
  }

  /** Removes the record that was added last. */
  removeLast(record: EntryRecord): void {
    this.#free = record.handle & POSITION_MASK;
  }

  get bytes(): number {
    return this.memory.reduce((sum, one) => sum + one.byteLength, 0);
  }

  #newest: Page | undefined;

  #allocate(bytes: number): RecordHandle {
    const units = Math.ceil(bytes / 8);
    if (this.#free + units > this.#end) this.#addPage(Math.max(PAGE_BYTES, units * 8));
    const handle = (this.memory.length - 1) * 2 ** POSITION_BITS + this.#free;
    this.#free += units;
    return handle;
  }

  #addPage(bytes: number): void {
    if (this.memory.length >= MAX_PAGES) throw new BugError('The restore plan is too large');
    const memory = new SharedArrayBuffer(bytes);
    this.memory.push(memory);
    this.records.addPages([memory]);
    this.#newest = pageOver(memory);
    this.#free = 0;
    // a record larger than a page has a page of its own, so positions always fit into a handle
    this.#end = bytes / 8;
  }
}

function writeXattrs(bytes: Buffer, start: number, xattrs: readonly Xattr[]): void {
  let at = start;
  for (const { name, value } of xattrs) {
    bytes.writeUInt32LE(name.length, at);
    bytes.writeUInt32LE(value.length, at + 4);
    bytes.write(name, at + 8, 'latin1');
    value.copy(bytes, at + 8 + name.length);
    at += 8 + name.length + value.length;
  }
}

function padded(bytes: number): number {
  return (bytes + 7) & ~7;
}
