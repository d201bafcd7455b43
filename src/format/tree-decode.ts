import { asByteString, type ByteString } from '../base/byte-path.ts';
import { corrupt, newerFormat } from '../base/errors.ts';
import {
  FLAG,
  MAX_LEVEL,
  MOST_IN_CHUNK,
  isHostileName,
  type BranchChild,
  type Entry,
  type EntryMetadata,
  type Hole,
  type TreeChunk,
  type Xattr,
} from './tree.ts';

const ID = 24;
const SECOND = 1_000_000_000n;
/** Place value of the eighth and last byte of a number below 2^53. */
const LAST_PLACE = 2 ** 49;

/** Reads the integer forms of the format from untrusted bytes. */
class ByteReader {
  readonly #bytes: Buffer;
  readonly #object: string;
  #at = 0;
  /** Number of items of all kinds that the chunk has announced. */
  #parts = 0;

  constructor(bytes: Buffer, object: string) {
    this.#bytes = bytes;
    this.#object = object;
  }

  get done(): boolean {
    return this.#at === this.#bytes.length;
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  u8(): number {
    const value = this.#bytes[this.#at];
    if (value === undefined) throw this.fail('ends in the middle of a field');
    this.#at += 1;
    return value;
  }

  varint(): number {
    const first = this.u8();
    if (first < 0x80) return first;
    let value = first & 0x7f;
    for (let place = 0x80; ; place *= 0x80) {
      const byte = this.u8();
      value += (byte & 0x7f) * place;
      if (value > Number.MAX_SAFE_INTEGER) throw this.fail('holds a number beyond 2^53');
      if (byte < 0x80) {
        if (byte === 0) throw this.fail('holds a number in a form that is not the shortest');
        return value;
      }
      if (place === LAST_PLACE) throw this.fail('holds a number beyond 2^53');
    }
  }

  /** A signed number of 64 bits in zig-zag form. Numbers of up to seven bytes, as nearly all times are, need no bigint. */
  #seconds(): bigint {
    let low = 0;
    for (let place = 1; place < LAST_PLACE; place *= 0x80) {
      const byte = this.u8();
      low += (byte & 0x7f) * place;
      if (byte >= 0x80) continue;
      if (byte === 0 && place > 1) throw this.fail('holds a number in a form that is not the shortest');
      return BigInt(low % 2 === 0 ? low / 2 : -(low + 1) / 2);
    }
    let value = BigInt(low);
    for (let shift = 49n; shift < 70n; shift += 7n) {
      const byte = this.u8();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte >= 0x80) continue;
      if (byte === 0) throw this.fail('holds a number in a form that is not the shortest');
      if (value >= 1n << 64n) break;
      return (value >> 1n) ^ -(value & 1n);
    }
    throw this.fail('holds a time beyond 64 bits');
  }

  time(): bigint {
    const seconds = this.#seconds();
    const ns = this.varint();
    if (ns >= 1_000_000_000) throw this.fail('holds a time with more than 999,999,999 nanoseconds');
    return seconds * SECOND + BigInt(ns);
  }

  raw(length: number): Buffer {
    if (length > this.left) throw this.fail('ends in the middle of a field');
    const bytes = this.#bytes.subarray(this.#at, this.#at + length);
    this.#at += length;
    return bytes;
  }

  text(maxLength: number): ByteString {
    const length = this.varint();
    if (length > maxLength || length > this.left) throw this.fail('holds a text beyond its limit');
    const text = this.#bytes.toString('latin1', this.#at, this.#at + length);
    this.#at += length;
    return asByteString(text);
  }

  /** A count of items that take at least `itemBytes` each, so that it cannot announce more than can follow. */
  count(itemBytes: number): number {
    const count = this.varint();
    if (count * itemBytes > this.left) throw this.fail('announces more than it holds');
    return count;
  }

  /** Like `count`, for items that take more memory than stored bytes. */
  countParts(itemBytes: number, most: number): number {
    const count = this.count(itemBytes);
    this.#parts += count;
    if (count > most || this.#parts > MOST_IN_CHUNK.parts) throw this.fail('holds more than one chunk can');
    return count;
  }

  fail(what: string): Error {
    return corrupt(this.#object, `it ${what}`);
  }
}

/**
 * Decodes a stored tree chunk, refusing hostile names, unsorted or duplicate names and impossible values. The id
 * buffers are views of `bytes`.
 * @throws {RepositoryError} CORRUPT_DATA
 */
export function decodeTreeChunk(bytes: Buffer, object: string): TreeChunk {
  const reader = new ByteReader(bytes, object);
  const version = reader.u8();
  if (version > 1) throw newerFormat(object);
  if (version < 1) throw reader.fail('has an unknown version');
  const form = reader.u8();
  const chunk =
    form === 0 ? leaf(reader) : form === 1 ? branch(reader) : form === 2 ? list(reader) : undefined;
  if (chunk === undefined) throw reader.fail('has an unknown form');
  if (!reader.done) throw reader.fail('has bytes after its end');
  return chunk;
}

function leaf(reader: ByteReader): TreeChunk {
  const count = reader.countParts(12, MOST_IN_CHUNK.entries);
  const entries: Entry[] = [];
  let previous: ByteString | undefined;
  for (let i = 0; i < count; i += 1) {
    const entry = readEntry(reader);
    if (previous !== undefined && !(previous < entry.name))
      throw reader.fail('lists names twice or out of order');
    previous = entry.name;
    entries.push(entry);
  }
  return { form: 'leaf', entries };
}

function branch(reader: ByteReader): TreeChunk {
  const level = reader.u8();
  if (level < 1 || level > MAX_LEVEL) throw reader.fail('has an impossible level');
  const count = reader.countParts(ID + 2, MOST_IN_CHUNK.children);
  if (count === 0) throw reader.fail('is a branch without children');
  const children: BranchChild[] = [];
  for (let i = 0; i < count; i += 1) {
    const firstName = reader.text(4_096);
    const before = children.at(-1);
    if (before !== undefined && !(before.firstName < firstName))
      throw reader.fail('lists names twice or out of order');
    children.push({ firstName, id: reader.raw(ID) });
  }
  return { form: 'branch', level, children };
}

function list(reader: ByteReader): TreeChunk {
  const count = reader.count(ID);
  return { form: 'list', ids: reader.raw(count * ID) };
}

function readEntry(reader: ByteReader): Entry {
  const type = reader.u8();
  const flags = reader.varint();
  if (flags > 31 || (type !== 1 && flags > 3)) throw reader.fail('has an entry with unknown flags');
  const name = reader.text(4_096);
  if (isHostileName(name)) throw reader.fail('has an entry whose name is not allowed');
  const mode = reader.varint();
  const uid = reader.varint();
  const gid = reader.varint();
  const mtimeNs = reader.time();
  const ctimeNs = reader.time();
  const inode = reader.varint();
  if (mode > 0o7777 || uid > 0xffff_ffff || gid > 0xffff_ffff)
    throw reader.fail('has an entry with an impossible mode or owner');
  const metadata: EntryMetadata = {
    name,
    mode,
    uid,
    gid,
    mtimeNs,
    ctimeNs,
    inode,
    links: (flags & FLAG.links) === 0 ? undefined : { device: reader.varint(), count: reader.varint() },
    xattrs: (flags & FLAG.xattrs) === 0 ? undefined : readXattrs(reader),
  };
  switch (type) {
    case 1:
      return readFile(reader, metadata, flags);
    case 2: {
      const id = reader.raw(ID);
      const totals = { files: reader.varint(), bytes: reader.varint(), entries: reader.varint() };
      return { type: 'directory', ...metadata, id, totals };
    }
    case 3:
      return { type: 'symlink', ...metadata, target: reader.text(65_536) };
    case 4:
      return { type: 'fifo', ...metadata };
    case 5:
      return { type: 'socket', ...metadata };
    case 6:
      return { type: 'char-device', ...metadata, major: reader.varint(), minor: reader.varint() };
    case 7:
      return { type: 'block-device', ...metadata, major: reader.varint(), minor: reader.varint() };
    default:
      throw reader.fail('has an entry of an unknown type');
  }
}

function readXattrs(reader: ByteReader): Xattr[] {
  const count = reader.countParts(2, MOST_IN_CHUNK.attributes);
  if (count === 0) throw reader.fail('has an entry with a flag that means nothing');
  const xattrs: Xattr[] = [];
  for (let i = 0; i < count; i += 1) {
    const name = reader.text(4_096);
    const value = reader.raw(reader.varint());
    const before = xattrs.at(-1);
    if (before !== undefined && !(before.name < name))
      throw reader.fail('lists attributes twice or out of order');
    xattrs.push({ name, value });
  }
  return xattrs;
}

function readFile(reader: ByteReader, metadata: EntryMetadata, flags: number): Entry {
  const size = reader.varint();
  const holes = (flags & FLAG.holes) === 0 ? undefined : readHoles(reader, size);
  const count = reader.count(ID);
  const content = reader.raw(count * ID);
  return {
    type: 'file',
    ...metadata,
    size,
    holes,
    content,
    indirect: (flags & FLAG.indirect) !== 0,
    changedWhileRead: (flags & FLAG.changed) !== 0,
  };
}

function readHoles(reader: ByteReader, size: number): Hole[] {
  const count = reader.countParts(2, MOST_IN_CHUNK.parts);
  if (count === 0) throw reader.fail('has an entry with a flag that means nothing');
  const holes: Hole[] = [];
  let end = 0;
  for (let i = 0; i < count; i += 1) {
    const offset = end + reader.varint();
    const length = reader.varint();
    end = offset + length;
    if (length === 0 || end > size) throw reader.fail('has a hole outside of its file');
    holes.push({ offset, length });
  }
  return holes;
}
