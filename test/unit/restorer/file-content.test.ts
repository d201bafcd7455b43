import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { asByteString } from '../../../src/base/byte-path.ts';
import type { FileEntry, Hole } from '../../../src/format/tree.ts';
import { fillTable, type ChunkIndex } from '../../../src/repository/chunk-index.ts';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import { ContentPlan } from '../../../src/restorer/content/content-plan.ts';
import { EntryRecordWriter, NO_RECORD } from '../../../src/restorer/target/entry-records.ts';
import { FileContent } from '../../../src/restorer/content/file-content.ts';

const plain = { name: asByteString('a'), mode: 0o644, uid: 0, gid: 0, mtimeNs: 0n, ctimeNs: 0n, inode: 0 };
const fileOf = (size: number, content: Buffer, holes: readonly Hole[]): FileEntry => ({
  ...plain,
  type: 'file',
  size,
  content,
  holes,
  indirect: false,
  changedWhileRead: false,
});

const anything = (): number => Number.POSITIVE_INFINITY;

function idOf(number: number): Buffer {
  const id = Buffer.alloc(24);
  id.writeUInt32LE((number * 2_654_435_761) % 2 ** 32, 0);
  id.writeUInt32LE(number, 4);
  return id;
}

/** An index with chunks of these lengths, so many in each segment, so many segments in each pack. */
function indexOf(lengths: readonly number[], perSegment = 3, perPack = 2): ChunkIndex {
  const packs = [];
  for (let at = 0; at < lengths.length; at += perSegment * perPack) {
    const own = lengths.slice(at, at + perSegment * perPack);
    const segments = [];
    let offset = 80;
    for (let k = 0; k < own.length; k += perSegment) {
      const chunks = own.slice(k, k + perSegment);
      const rawLength = chunks.reduce((sum, length) => sum + length, 0);
      segments.push({
        offset,
        storedLength: rawLength + 16,
        rawLength,
        compression: 0 as const,
        chunks: chunks.length,
      });
      offset += rawLength + 16;
    }
    packs.push({
      name: String(at).padStart(64, '0'),
      cipher: 1 as const,
      generation: 1,
      salt: Buffer.alloc(32),
      sealedBy: 0,
      directory: {
        kind: 'data' as const,
        packLength: offset + 1_000,
        segments,
        lengths: Uint32Array.from(own),
        ids: Buffer.concat(own.map((_, i) => idOf(at + i))),
        idBytes: 24 as const,
      },
    });
  }
  return { ...fillTable(packs), damaged: [], indexNames: [], uncovered: [], missing: [], leftOut: new Set() };
}

describe('the pieces of a file', () => {
  test('cover exactly what is not a hole, each byte of each chunk once, in order', () => {
    // one index for all: its tables take gigabytes of address space
    const chunkLengths = Array.from({ length: 50 }, (_, i) => i + 1);
    const index = indexOf(chunkLengths);
    const layout = fc.record({
      chunks: fc.array(fc.nat(49), { maxLength: 12 }),
      holes: fc.array(fc.tuple(fc.nat(60), fc.integer({ min: 1, max: 30 })), { maxLength: 5 }),
    });
    fc.assert(
      fc.property(layout, ({ chunks, holes: gaps }) => {
        const lengths = chunks.map((chunk) => chunkLengths[chunk] ?? 0);
        const data = lengths.reduce((sum, length) => sum + length, 0);
        const holes: Hole[] = [];
        let end = 0;
        let dataBefore = 0;
        for (const [gap, length] of gaps) {
          dataBefore += gap;
          if (dataBefore > data || (gap === 0 && holes.length > 0)) break;
          holes.push({ offset: end + gap, length });
          end += gap + length;
        }
        const size = data + holes.reduce((sum, hole) => sum + hole.length, 0);
        const content = new FileContent(index, new ContentPlan(index));
        content.resolveDirect(fileOf(size, Buffer.concat(chunks.map(idOf)), holes), anything);
        const writer = new EntryRecordWriter();
        const record = writer.add(NO_RECORD, plain, 0, size, content.count);
        content.store(record);

        /** Byte of the data, in order, at each place of the file; -1 in a hole. */
        const made = new Int32Array(size).fill(-1);
        const starts = lengths.map((_, i) => lengths.slice(0, i).reduce((sum, length) => sum + length, 0));
        let chunk = -1;
        for (let i = 0; i < content.count; i += 1) {
          const piece = record.piece(i);
          // pieces of one chunk follow each other
          if (piece.skip === 0) chunk += 1;
          expect(piece.id.equals(idOf(chunks[chunk] ?? 0))).toBe(true);
          expect(piece.length).toBe(lengths[chunk]);
          for (let k = 0; k < piece.take; k += 1) {
            made[piece.fileOffset + k] = (starts[chunk] ?? 0) + piece.skip + k;
          }
        }
        const wanted = new Int32Array(size).fill(-1);
        const inHole = (at: number): boolean =>
          holes.some(({ offset, length }) => at >= offset && at < offset + length);
        let next = 0;
        for (let at = 0; at < size; at += 1) if (!inHole(at)) wanted[at] = next++;
        expect(made).toEqual(wanted);
        expect(content.endsInHole).toBe(size > 0 && inHole(size - 1));
      }),
      { numRuns: 300 },
    );
  });

  test('that do not add up to the size are refused before anything is allocated', () => {
    const index = indexOf([10, 20]);
    const content = new FileContent(index, new ContentPlan(index));
    const ids = Buffer.concat([idOf(0), idOf(1)]);
    for (const size of [0, 29, 31, Number.MAX_SAFE_INTEGER]) {
      expect(() => content.resolveDirect(fileOf(size, ids, []), anything)).toThrow(/do not add up/);
    }
    expect(() => content.resolveDirect(fileOf(2 ** 40, ids, []), () => 2 ** 39)).toThrow(
      /more than the target/,
    );
    expect(() => content.resolveDirect(fileOf(10, idOf(77), []), anything)).toThrow(/no pack holds it/);
  });
});

describe('runs of segments', () => {
  const remote = {
    ...createMemoryDestination(),
    properties: { ...createMemoryDestination().properties, remote: true },
  };

  test('join neighbours of one pack and leave out what nobody needs', () => {
    const index = indexOf(
      Array.from({ length: 24 }, () => 1_000_000),
      1,
      8,
    );
    const plan = new ContentPlan(index);
    for (const segment of [0, 1, 4, 5, 9, 20]) plan.addWhole(1_000 + segment, segment);
    plan.addPart(7, 3, 9);
    const runs = [...plan.runs(createMemoryDestination())];
    expect(runs.map(({ segments }) => segments.map(({ number }) => number))).toEqual([
      [0, 1],
      [4, 5],
      [1],
      [4],
    ]);
    expect(runs[2]?.segments[0]).toMatchObject({ whole: Uint32Array.of(1_009), parts: Uint32Array.of(7, 3) });
    expect(runs[0]).toMatchObject({ offset: 80, length: 2_000_032 });
    expect([...plan.runs(createMemoryDestination())]).toEqual([]);
  });

  test('are widened for remote stores, so that their sizes tell nothing', () => {
    const index = indexOf([300_000, 300_000, 300_000], 1, 8);
    const plan = new ContentPlan(index);
    plan.addWhole(1, 1);
    const [run] = [...plan.runs(remote)];
    expect(run?.offset).toBe(262_144);
    expect(run?.length).toBe(524_288);
    expect((run?.offset ?? 0) % 262_144).toBe(0);
  });
});
