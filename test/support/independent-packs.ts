/** Sections 5.1 and 5.2 of docs/repository-format.md: where chunks lie, and their bytes. Nothing here comes from src/. */

import { zstdDecompressSync } from 'node:zlib';
import {
  bytes,
  hex,
  names,
  need,
  objectKey,
  openHeader,
  openNamed,
  openPart,
  read,
  type Fields,
  type Keys,
  type ObjectKey,
} from './independent-objects.ts';
import { ascii, blake3Keyed, expand, join, u32 } from './independent-primitives.ts';

interface Segment {
  readonly offset: number;
  readonly stored: number;
  readonly raw: number;
  readonly compression: number;
  readonly chunks: number;
}

interface Pack {
  readonly name: string;
  readonly key: ObjectKey;
  readonly segments: readonly Segment[];
  readonly lengths: readonly number[];
  readonly ids: readonly Buffer[];
}

interface Place {
  readonly pack: Pack;
  readonly segment: number;
  readonly offset: number;
  readonly length: number;
}

/** Where chunks lie, by the first 16 bytes of their ids. */
export type Places = ReadonlyMap<string, Place>;

/** @param from the index objects and the directories of packs they do not name, or the directories alone */
export function chunkPlaces(directory: string, keys: Keys, from: 'index' | 'directories'): Places {
  const places = new Map<string, Place>();
  const packs = names(directory, 'packs', /^[0-9a-f]{2}$/).flatMap((two) =>
    names(directory, `packs/${two}`, /^[0-9a-f]{64}$/),
  );
  const lengths = new Map(packs.map((name) => [name, read(directory, packKey(name)).length]));
  const covered = new Set<string>();
  if (from === 'index') {
    for (const { length, ...pack } of indexedPacks(directory, keys)) {
      if (lengths.get(pack.name) !== length) continue;
      covered.add(pack.name);
      addPlaces(places, pack);
    }
  }
  for (const name of packs)
    if (!covered.has(name)) addPlaces(places, packOf(read(directory, packKey(name)), name, keys));
  return places;
}

/** The first 16 bytes of the ids of the chunks in each stored pack, as its own directory has them. */
export function storedPacks(directory: string, keys: Keys): ReadonlyMap<string, readonly string[]> {
  const packs = names(directory, 'packs', /^[0-9a-f]{2}$/).flatMap((two) =>
    names(directory, `packs/${two}`, /^[0-9a-f]{64}$/),
  );
  return new Map(
    packs.map((name) => {
      const { ids } = packOf(read(directory, packKey(name)), name, keys);
      return [name, ids.map((id) => hex(id.subarray(0, 16)))];
    }),
  );
}

/** Index objects that another one supersedes, and the ones that say so. */
export function supersededIndexObjects(directory: string, keys: Keys): ReadonlyMap<string, string> {
  const superseded = new Map<string, string>();
  for (const by of names(directory, 'index', /^[0-9a-f]{64}$/)) {
    const object = inflate(openNamed(directory, 'index', by, 4, keys));
    for (const name of supersededBy(object)) superseded.set(name, by);
  }
  return superseded;
}

function packKey(name: string): string {
  return `packs/${name.slice(0, 2)}/${name}`;
}

function addPlaces(places: Map<string, Place>, pack: Pack): void {
  let chunk = 0;
  for (const [segment, { chunks, raw, stored, compression }] of pack.segments.entries()) {
    need(compression === 1 || (compression === 0 && stored === raw + 16), 'compression');
    let offset = 0;
    for (let i = 0; i < chunks; i += 1, chunk += 1) {
      const length = pack.lengths[chunk] ?? 0;
      need(length >= 1 && length <= 8 * 1024 * 1024, 'length of a chunk');
      places.set(hex(pack.ids[chunk]?.subarray(0, 16) ?? u32(0)), { pack, segment, offset, length });
      offset += length;
    }
    need(offset === raw, 'length of a segment');
  }
  need(chunk === pack.ids.length, 'number of chunks');
}

/** By the pack's own directory. */
function packOf(stored: Buffer, name: string, keys: Keys): Pack {
  const key = openHeader(stored, [1, 2], keys);
  const tail = stored.subarray(stored.length - 16);
  const [offset, length, padding] = [tail.readUInt32BE(0), tail.readUInt32BE(4), tail.readUInt32BE(8)];
  need(tail.toString('latin1', 12) === 'HF1T' && offset + length + 16 === stored.length, 'tail');
  const sealed = stored.subarray(offset, offset + length);
  const plain = openPart(key, key.header, keys.repo, 0xffff_ffff, sealed);
  need(plain[0] === 1 && plain[1] === stored[5] && plain.readUInt32BE(8) === stored.length, 'directory');
  const body = directoryBody(plain, 12, plain.readUInt16BE(2), plain.readUInt32BE(4), 24);
  need(body.end === plain.length && body.after + padding === offset, 'length of a directory');
  const zeros = openPart(key, key.header, keys.repo, 0xffff_fffe, stored.subarray(body.after, offset));
  need(zeros.equals(Buffer.alloc(zeros.length)), 'padding');
  return { name, key, ...body };
}

