/** Parsers of what stands in a repository, once it is opened. */
import { readFileSync } from 'node:fs';
import { zstdCompressSync } from 'node:zlib';
import { RepositoryError } from '../../../src/base/errors.ts';
import { SegmentDecompressor } from '../../../src/codec/compress.ts';
import { decodeCborMap, encodeCbor, type CborValue } from '../../../src/format/cbor.ts';
import { decodeGrant, encodeGrant } from '../../../src/format/grant.ts';
import { CIPHER_GCM, decodeHeader, encodeHeader } from '../../../src/format/header.ts';
import { decodeIndexObject, encodeIndexObject, encodeIndexedPack } from '../../../src/format/index-object.ts';
import { decodeKeyring, encodeKeyring, padded } from '../../../src/format/keyring.ts';
import {
  decodePackDirectory,
  decodeTail,
  encodePackDirectory,
  encodeTail,
} from '../../../src/format/pack.ts';
import { decodeLease, encodeLease } from '../../../src/format/lease-record.ts';
import {
  configMap,
  decodeConfig,
  decodeHead,
  decodeSnapshot,
  decodeTombstone,
  encodeHead,
  encodeSigned,
  encodeSnapshot,
  tombstoneMap,
} from '../../../src/format/records.ts';
import { decodeTreeChunk } from '../../../src/format/tree-decode.ts';
import {
  ByteWriter,
  encodeBranch,
  encodeEntry,
  encodeLeaf,
  encodeList,
} from '../../../src/format/tree-encode.ts';
import type { Entry, TreeChunk } from '../../../src/format/tree.ts';
import { compressRecord, decompressRecord } from '../../../src/repository/objects/objects.ts';
import type { FormatVectors } from '../../support/format-vectors.ts';
import { uncbor } from '../../support/independent-primitives.ts';
import { readTreeChunk, type TreeEntry } from '../../support/independent-tree.ts';
import type { SeededRandom } from '../../support/seeded-random.ts';
import { exampleBytesOf, workedExample } from '../../support/worked-example.ts';
import type { WriteOnlyVectors } from '../../support/write-only-vectors.ts';
import { changeCbor, judged, need, parsed, requireEqual } from '../structured.ts';
import type { FuzzTarget, TargetTable } from '../target.ts';

const vectors: FormatVectors = JSON.parse(
  readFileSync(new URL('../../../docs/vectors/format-1.json', import.meta.url), 'utf8'),
);
const hex = (text: string): Buffer => Buffer.from(text, 'hex');
/** What write-only keys add to the format. */
export const WRITE_ONLY: WriteOnlyVectors = JSON.parse(
  readFileSync(new URL('../../../docs/vectors/write-only.json', import.meta.url), 'utf8'),
);

/** The plaintext of an object of the format's worked example. */
export function openedExample(key: string): Buffer {
  const object = workedExample().find((one) => one.key.startsWith(key));
  return Buffer.concat((object?.opened[0]?.fields ?? []).map(([, bytes]) => bytes));
}

export function storedExample(key: string): Buffer {
  const object = workedExample().find((one) => one.key.startsWith(key));
  if (object === undefined) throw new Error(`the example has no ${key}`);
  return exampleBytesOf(object);
}

/** Damage, a newer format: nothing else may be said about bytes of a repository. */
export function isRefusal(error: unknown): boolean {
  return error instanceof RepositoryError && ['CORRUPT_DATA', 'NEWER_FORMAT'].includes(error.code);
}

const parse = <T>(decode: (bytes: Buffer, object: string) => T, input: Buffer) =>
  parsed(() => decode(input, 'object'), isRefusal);

/** A record in CBOR, which is written again from what was read of it and read once more. */
function record<T>(
  decode: (bytes: Buffer, object: string) => T,
  encode: (value: T) => Buffer,
  seed: Buffer,
  file = 'src/format/records.ts',
): () => FuzzTarget {
  return () => ({
    files: [file, 'src/format/cbor.ts'],
    seeds: [seed],
    maxBytes: 65_536,
    change: changeCbor,
    run: (input) =>
      judged(parse(decode, input), (value) => {
        requireEqual(decode(encode(value), 'object'), value, 'what was written again');
      }),
  });
}

const nobody = (): Buffer => Buffer.alloc(64);
const name = Buffer.alloc(32, 7).toString('hex');
const TOMBSTONE = {
  kind: 'snapshots',
  names: [name, name],
  places: [{ writer: name.slice(32), seq: 3 }, undefined],
  reason: 'unused',
  atMs: 1,
  fence: 2,
} as const;
export const LEASE = { writer: name.slice(32), nonce: name.slice(48), startedMs: 0, host: 'h', pid: 1 };

