import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { asByteString } from '../../src/base/byte-path.ts';
import { fileContent } from '../../src/browse/cat.ts';
import { findPath } from '../../src/browse/locate.ts';
import { SnapshotTrees } from '../../src/browse/snapshot-trees.ts';
import type { Hole } from '../../src/format/tree.ts';
import { loadIndex } from '../../src/repository/chunk-index.ts';
import { collect } from '../support/collect.ts';
import { directory, file, handMadeSnapshot, memoryRepository } from '../support/hand-made-snapshot.ts';

const { signal } = new AbortController();

/** Chunks, and a hole in front of some byte of the data (any of them, so that a hole may also part a chunk). */
const layout = fc.record({
  chunks: fc.array(fc.uint8Array({ minLength: 1, maxLength: 200 }), { maxLength: 12 }),
  holes: fc.array(fc.record({ dataBefore: fc.nat(2_000), length: fc.integer({ min: 1, max: 300 }) }), {
    maxLength: 6,
  }),
  idsPerList: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
  ranges: fc.array(fc.tuple(fc.nat(4_000), fc.nat(1_500)), { minLength: 1, maxLength: 8 }),
});

it('gives the same bytes for any range as the whole file has there, wherever chunks and holes lie', async () => {
  const repository = await memoryRepository(signal);
  await fc.assert(
    fc.asyncProperty(layout, async ({ chunks, holes: wanted, idsPerList, ranges }) => {
      const data = Buffer.concat(chunks);
      const { content, holes } = layOut(data, wanted);
      const node = file(
        chunks.map((chunk) => Buffer.from(chunk)),
        {
          holes,
          ...(idsPerList === undefined ? {} : { idsPerList }),
        },
      );
      const snapshot = await handMadeSnapshot(repository, directory({ f: node }), {}, signal);
      const index = await loadIndex(repository, { without: new Set() }, signal);
      const reader = new SnapshotTrees(repository, index).reader(snapshot);
      const { entry } = await findPath(reader, snapshot, asByteString('/f'), signal);
      if (entry?.type !== 'file') throw new Error('the test file is not there');
      const read = async (range?: { offset: number; length: number }): Promise<Buffer> =>
        Buffer.concat(await collect(fileContent(repository, index, snapshot, entry, range, signal)));

      expect((await read()).equals(content)).toBe(true);
      for (const [offset, length] of ranges) {
        expect((await read({ offset, length })).equals(content.subarray(offset, offset + length))).toBe(true);
      }
    }),
    { numRuns: 60 },
  );
});

function layOut(data: Buffer, wanted: readonly { readonly dataBefore: number; readonly length: number }[]) {
  const holes: Hole[] = [];
  const parts: Buffer[] = [];
  let used = 0;
  let at = 0;
  for (const { dataBefore, length } of wanted.toSorted((a, b) => a.dataBefore - b.dataBefore)) {
    const next = Math.min(dataBefore, data.length);
    parts.push(data.subarray(used, next), Buffer.alloc(length));
    at += next - used;
    used = next;
    holes.push({ offset: at, length });
    at += length;
  }
  parts.push(data.subarray(used));
  return { content: Buffer.concat(parts), holes };
}
