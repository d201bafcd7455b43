import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Compression } from '../../src/codec/compress.ts';
import { ChunkHasher } from '../../src/codec/hash.ts';
import { DIRECTORY_SEQUENCE, ObjectSeal, PADDING_SEQUENCE } from '../../src/codec/seal.ts';
import { decodeIndexObject, encodeIndexObject, encodeIndexedPack } from '../../src/format/index-object.ts';
import {
  decodePackDirectory,
  decodeTail,
  directoryLength,
  encodePackDirectory,
  padme,
  type PackDirectory,
} from '../../src/format/pack.ts';
import { fillTable } from '../../src/repository/chunk-index.ts';
import { sha256 } from '../../src/repository/objects/objects.ts';
import { PackWriter, type FinishedPack } from '../../src/repository/packs/pack-writer.ts';
import { SegmentOpener } from '../../src/repository/contents/segment-reader.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { testKeys, secretBytes } from '../support/test-keys.ts';

const keys = testKeys();
const idKey = keys.idKey('data', { plain: false });

const modes: Compression[] = [
  { kind: 'none' },
  { kind: 'auto' },
  { kind: 'zstd', level: 1 },
  { kind: 'zstd', level: 3 },
];

/** Sizes around those where something changes, and whether the bytes compress. */
const chunks = fc.array(
  fc.tuple(
    fc.oneof(
      fc.integer({ min: 1, max: 300 }),
      fc.integer({ min: 1, max: 70_000 }),
      fc.constantFrom(65_535, 65_536, 262_143, 262_144, 400_000),
    ),
    fc.boolean(),
  ),
  { minLength: 1, maxLength: 25 },
);

function content(seed: number, [size, dull]: readonly [number, boolean]): Buffer {
  return dull ? Buffer.alloc(size, `${seed} and so on, `) : seededRandom(seed).bytes(size);
}

describe('a pack writer', () => {
  it('makes packs that give back every chunk, by their directories and by an index object', () => {
    fc.assert(
      fc.property(
        chunks,
        fc.constantFrom(...modes),
        fc.constantFrom(0 as const, 1 as const),
        fc.boolean(),
        (sizes, compression, cipher, reserve) => {
          const packs: FinishedPack[] = [];
          const writer = new PackWriter({
            keys,
            kind: 'data',
            cipher,
            idKey,
            packTarget: 200_000,
            segmentTarget: 65_536,
            compression,
            take: (capacity) => Buffer.alloc(capacity, 0xee),
            emit: (pack) => packs.push({ ...pack, bytes: Buffer.from(pack.bytes) }),
          });
          const hasher = new ChunkHasher(idKey);
          const stored = sizes.map((size, seed) => content(seed, size));
          for (const chunk of stored) {
            if (reserve && chunk.length <= 65_536) {
              chunk.copy(writer.reserve(chunk.length));
              writer.commit(hasher.id(chunk), chunk.length);
            } else writer.append(hasher.id(chunk), chunk);
          }
          writer.finish();

          const byDirectory = packs.map((pack) => readDirectory(pack));
          const index = decodeIndexObject(
            encodeIndexObject(
              [],
              packs.map(({ indexEntry }) => indexEntry),
            ),
            'index',
          );
          for (const known of [byDirectory, index.packs]) {
            const filled = fillTable(known);
            expect(filled.chunks).toBe(stored.length);
            for (const chunk of stored) {
              const place = filled.table.find(hasher.id(chunk));
              const pack = filled.packs[place?.pack ?? -1];
              if (place === undefined || pack === undefined) throw new Error('a chunk has no place');
              const bytes = packs[place.pack]?.bytes ?? Buffer.alloc(0);
              const [start, length] = [
                pack.segments[place.segment * 3] ?? 0,
                pack.segments[place.segment * 3 + 1] ?? 0,
              ];
              const raw = new SegmentOpener(keys).open(
                pack,
                place.segment,
                bytes.subarray(start, start + length),
              );
              expect(raw.subarray(place.offset, place.offset + place.length).equals(chunk)).toBe(true);
            }
          }
        },
      ),
      { numRuns: 40 },
    );
  });

  /** Reads a pack's directory as `readPackDirectory` does, and everything that reading chunks does not touch. */
  function readDirectory({ bytes, name }: FinishedPack) {
    expect(sha256(bytes)).toBe(name);
    expect(padme(bytes.length)).toBe(bytes.length);
    const seal = ObjectSeal.open(keys, bytes, 'pack', [1]);
    const tail = decodeTail(bytes.subarray(-16), bytes.length, 'pack');
    const sealed = bytes.subarray(tail.directoryOffset, tail.directoryOffset + tail.directoryLength);
    const directory = decodePackDirectory(seal.open(DIRECTORY_SEQUENCE, sealed, 'pack'), 'pack');
    const end = directory.segments.reduce((at, { storedLength }) => at + storedLength, 80);
    expect(end + tail.paddingLength).toBe(tail.directoryOffset);
    expect(directory.packLength).toBe(bytes.length);
    const padding = seal.open(PADDING_SEQUENCE, bytes.subarray(end, tail.directoryOffset), 'pack');
    expect(padding.every((byte) => byte === 0)).toBe(true);
    const { cipher, generation, salt, sealedBy } = seal.header;
    return { name, cipher, generation, salt, sealedBy, directory };
  }

  it('refuses to store bytes that changed since they were named', () => {
    const emitted: FinishedPack[] = [];
    const writer = new PackWriter({
      keys,
      kind: 'data',
      cipher: 1,
      idKey,
      packTarget: 200_000,
      segmentTarget: 65_536,
      compression: { kind: 'zstd', level: 3 },
      take: (capacity) => Buffer.alloc(capacity),
      emit: (pack) => emitted.push(pack),
    });
    const room = writer.reserve(1_000);
    room.fill('a');
    writer.commit(new ChunkHasher(idKey).id(room), 1_000);
    room[500] = 0;

    expect(() => writer.finish()).toThrow(/changed in memory/);
    expect(() => writer.append(secretBytes('id', 24), Buffer.alloc(8 * 1024 * 1024 + 1))).toThrow(
      /cannot be stored/,
    );
    expect(emitted).toEqual([]);
  });
});