export const STORED: TargetTable<'stored'> = {
  header: () => ({
    files: ['src/format/header.ts'],
    seeds: [
      storedExample('heads/').subarray(0, 80),
      hex(vectors.packs[0]?.bytes ?? '').subarray(0, 80),
      hex(WRITE_ONLY.head.object).subarray(0, 80),
    ],
    maxBytes: 200,
    run: (input) =>
      judged(parse(decodeHeader, input), (header) => {
        requireEqual(encodeHeader(header), input.subarray(0, 80), 'the header');
      }),
  }),
  'pack-directory': () => ({
    files: ['src/format/pack.ts'],
    seeds: vectors.packs.map(({ directory }) => hex(directory)),
    maxBytes: 262_144,
    run: (input) =>
      judged(parse(decodePackDirectory, input), (directory) => {
        requireEqual(encodePackDirectory(directory), input, 'the directory');
      }),
  }),
  // The first four bytes are the length of the pack.
  'pack-tail': () => ({
    files: ['src/format/pack.ts'],
    seeds: vectors.packs.map(({ bytes }) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length / 2);
      return Buffer.concat([length, hex(bytes).subarray(-16)]);
    }),
    maxBytes: 64,
    run: (input) => {
      if (input.length < 4) return 'refused';
      const packLength = input.readUInt32BE(0);
      const tail = input.subarray(4);
      return judged(
        parse((bytes, object) => decodeTail(bytes, packLength, object), tail),
        (value) => {
          requireEqual(encodeTail(value), tail.subarray(-16), 'the tail');
          need(value.directoryOffset + value.directoryLength + 16 === packLength, 'the tail points outside');
        },
      );
    },
  }),
  'tree-chunk': () => ({
    files: ['src/format/tree-decode.ts', 'src/format/tree.ts'],
    seeds: [vectors.trees.leaf.bytes, vectors.trees.branch.bytes, vectors.trees.list.bytes].map(hex),
    maxBytes: 65_536,
    run: (input) =>
      judged(parse(decodeTreeChunk, input), (chunk) => {
        requireEqual(encoded(chunk), input, 'the chunk');
        requireSameTree(chunk, input);
      }),
  }),
  'index-object': () => ({
    files: ['src/format/index-object.ts', 'src/format/pack.ts'],
    seeds: [hex(vectors.index.raw), sealedIndex(hex(vectors.index.raw))],
    maxBytes: 262_144,
    run: (input) =>
      judged(parse(decodeIndexObject, input), ({ supersedes, packs }) => {
        requireEqual(encodeIndexObject(supersedes, packs.map(encodeIndexedPack)), input, 'the index object');
      }),
  }),
  snapshot: record(decodeSnapshot, encodeSnapshot, openedExample('snapshots/')),
  head: record(decodeHead, encodeHead, openedExample('heads/')),
  lease: record(decodeLease, encodeLease, encodeLease(LEASE)),
  tombstone: record(
    (bytes, object) => decodeTombstone(bytes, object).record,
    (value) => encodeSigned(tombstoneMap(value), nobody),
    encodeSigned(tombstoneMap(TOMBSTONE), nobody),
  ),
  config: record(
    (bytes, object) => decodeConfig(bytes, object).record,
    (value) => encodeSigned(configMap(value), nobody),
    openedExample('config/'),
  ),
  keyring: () => ({
    files: ['src/format/keyring.ts', 'src/format/cbor.ts'],
    seeds: [openedExample('keys/ring-1'), withWriteOnlyKey(openedExample('keys/ring-1'))],
    maxBytes: 65_536,
    change: changePadded,
    run: (input) =>
      judged(parse(decodeKeyring, input), (ring) => {
        requireEqual(decodeKeyring(encodeKeyring(ring), 'object'), ring, 'the keyring written again');
      }),
  }),
  grant: () => ({
    files: ['src/format/grant.ts', 'src/format/keyring.ts', 'src/format/cbor.ts'],
    seeds: [padded(hex(WRITE_ONLY.grant.plaintext))],
    maxBytes: 65_536,
    change: changePadded,
    run: (input) =>
      judged(parse(decodeGrant, input), (grant) => {
        requireEqual(decodeGrant(encodeGrant(grant), 'object'), grant, 'the grant written again');
      }),
  }),
  'cbor-map': () => ({
    files: ['src/format/cbor.ts'],
    seeds: [openedExample('snapshots/'), openedExample('config/'), encodeCbor({ a: [1, { b: null }] })],
    maxBytes: 65_536,
    change: changeCbor,
    run: (input) =>
      judged(parse(decodeCborMap, input), (map) => {
        const stranger = uncbor(input);
        requireEqual(map.fields().sort(), Object.keys(stranger).sort(), 'what the stranger reads');
        requireEqual(encodeCbor(stranger as CborValue), input, 'the map');
        requireEqual(map.encodedWithout('\0no field'), input, 'what a signature covers');
      }),
  }),
  'compressed-record': () => ({
    files: ['src/repository/objects/objects.ts'],
    seeds: [compressRecord(Buffer.alloc(5_000, 'abc')), compressRecord(Buffer.from('short'))],
    maxBytes: 65_536,
    run: (input) =>
      judged(parse(decompressRecord, input), (raw) => {
        requireEqual(decompressRecord(compressRecord(raw), 'object'), raw, 'what was compressed again');
      }),
  }),
  // The first three bytes are the length that the directory of the pack announces.
  segment: () => {
    const decompressor = new SegmentDecompressor();
    const raw = Buffer.alloc(5_000, 'abc');
    const announced = Buffer.from([0, 0x13, 0x88]);
    return {
      files: ['src/codec/compress.ts'],
      seeds: [Buffer.concat([announced, zstdCompressSync(raw)])],
      maxBytes: 65_536,
      run: (input) => {
        if (input.length < 3) return 'refused';
        const target = Buffer.alloc(input.readUIntBE(0, 3));
        return judged(parse((bytes) => decompressor.decompressInto(target, bytes), input.subarray(3)));
      },
    };
  },
};

