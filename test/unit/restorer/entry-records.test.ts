import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { asByteString } from '../../../src/base/byte-path.ts';
import {
  EntryRecordWriter,
  EntryRecords,
  NO_RECORD,
  RECORD,
  type Piece,
} from '../../../src/restorer/target/entry-records.ts';

const name = fc.string({
  unit: fc.integer({ min: 1, max: 255 }).map((code) => String.fromCharCode(code)),
  minLength: 1,
  maxLength: 300,
});
const piece = fc.record({
  id: fc.uint8Array({ minLength: 24, maxLength: 24 }).map((bytes) => Buffer.from(bytes)),
  segment: fc.nat(0xffff_fffe),
  offset: fc.nat(16_000_000),
  length: fc.nat(8_000_000),
  skip: fc.nat(8_000_000),
  take: fc.nat(8_000_000),
  fileOffset: fc.nat(Number.MAX_SAFE_INTEGER),
});
const entry = fc.record({
  name: name.map(asByteString),
  mode: fc.nat(0o7777),
  uid: fc.nat(0xffff_ffff),
  gid: fc.nat(0xffff_ffff),
  // beyond what 64 bits of nanoseconds hold, which the format allows
  mtimeNs: fc.bigInt({ min: -(2n ** 52n) * 1_000_000_000n, max: 2n ** 52n * 1_000_000_000n }),
  ctimeNs: fc.constant(0n),
  inode: fc.nat(),
  xattrs: fc.option(
    fc.array(
      fc.record({
        name: name.map(asByteString),
        value: fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes)),
      }),
      {
        maxLength: 3,
      },
    ),
    { nil: undefined },
  ),
});

describe('records', () => {
  test("give back what was put in, in another thread's view of the same memory", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(entry, fc.array(piece, { maxLength: 5 }), fc.nat(Number.MAX_SAFE_INTEGER))),
        (entries) => {
          const writer = new EntryRecordWriter();
          const handles = entries.map(([metadata, pieces, size]) => {
            const record = writer.add(NO_RECORD, metadata, RECORD.spread, size, pieces.length);
            for (const [i, one] of pieces.entries()) record.setPiece(i, one.id, 0, one);
            return record.handle;
          });
          const elsewhere = new EntryRecords(writer.memory);
          for (const [i, [metadata, pieces, size]] of entries.entries()) {
            const record = elsewhere.at(handles[i] ?? NO_RECORD);
            expect(record.name).toBe(metadata.name);
            expect(record.mode).toBe(metadata.mode);
            expect([record.uid, record.gid]).toEqual([metadata.uid, metadata.gid]);
            expect(record.mtimeNs).toBe(metadata.mtimeNs);
            expect(record.size).toBe(size);
            expect(record.xattrs).toEqual(metadata.xattrs ?? []);
            expect(record.parent).toBe(NO_RECORD);
            const read: Piece[] = pieces.map((_, k) => ({
              ...record.piece(k),
              id: Buffer.from(record.piece(k).id),
            }));
            expect(read).toEqual(pieces);
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  test('larger than a page have one for themselves', () => {
    const writer = new EntryRecordWriter();
    const plain = { name: asByteString('a'), mode: 0, uid: 0, gid: 0, mtimeNs: 0n, ctimeNs: 0n, inode: 0 };
    const before = writer.add(NO_RECORD, plain, 0, 1, 1);
    const large = writer.add(NO_RECORD, plain, 0, 2, 200_000);
    const after = writer.add(NO_RECORD, plain, 0, 3, 1);
    const last = { segment: 7, offset: 1, length: 2, skip: 0, take: 2, fileOffset: 5 };
    large.setPiece(199_999, Buffer.alloc(24, 9), 0, last);
    expect(writer.records.at(large.handle).piece(199_999)).toMatchObject(last);
    expect([before, large, after].map(({ handle }) => writer.records.at(handle).size)).toEqual([1, 2, 3]);
  });

  test('share their flags and counters between views', () => {
    const writer = new EntryRecordWriter();
    const plain = { name: asByteString('a'), mode: 0, uid: 0, gid: 0, mtimeNs: 0n, ctimeNs: 0n, inode: 0 };
    const record = writer.add(NO_RECORD, plain, RECORD.update, 0, 2);
    const elsewhere = new EntryRecords(writer.memory).at(record.handle);
    elsewhere.flags |= RECORD.metadataOnly;
    elsewhere.setPresent(1, true);
    elsewhere.created = { ino: 2n ** 63n, dev: 5n };
    Atomics.store(elsewhere.remaining.words, elsewhere.remaining.index, 12);
    expect(record.has(RECORD.metadataOnly) && record.has(RECORD.update)).toBe(true);
    expect([record.isPresent(0), record.isPresent(1)]).toEqual([false, true]);
    expect(record.created).toEqual({ ino: 2n ** 63n, dev: 5n });
    expect(Atomics.load(record.remaining.words, record.remaining.index)).toBe(12);
  });

  test('that a thread does not have yet are an error, not nonsense', () => {
    expect(() => new EntryRecords([]).at(5)).toThrow(/does not have/);
  });
});
