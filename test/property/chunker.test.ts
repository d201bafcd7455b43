// Turn 7 of 8.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Cutter, MAX_HOLES, type CutContent } from '../../src/archiver/read/cutter.ts';
import { asByteString } from '../../src/base/byte-path.ts';
import { Chunker, DEFAULT_CHUNKER, type ChunkerParameters } from '../../src/codec/chunker.ts';
import { ChunkHasher } from '../../src/codec/hash.ts';
import { expand } from '../../src/codec/kdf.ts';
import { encodeDirectory } from '../../src/format/tree-split.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { secretBytes } from '../support/test-keys.ts';

const BLOCK = 65_536;
const SMALL: ChunkerParameters = { min: 4_096, avg: 8_192, max: 16_384 };
const hasher = new ChunkHasher(secretBytes('ids'));

interface Cut extends CutContent {
  readonly chunks: readonly Buffer[];
}

/** Cuts `data`, which arrives in parts of the given lengths over and over, and lies in its file from `offset` on. */
function cut(
  data: Buffer,
  options: {
    parts?: readonly number[];
    sizes?: ChunkerParameters;
    offset?: number;
    maxHoles?: number;
    key?: string;
  } = {},
): Cut {
  const { parts = [Number.MAX_SAFE_INTEGER], sizes = SMALL, offset = 0, maxHoles, key = 'cdc' } = options;
  const chunks: Buffer[] = [];
  const cutter = new Cutter(new Chunker(secretBytes(key), sizes), (chunk) => {
    chunks.push(Buffer.from(chunk));
    return hasher.id(chunk);
  });
  if (maxHoles !== undefined) cutter.limitHoles(maxHoles);
  for (let at = 0, i = 0; at < data.length; i += 1) {
    const room = cutter.room(offset + at);
    expect(room.length).toBeGreaterThan(0);
    const length = Math.min(room.length, Math.max(1, parts[i % parts.length] ?? 1), data.length - at);
    data.copy(room, 0, at, at + length);
    cutter.filled(offset + at, length);
    at += length;
  }
  return { ...cutter.finish(), chunks };
}

/** The bytes again, from chunks and holes. */
function laidOut({ chunks, holes }: Cut, offset: number): Buffer {
  const parts: Buffer[] = [];
  const data = Buffer.concat(chunks);
  let used = 0;
  let end = offset;
  for (const hole of holes) {
    parts.push(data.subarray(used, used + hole.offset - end), Buffer.alloc(hole.length));
    used += hole.offset - end;
    end = hole.offset + hole.length;
  }
  return Buffer.concat([...parts, data.subarray(used)]);
}

/** Random stretches, repeated ones and zeros, around the sizes of blocks and chunks. */
const data = fc
  .array(
    fc.tuple(
      fc.constantFrom('random', 'zeros', 'same'),
      fc.oneof(fc.nat(5_000), fc.nat(150_000), fc.constantFrom(BLOCK, BLOCK * 2, 4_096, 16_384)),
      fc.nat(),
    ),
    {
      minLength: 1,
      maxLength: 6,
    },
  )
  .map((stretches) =>
    Buffer.concat(
      stretches.map(([kind, length, seed]) =>
        kind === 'zeros'
          ? Buffer.alloc(length)
          : kind === 'same'
            ? Buffer.alloc(length, 0x41)
            : seededRandom(seed).bytes(length),
      ),
    ),
  );

const parts = fc.array(
  fc.oneof(fc.integer({ min: 500, max: 3_000 }), fc.integer({ min: 1, max: 200_000 }), fc.constant(BLOCK)),
  {
    minLength: 1,
    maxLength: 5,
  },
);

