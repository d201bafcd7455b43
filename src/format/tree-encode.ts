import type { ByteString } from '../base/byte-path.ts';
import { BugError } from '../base/errors.ts';
import { ENTRY_TYPES, FLAG, isHostileName, type BranchChild, type Entry } from './tree.ts';

const SECOND = 1_000_000_000n;
/** Times within this many seconds of 1970 are written without bigints. */
const NEAR_SECONDS = 2 ** 48;

/** A growing buffer with the integer forms of the format. */
export class ByteWriter {
  #bytes: Buffer;
  #length = 0;

  constructor(capacity: number) {
    this.#bytes = Buffer.allocUnsafe(capacity);
  }

  get length(): number {
    return this.#length;
  }

  reset(): void {
    this.#length = 0;
  }

  /** The bytes written so far: a view that the next write may invalidate. */
  view(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  copy(): Buffer {
    return Buffer.from(this.view());
  }

  u8(value: number): void {
    this.#room(1);
    this.#bytes[this.#length] = value;
    this.#length += 1;
  }

  /** Unsigned, at most 2^53 - 1: larger numbers could not be read back. */
  varint(value: number): void {
    if (!(value >= 0 && value <= Number.MAX_SAFE_INTEGER)) throw new BugError(`${value} cannot be stored`);
    this.#room(10);
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.#length] = (rest % 0x80) | 0x80;
      this.#length += 1;
      rest = rest > 0x7fff_ffff ? Math.floor(rest / 0x80) : rest >>> 7;
    }
    this.#bytes[this.#length] = rest;
    this.#length += 1;
  }

  /** Signed, 64 bits, in zig-zag form. */
  #seconds(seconds: bigint): void {
    const value = Number(seconds);
    if (Math.abs(value) < NEAR_SECONDS) {
      this.varint(value < 0 ? -value * 2 - 1 : value * 2);
      return;
    }
    if (seconds !== BigInt.asIntN(64, seconds)) throw new BugError(`A time of ${seconds} s cannot be stored`);
    let rest = BigInt.asUintN(64, (seconds << 1n) ^ (seconds >> 63n));
    for (; rest >= 0x80n; rest >>= 7n) this.u8(Number(rest & 0x7fn) | 0x80);
    this.u8(Number(rest));
  }

  /** A time as seconds and nanoseconds, the seconds rounded towards the past. */
  time(ns: bigint): void {
    let seconds = ns / SECOND;
    let rest = ns % SECOND;
    if (rest < 0n) {
      seconds -= 1n;
      rest += SECOND;
    }
    this.#seconds(seconds);
    this.varint(Number(rest));
  }

  raw(bytes: Uint8Array): void {
    this.#room(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  text(text: ByteString): void {
    this.varint(text.length);
    this.#room(text.length);
    this.#bytes.write(text, this.#length, 'latin1');
    this.#length += text.length;
  }

  #room(extra: number): void {
    if (this.#length + extra <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#length + extra));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}

/** Appends one entry in its stored form. */
export function encodeEntry(out: ByteWriter, entry: Entry): void {
  if (isHostileName(entry.name))
    throw new BugError(`An entry named ${JSON.stringify(entry.name)} cannot be stored`);
  out.u8(ENTRY_TYPES[entry.type]);
  out.varint(flagsOf(entry));
  out.text(entry.name);
  out.varint(entry.mode);
  out.varint(entry.uid);
  out.varint(entry.gid);
  out.time(entry.mtimeNs);
  out.time(entry.ctimeNs);
  out.varint(entry.inode);
  if (entry.links !== undefined) {
    out.varint(entry.links.device);
    out.varint(entry.links.count);
  }
  if (entry.xattrs !== undefined && entry.xattrs.length > 0) {
    out.varint(entry.xattrs.length);
    for (const { name, value } of entry.xattrs) {
      out.text(name);
      out.varint(value.length);
      out.raw(value);
    }
  }
  encodeKindFields(out, entry);
}

function flagsOf(entry: Entry): number {
  let flags = 0;
  if (entry.xattrs !== undefined && entry.xattrs.length > 0) flags |= FLAG.xattrs;
  if (entry.links !== undefined) flags |= FLAG.links;
  if (entry.type !== 'file') return flags;
  if (entry.holes !== undefined && entry.holes.length > 0) flags |= FLAG.holes;
  if (entry.indirect) flags |= FLAG.indirect;
  if (entry.changedWhileRead) flags |= FLAG.changed;
  return flags;
}

function encodeKindFields(out: ByteWriter, entry: Entry): void {
  switch (entry.type) {
    case 'file': {
      out.varint(entry.size);
      if (entry.holes !== undefined && entry.holes.length > 0) {
        out.varint(entry.holes.length);
        let end = 0;
        for (const hole of entry.holes) {
          out.varint(hole.offset - end);
          out.varint(hole.length);
          end = hole.offset + hole.length;
        }
      }
      out.varint(entry.content.length / 24);
      out.raw(entry.content);
      return;
    }
    case 'directory':
      out.raw(entry.id);
      out.varint(entry.totals.files);
      out.varint(entry.totals.bytes);
      out.varint(entry.totals.entries);
      return;
    case 'symlink':
      out.text(entry.target);
      return;
    case 'char-device':
    case 'block-device':
      out.varint(entry.major);
      out.varint(entry.minor);
      return;
    case 'fifo':
    case 'socket':
      return;
  }
}

/** A leaf from entries that are already encoded. */
export function encodeLeaf(count: number, encodedEntries: Uint8Array): Buffer {
  const out = new ByteWriter(encodedEntries.length + 12);
  out.u8(1);
  out.u8(0);
  out.varint(count);
  out.raw(encodedEntries);
  return out.copy();
}

export function encodeBranch(level: number, children: readonly BranchChild[]): Buffer {
  const out = new ByteWriter(16 + children.length * 64);
  out.u8(1);
  out.u8(1);
  out.u8(level);
  out.varint(children.length);
  for (const child of children) {
    out.text(child.firstName);
    out.raw(child.id);
  }
  return out.copy();
}

/** A list of data chunk ids (24 bytes each). */
export function encodeList(ids: Buffer): Buffer {
  const out = new ByteWriter(ids.length + 16);
  out.u8(1);
  out.u8(2);
  out.varint(ids.length / 24);
  out.raw(ids);
  return out.copy();
}