function directoryBody(from: Buffer, at: number, segmentCount: number, chunkCount: number, idBytes: number) {
  const segments: Segment[] = [];
  const lengths: number[] = [];
  const ids: Buffer[] = [];
  let offset = 80;
  let position = at;
  for (let i = 0; i < segmentCount; i += 1, position += 12) {
    const [stored, raw] = [from.readUInt32BE(position), from.readUInt32BE(position + 4)];
    const [compression, chunks] = [from.readUInt8(position + 8), from.readUIntBE(position + 9, 3)];
    segments.push({ offset, stored, raw, compression, chunks });
    offset += stored;
  }
  for (let i = 0; i < chunkCount; i += 1, position += 3) lengths.push(from.readUIntBE(position, 3));
  for (let i = 0; i < chunkCount; i += 1, position += idBytes)
    ids.push(from.subarray(position, position + idBytes));
  return { segments, lengths, ids, end: position, after: offset };
}

/** The packs that index objects name which no other one supersedes. */
function* indexedPacks(directory: string, keys: Keys): Generator<Pack & { readonly length: number }> {
  const objects = new Map<string, Buffer>();
  for (const name of names(directory, 'index', /^[0-9a-f]{64}$/))
    objects.set(name, inflate(openNamed(directory, 'index', name, 4, keys)));
  const superseded = new Set([...objects.values()].flatMap((object) => supersededBy(object)));
  for (const [objectName, object] of objects) {
    if (superseded.has(objectName)) continue;
    let at = 8 + object.readUInt32BE(4) * 32 + 4;
    for (let left = object.readUInt32BE(at - 4); left > 0; left -= 1) {
      const fixed = object.subarray(at, at + 80);
      const name = hex(fixed.subarray(0, 32));
      const [type, form, segments] = [fixed.readUInt8(32), fixed.readUInt8(33), fixed.readUInt16BE(34)];
      const [cipher, sealedBy] = form === 2 ? [1, object.readUInt32BE(at + 80)] : [form, 0];
      const [chunks, length, generation] = [
        fixed.readUInt32BE(36),
        fixed.readUInt32BE(40),
        fixed.readUInt32BE(44),
      ];
      const body = directoryBody(object, at + (form === 2 ? 84 : 80), segments, chunks, 16);
      const key = objectKey({ type, cipher, generation, salt: fixed.subarray(48, 80), sealedBy }, keys);
      yield { name, length, key, ...body };
      at = body.end;
    }
    need(at === object.length, 'end of an index object');
  }
}

function inflate(plaintext: Buffer): Buffer {
  if (plaintext[0] === 0) return plaintext.subarray(1);
  need(plaintext[0] === 1, 'form of an index object');
  const length = plaintext.readUInt32BE(1);
  const raw = zstdDecompressSync(plaintext.subarray(5), { maxOutputLength: length });
  need(raw.length === length, 'length of an index object');
  return raw;
}

function supersededBy(object: Buffer): string[] {
  need(object.readUInt32BE(0) === 0x0100_0000, 'version of an index object');
  const count = object.readUInt32BE(4);
  return Array.from({ length: count }, (_, i) => object.toString('hex', 8 + i * 32, 40 + i * 32));
}

/** The chunks of one snapshot. */
export class ChunkReader {
  readonly #directory: string;
  readonly #keys: Keys;
  readonly #places: Places;
  readonly #dataKey: Buffer;
  readonly #treeKey: Buffer;
  readonly #segments = new Map<string, Buffer>();

  constructor(directory: string, keys: Keys, places: Places, snapshot: Fields) {
    this.#directory = directory;
    this.#keys = keys;
    this.#places = places;
    const plain = snapshot['plain'] === true;
    const salt = snapshot['salt'] === undefined ? undefined : bytes(snapshot, 'salt', 16);
    const salted = (key: Uint8Array): Buffer =>
      salt === undefined ? Buffer.from(key) : expand(key, join('hf1/id/salt', salt), 32);
    this.#dataKey = salted(plain ? keys.idPlain : keys.idData);
    this.#treeKey = salted(plain ? expand(keys.idPlain, ascii('hf1/id/plain-tree'), 32) : keys.idTree);
  }

  data(id: Uint8Array): Buffer {
    return this.#chunk(id, this.#dataKey);
  }

  tree(id: Uint8Array): Buffer {
    return this.#chunk(id, this.#treeKey);
  }

  #chunk(id: Uint8Array, key: Buffer): Buffer {
    const place = this.#places.get(hex(id.subarray(0, 16)));
    need(place !== undefined, `no pack holds chunk ${hex(id)}`);
    const chunk = this.#segment(place).subarray(place.offset, place.offset + place.length);
    need(blake3Keyed(key, chunk).subarray(0, 24).equals(id), 'chunk id');
    return chunk;
  }

  #segment({ pack, segment }: Place): Buffer {
    const known = `${pack.name}/${segment}`;
    const cached = this.#segments.get(known);
    if (cached !== undefined) return cached;
    const entry = pack.segments[segment];
    need(entry !== undefined, 'segment number');
    const { offset, stored, raw, compression } = entry;
    const sealed = read(this.#directory, packKey(pack.name)).subarray(offset, offset + stored);
    const part = join(u32(segment), u32(raw), compression);
    const opened = openPart(pack.key, pack.key.header, this.#keys.repo, segment, sealed, part);
    const data = compression === 1 ? zstdDecompressSync(opened, { maxOutputLength: raw }) : opened;
    need(data.length === raw, 'raw length of a segment');
    this.#segments.set(known, data);
    return data;
  }
}