/** A directory in which everything adds up. */
const directories: fc.Arbitrary<PackDirectory> = fc
  .tuple(
    fc.constantFrom('data' as const, 'tree' as const),
    fc.array(
      fc.tuple(
        fc.array(fc.integer({ min: 1, max: 60_000 }), { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 17, max: 90_000 }),
        fc.boolean(),
      ),
      { maxLength: 6 },
    ),
    fc.infiniteStream(fc.nat(255)),
  )
  .map(([kind, segments, random]) => {
    let offset = 80;
    const entries = segments.map(([lengths, stored, compressed]) => {
      const rawLength = lengths.reduce((sum, length) => sum + length, 0);
      const storedLength = compressed ? stored : rawLength + 16;
      const entry = {
        offset,
        storedLength,
        rawLength,
        compression: compressed ? (1 as const) : (0 as const),
        chunks: lengths.length,
      };
      offset += storedLength;
      return entry;
    });
    const lengths = Uint32Array.from(segments.flatMap(([list]) => list));
    const ids = Buffer.from(Array.from({ length: lengths.length * 24 }, () => random.next().value ?? 0));
    return { kind, packLength: offset + 1_000, segments: entries, lengths, ids, idBytes: 24 as const };
  });

describe('directories of packs', () => {
  it('are read as they were written, alone and in an index object', () => {
    fc.assert(
      fc.property(fc.array(directories, { maxLength: 4 }), fc.nat(3), (packs, superseded) => {
        for (const directory of packs) {
          const bytes = encodePackDirectory(directory);
          expect(bytes.length).toBe(directoryLength(directory.segments.length, directory.lengths.length));
          expect(decodePackDirectory(bytes, 'pack')).toEqual(directory);
        }
        const indexed = packs.map((directory, i) => ({
          name: secretBytes(`pack ${i}`).toString('hex'),
          cipher: i % 2 === 0 ? (1 as const) : (0 as const),
          generation: i + 1,
          salt: secretBytes(`salt ${i}`),
          sealedBy: i % 4 === 0 ? i + 7 : 0,
          directory,
        }));
        const supersedes = Array.from({ length: superseded }, (_, i) =>
          secretBytes(`old ${i}`).toString('hex'),
        );
        const raw = encodeIndexObject(
          supersedes,
          indexed.map((pack) => encodeIndexedPack(pack)),
        );
        const read = decodeIndexObject(raw, 'index');
        expect(read.supersedes).toEqual(supersedes);
        expect(read.packs).toEqual(indexed.map((pack) => ({ ...pack, directory: cut(pack.directory) })));
        // What an index object says of a pack can be written again from what was read of it.
        expect(
          encodeIndexObject(
            supersedes,
            read.packs.map((pack) => encodeIndexedPack(pack)),
          ),
        ).toEqual(raw);
      }),
      { numRuns: 60 },
    );
  });

  function cut(directory: PackDirectory): PackDirectory {
    const ids = Array.from(directory.lengths, (_, i) => directory.ids.subarray(i * 24, i * 24 + 16));
    return { ...directory, ids: Buffer.concat(ids), idBytes: 16 };
  }
});

describe('Padmé lengths', () => {
  it('are never shorter, at most an eighth longer, rise with the length, and stay as they are', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 27 }), (length) => {
        const padded = padme(length);
        expect(padded).toBeGreaterThanOrEqual(length);
        expect(padded).toBeLessThanOrEqual(length * 1.125);
        expect(padme(padded)).toBe(padded);
        expect(padme(length + 1)).toBeGreaterThanOrEqual(padded);
      }),
      { numRuns: 2_000 },
    );
    expect([0, 1, 2, 3, 8, 9, 2 ** 27].map((length) => padme(length))).toEqual([0, 1, 2, 3, 8, 10, 2 ** 27]);
  });
});