/** Changes the map of a keyring, or of what stands in its place, and pads it anew. */
function changePadded(input: Buffer, random: SeededRandom): Buffer {
  const length = input.length < 4 ? 0 : input.readUInt32BE(0);
  const map = changeCbor(input.subarray(4, 4 + length), random);
  const head = Buffer.alloc(4);
  head.writeUInt32BE(map.length);
  return Buffer.concat([head, map, Buffer.alloc(random.below(2) * 1_024)]);
}

function withWriteOnlyKey(bytes: Buffer): Buffer {
  const ring = decodeKeyring(bytes, 'object');
  const { slot, public: own } = ring.slots[0] ?? { slot: name.slice(32), public: Buffer.alloc(32) };
  const key = { slot, public: own, kind: 'write-only' as const, label: 'server', number: 3 };
  return encodeKeyring({ ...ring, minFormat: 2, writeOnly: { last: 3, keys: [key] } });
}

/** The same index object, its packs as if a write-only key had sealed them. */
function sealedIndex(raw: Buffer): Buffer {
  const { supersedes, packs } = decodeIndexObject(raw, 'object');
  const sealed = packs.map((pack) => encodeIndexedPack({ ...pack, cipher: CIPHER_GCM, sealedBy: 3 }));
  return encodeIndexObject(supersedes, sealed);
}

function encoded(chunk: TreeChunk): Buffer {
  if (chunk.form === 'list') return encodeList(chunk.ids);
  if (chunk.form === 'branch') return encodeBranch(chunk.level, chunk.children);
  const out = new ByteWriter(256);
  for (const entry of chunk.entries) encodeEntry(out, entry);
  return encodeLeaf(chunk.entries.length, out.copy());
}

/** What a reader who knows the page alone finds in the same bytes. */
function requireSameTree(chunk: TreeChunk, input: Buffer): void {
  const stranger = readTreeChunk(input);
  need(chunk.form === (['leaf', 'branch', 'list'] as const)[stranger.form], 'the forms differ');
  if (chunk.form === 'list' && stranger.form === 2)
    requireEqual(chunk.ids, Buffer.concat(stranger.ids), 'the ids');
  if (chunk.form === 'branch' && stranger.form === 1) {
    const children = chunk.children.map(({ firstName, id }) => [firstName, id]);
    requireEqual(
      children,
      stranger.children.map(({ first, id }) => [first.toString('latin1'), id]),
      'the children',
    );
  }
  if (chunk.form !== 'leaf' || stranger.form !== 0) return;
  requireEqual(chunk.entries.length, stranger.entries.length, 'the number of entries');
  for (const [index, entry] of chunk.entries.entries()) {
    const other = stranger.entries[index];
    if (other !== undefined) requireSameEntry(entry, other);
  }
}

function requireSameEntry(entry: Entry, other: TreeEntry): void {
  requireEqual(
    [entry.name, entry.mode, entry.uid, entry.gid, entry.mtimeNs, entry.ctimeNs, BigInt(entry.inode)],
    [
      other.name.toString('latin1'),
      other.mode,
      other.uid,
      other.gid,
      other.mtimeNs,
      other.ctimeNs,
      other.inode,
    ],
    'the metadata',
  );
  requireEqual(
    (entry.xattrs ?? []).map(({ name, value }) => [name, value]),
    other.xattrs.map(({ name, value }) => [name.toString('latin1'), value]),
    'the attributes',
  );
  if (entry.type === 'file') {
    requireEqual(
      [entry.size, entry.indirect, entry.changedWhileRead],
      [other.size, other.indirect, other.changed],
      'the file',
    );
    requireEqual(entry.content, Buffer.concat(other.content), 'the content');
  }
  if (entry.type === 'directory') requireEqual(entry.id, other.directory, 'the directory');
  if (entry.type === 'symlink') requireEqual(entry.target, other.target?.toString('latin1'), 'the target');
}