describe('cutting a file', () => {
  it('gives the same chunks and holes however its bytes arrive', () => {
    fc.assert(
      fc.property(
        data,
        parts,
        fc.constantFrom(0, 1, 4_096, BLOCK, BLOCK - 1, 2 ** 33 + 512),
        (bytes, lengths, offset) => {
          const [whole, pieced] = [cut(bytes, { offset }), cut(bytes, { offset, parts: lengths })];
          expect(pieced.holes).toEqual(whole.holes);
          expect(pieced.ids).toEqual(whole.ids);
          expect(laidOut(pieced, offset).equals(bytes)).toBe(true);
        },
      ),
      { numRuns: 120 },
    );
  });

  it('makes every aligned block of zeros a hole, and chunks between min and max of the rest', () => {
    fc.assert(
      fc.property(data, (bytes) => {
        const { chunks, holes } = cut(bytes);
        for (let at = 0; at + BLOCK <= bytes.length; at += BLOCK) {
          const zeros = bytes.subarray(at, at + BLOCK).every((byte) => byte === 0);
          const inHole = holes.some(({ offset, length }) => offset <= at && at + BLOCK <= offset + length);
          expect(inHole).toBe(zeros);
        }
        for (const { length } of chunks) expect(length).toBeLessThanOrEqual(SMALL.max);
        // Only the last chunk of a run may be shorter than min, and there is one run more than there are holes.
        const short = chunks.filter(({ length }) => length <= SMALL.min).length;
        expect(short).toBeLessThanOrEqual(holes.length + 1);
      }),
      { numRuns: 80 },
    );
  });

  it('keeps as many holes as it may and takes further zeros for data', () => {
    const pattern = Buffer.concat(
      Array.from({ length: 6 }, () => Buffer.concat([Buffer.alloc(BLOCK), Buffer.alloc(BLOCK, 1)])),
    );
    for (const maxHoles of [1, 2, 6, 100]) {
      const limited = cut(pattern, { maxHoles });
      expect(limited.holes).toHaveLength(Math.min(maxHoles, 6));
      expect(laidOut(limited, 0).equals(pattern)).toBe(true);
    }
    expect(cut(Buffer.alloc(BLOCK * 5), { maxHoles: 1 }).holes).toEqual([{ offset: 0, length: BLOCK * 5 }]);
  });

  it('has no more holes, unless it is told otherwise, than the entry of a file has room for', () => {
    const chunks: number[] = [];
    const cutter = new Cutter(new Chunker(secretBytes('cdc'), SMALL), (chunk) => {
      chunks.push(chunk.length);
      return hasher.id(chunk);
    });
    const apart = 2 ** 32;
    let offset = 0;
    for (let runs = 0; runs < 600_000 && cutter.takesHole(offset); runs += 1) {
      cutter.hole(offset, BLOCK * 2);
      offset += apart;
    }
    cutter.room(offset).fill(0, 0, BLOCK);
    cutter.filled(offset, BLOCK);
    const { holes } = cutter.finish();
    expect(holes).toHaveLength(MAX_HOLES);
    expect(chunks.reduce((sum, length) => sum + length, 0)).toBe(BLOCK);
    const metadata = {
      name: asByteString('dump'),
      mode: 0o600,
      uid: 0,
      gid: 0,
      mtimeNs: 0n,
      ctimeNs: 0n,
      inode: 0,
    };
    const content = { size: offset + BLOCK, holes, content: Buffer.alloc(24), indirect: false };
    let stored = 0;
    encodeDirectory([{ type: 'file', ...metadata, ...content, changedWhileRead: false }], (chunk) => {
      stored = chunk.length;
      return Buffer.alloc(24);
    });
    expect(stored).toBeLessThan(5 * 1024 * 1024);
  });

  it('finds its way again after bytes were put in, taken out or changed', () => {
    const random = seededRandom(99);
    const before = random.bytes(4_000_000);
    const known = new Set(cut(before).ids.map((id) => id.toString('hex')));
    for (let i = 0; i < 12; i += 1) {
      const at = random.below(before.length);
      const edit = random.bytes(1 + random.below(100));
      const gone = i % 3 === 0 ? 0 : random.below(100);
      const after = Buffer.concat([
        before.subarray(0, at),
        i % 3 === 1 ? Buffer.alloc(0) : edit,
        before.subarray(at + gone),
      ]);
      const fresh = cut(after).ids.filter((id) => !known.has(id.toString('hex')));
      expect(fresh.length).toBeLessThanOrEqual(8);
    }
    expect(known.size).toBeGreaterThan(300);
  });

  it('follows its key and its sizes', () => {
    const bytes = seededRandom(7).bytes(12_000_000);
    const [one, other] = [
      cut(bytes, { sizes: DEFAULT_CHUNKER }),
      cut(bytes, { sizes: DEFAULT_CHUNKER, key: 'other' }),
    ];
    const mean = bytes.length / one.chunks.length;

    expect(one.chunks.map(({ length }) => length)).not.toEqual(other.chunks.map(({ length }) => length));
    expect(mean).toBeGreaterThan(DEFAULT_CHUNKER.avg / 2);
    expect(mean).toBeLessThan(DEFAULT_CHUNKER.avg * 2);
    const [small] = [cut(bytes.subarray(0, 3_000_000))];
    expect(3_000_000 / small.chunks.length).toBeGreaterThan(SMALL.avg * 0.8);
    expect(3_000_000 / small.chunks.length).toBeLessThan(SMALL.avg * 1.4);
  });
});

/** The rule of docs/repository-format.md, byte by byte: the hash of the 32 bytes before each place. */
function plainCut(data: Buffer, key: Buffer, { min, avg, max }: ChunkerParameters): number {
  if (data.length <= min) return data.length;
  const table = expand(key, 'hf1/gear', 1_024);
  const bits = Math.round(Math.log2(avg));
  const end = Math.min(data.length, max);
  for (let length = min + 1; length <= end; length += 1) {
    const window = data.subarray(length - 32, length);
    const hash = window.reduce((sum, byte) => ((sum << 1) + table.readInt32BE(byte * 4)) | 0, 0);
    if (hash >>> (32 - (length <= avg ? bits + 2 : bits - 2)) === 0) return length;
  }
  return end;
}

describe('a chunk', () => {
  it('ends where the plain rule says, wherever in the data the first place that meets it is', () => {
    const key = secretBytes('cdc');
    // Also such as make a cut early and late in each of the stretches that are looked through together.
    const sizes = fc.constantFrom<ChunkerParameters>(
      SMALL,
      { min: 64, avg: 4_096, max: 40_000 },
      { min: 64, avg: 40_000, max: 60_000 },
    );
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 1, max: 60_000 }), sizes, (seed, length, parameters) => {
        const bytes = seededRandom(seed).bytes(length);
        expect(new Chunker(key, parameters).cut(bytes, 0)).toBe(plainCut(bytes, key, parameters));
      }),
      { numRuns: 300 },
    );
  });

  it('depends on its own bytes only, not on what lies before or behind it', () => {
    const chunker = new Chunker(secretBytes('cdc'), SMALL);
    fc.assert(
      fc.property(fc.nat(), fc.nat(20_000), fc.nat(30_000), (seed, before, behind) => {
        const bytes = seededRandom(seed).bytes(before + SMALL.max + behind);
        const length = chunker.cut(bytes, before);
        expect(length).toBeGreaterThan(SMALL.min);
        expect(length).toBeLessThanOrEqual(SMALL.max);
        expect(chunker.cut(bytes.subarray(before, before + SMALL.max), 0)).toBe(length);
        expect(chunker.cut(bytes.subarray(before, before + length), 0)).toBe(length);
      }),
      { numRuns: 150 },
    );
  });
});
