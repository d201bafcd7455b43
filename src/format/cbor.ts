import { decode, encode, rfc8949EncodeOptions } from 'cborg';
import { corrupt } from '../base/errors.ts';

export type CborValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | readonly CborValue[]
  | { readonly [key: string]: CborValue };

export type CborMap = { readonly [key: string]: CborValue };

/** Deterministic CBOR (RFC 8949, 4.2.1). */
export function encodeCbor(value: CborValue): Buffer {
  return Buffer.from(encode(value, rfc8949EncodeOptions));
}

const MAX_DEPTH = 64;

const STRICT = {
  strict: true,
  allowIndefinite: false,
  allowUndefined: false,
  rejectDuplicateMapKeys: true,
} as const;

/**
 * Decodes a CBOR map, refusing anything that is not deterministic and anything nested deeper than 64. One value has
 * one form only, so a signature or tag over a map can be checked on what was decoded.
 * @throws {RepositoryError} CORRUPT_DATA
 */
export function decodeCborMap(bytes: Uint8Array, object: string): RecordReader {
  if (nesting(bytes) > MAX_DEPTH) throw corrupt(object, 'its record is nested too deeply');
  let value: unknown;
  let again: Uint8Array;
  try {
    value = decode(bytes, STRICT);
    again = encode(value, rfc8949EncodeOptions);
  } catch (cause) {
    throw corrupt(object, 'its record is not valid CBOR', cause);
  }
  // The decoder accepts keys out of order, long floats, numbers as floats, and text that is not UTF-8; this comparison
  // refuses them.
  if (Buffer.compare(again, bytes) !== 0)
    throw corrupt(object, 'its record is not in the one form it may have');
  return new RecordReader(value, object);
}

/** Upper bound of the nesting depth, found without recursion so that hostile input cannot exhaust the stack. */
function nesting(bytes: Uint8Array): number {
  const open: number[] = [];
  let deepest = 0;
  let at = 0;
  while (at < bytes.length) {
    const initial = bytes[at] ?? 0;
    const major = initial >> 5;
    const info = initial & 31;
    const width = info < 24 ? 0 : info <= 27 ? 1 << (info - 24) : -1;
    if (width < 0) return deepest;
    let argument = info;
    if (width > 0) {
      argument = 0;
      for (let i = 1; i <= width; i += 1) argument = argument * 256 + (bytes[at + i] ?? 0);
    }
    at += 1 + width;
    if (major === 2 || major === 3) at += argument;
    if (major === 4 || major === 5) {
      const items = major === 4 ? argument : argument * 2;
      if (items > 0) {
        open.push(items);
        if (open.length > deepest) deepest = open.length;
        if (deepest > MAX_DEPTH) return deepest;
        continue;
      }
    }
    while (open.length > 0) {
      const left = (open.pop() ?? 1) - 1;
      if (left > 0) {
        open.push(left);
        break;
      }
    }
  }
  return deepest;
}

/** Typed access to a decoded map: a field of the wrong shape is damage, with the object named. */
export class RecordReader {
  readonly #map: Readonly<Record<string, unknown>>;
  readonly object: string;

  constructor(value: unknown, object: string) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Uint8Array) {
      throw corrupt(object, 'its record is not a map');
    }
    this.#map = Object.assign(Object.create(null), value);
    this.object = object;
  }

  has(field: string): boolean {
    return this.#map[field] !== undefined && this.#map[field] !== null;
  }

  /** The stored form of the map without one field: what a signature or tag in that field covers. */
  encodedWithout(field: string): Buffer {
    const others = Object.entries(this.#map).filter(([name]) => name !== field);
    return Buffer.from(encode(Object.fromEntries(others), rfc8949EncodeOptions));
  }

  /** The field names, for maps keyed by data. */
  fields(): string[] {
    return Object.keys(this.#map);
  }

  integer(field: string, min = 0, max = Number.MAX_SAFE_INTEGER): number {
    const value = this.#map[field];
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < min || value > max)
      throw this.#wrong(field);
    return value;
  }

  text(field: string, maxLength = 65_536): string {
    const value = this.#map[field];
    if (typeof value !== 'string' || value.length > maxLength) throw this.#wrong(field);
    return value;
  }

  boolean(field: string): boolean {
    const value = this.#map[field];
    if (typeof value !== 'boolean') throw this.#wrong(field);
    return value;
  }

  bytes(field: string, length?: number): Buffer {
    const value = this.#map[field];
    if (!(value instanceof Uint8Array) || (length !== undefined && value.length !== length))
      throw this.#wrong(field);
    return Buffer.from(value);
  }

  list<T>(field: string, item: (value: unknown, name: string) => T, max = 1_000_000): T[] {
    const value = this.#map[field];
    if (!Array.isArray(value) || value.length > max) throw this.#wrong(field);
    return value.map((one: unknown, i) => item(one, `${field}[${i}]`));
  }

  map(field: string): RecordReader {
    return new RecordReader(this.#map[field], `${this.object} (${field})`);
  }

  maps(field: string, max?: number): RecordReader[] {
    return this.list(field, (value, name) => new RecordReader(value, `${this.object} (${name})`), max);
  }

  texts(field: string): string[] {
    return this.list(field, (value) => {
      if (typeof value !== 'string') throw this.#wrong(field);
      return value;
    });
  }

  byteStrings(field: string, length?: number): Buffer[] {
    return this.list(field, (value) => {
      if (!(value instanceof Uint8Array) || (length !== undefined && value.length !== length))
        throw this.#wrong(field);
      return Buffer.from(value);
    });
  }

  #wrong(field: string): Error {
    return corrupt(this.object, `its field "${field}" is missing or has an impossible value`);
  }
}
