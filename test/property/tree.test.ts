import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { asByteString } from '../../src/base/byte-path.ts';
import { BugError, RepositoryError } from '../../src/base/errors.ts';
import { decodeTreeChunk } from '../../src/format/tree-decode.ts';
import {
  ByteWriter,
  encodeBranch,
  encodeEntry,
  encodeLeaf,
  encodeList,
} from '../../src/format/tree-encode.ts';
import type { Entry, TreeChunk } from '../../src/format/tree.ts';
import { arbitraryEntries, arbitraryEntry, nameBytes } from '../support/arbitrary-entries.ts';
import { readTreeChunk } from '../support/independent-tree.ts';

function leafOf(entries: readonly Entry[]): Buffer {
  const out = new ByteWriter(64);
  for (const entry of entries) encodeEntry(out, entry);
  return encodeLeaf(entries.length, out.view());
}

function encoded(chunk: TreeChunk): Buffer {
  if (chunk.form === 'leaf') return leafOf(chunk.entries);
  return chunk.form === 'branch' ? encodeBranch(chunk.level, chunk.children) : encodeList(chunk.ids);
}

describe('a tree chunk', () => {
  it('gives back any entries as they were', () => {
    fc.assert(
      fc.property(arbitraryEntries, (entries) => {
        expect(decodeTreeChunk(leafOf(entries), 'leaf')).toEqual({ form: 'leaf', entries });
      }),
      { numRuns: 400 },
    );
  });

  it('says the same to a reader who knows the page alone', () => {
    fc.assert(
      fc.property(arbitraryEntry, (entry) => {
        const chunk = readTreeChunk(leafOf([entry]));
        const [read] = chunk.form === 0 ? chunk.entries : [];
        expect(read?.name.toString('latin1')).toBe(entry.name);
        expect([read?.mtimeNs, read?.ctimeNs]).toEqual([entry.mtimeNs, entry.ctimeNs]);
        expect([read?.mode, read?.uid, read?.gid, read?.inode]).toEqual([
          entry.mode,
          entry.uid,
          entry.gid,
          BigInt(entry.inode),
        ]);
        if (entry.type !== 'file') return;
        expect([read?.size, read?.indirect, read?.changed]).toEqual([
          entry.size,
          entry.indirect,
          entry.changedWhileRead,
        ]);
        expect(Buffer.concat(read?.content ?? [])).toEqual(entry.content);
      }),
      { numRuns: 300 },
    );
  });

  it('has one form only: what can be decoded is encoded to the same bytes', () => {
    fc.assert(
      fc.property(arbitraryEntries, fc.infiniteStream(fc.nat()), (entries, random) => {
        const bytes = leafOf(entries);
        const at = (random.next().value ?? 0) % bytes.length;
        bytes[at] = (bytes[at] ?? 0) ^ (1 << ((random.next().value ?? 0) & 7));
        let chunk: TreeChunk;
        try {
          chunk = decodeTreeChunk(bytes, 'leaf');
        } catch (error) {
          expect(error).toBeInstanceOf(RepositoryError);
          return;
        }
        expect(encoded(chunk).equals(bytes)).toBe(true);
      }),
      { numRuns: 1_500 },
    );
  });

  it('of branches and lists gives back children and ids', () => {
    const child = fc.record({ firstName: nameBytes, id: fc.uint8Array({ minLength: 24, maxLength: 24 }) });
    const children = fc.uniqueArray(child, {
      minLength: 1,
      maxLength: 9,
      selector: ({ firstName }) => firstName,
    });
    fc.assert(
      fc.property(children, fc.integer({ min: 1, max: 8 }), (list, level) => {
        const sorted = list
          .map(({ firstName, id }) => ({ firstName, id: Buffer.from(id) }))
          .sort((a, b) => (a.firstName < b.firstName ? -1 : 1));
        const ids = Buffer.concat(sorted.map(({ id }) => id));
        expect(decodeTreeChunk(encodeBranch(level, sorted), 'b')).toEqual({
          form: 'branch',
          level,
          children: sorted,
        });
        expect(decodeTreeChunk(encodeList(ids), 'l')).toEqual({ form: 'list', ids });
      }),
      { numRuns: 100 },
    );
  });
});

describe('a flag in an entry', () => {
  const fifo = Buffer.from('01000104000161a40300000000000000', 'hex');
  const file = Buffer.from('01000101000161a403000000000000000000', 'hex');

  it('is refused when what it announces is empty, or not for this kind of entry', () => {
    const flagged = (bytes: Buffer, flags: number, more: string): Buffer => {
      const changed = Buffer.concat([bytes, Buffer.from(more, 'hex')]);
      changed[4] = flags;
      return changed;
    };

    expect(decodeTreeChunk(fifo, 'leaf')).toMatchObject({ entries: [{ type: 'fifo' }] });
    expect(decodeTreeChunk(file, 'leaf')).toMatchObject({ entries: [{ type: 'file' }] });
    expect(decodeTreeChunk(flagged(fifo, 2, '0102'), 'leaf')).toMatchObject({
      entries: [{ links: { count: 2 } }],
    });
    for (const flags of [4, 8, 16, 32])
      expect(() => decodeTreeChunk(flagged(fifo, flags, ''), 'leaf')).toThrow(RepositoryError);
    expect(() => decodeTreeChunk(flagged(fifo, 1, '00'), 'leaf')).toThrow(/means nothing/);
    expect(() => decodeTreeChunk(flagged(file, 4, '00'), 'leaf')).toThrow(/means nothing/);
    expect(() => decodeTreeChunk(flagged(file, 32, ''), 'leaf')).toThrow(/unknown flags/);
  });
});

describe('numbers in a tree chunk', () => {
  const list = (varint: string): Buffer => Buffer.concat([Buffer.of(1, 2), Buffer.from(varint, 'hex')]);

  it.each([
    '8000',
    '818000',
    `${'80'.repeat(7)}10`,
    `${'80'.repeat(8)}01`,
    `${'80'.repeat(200)}01`,
    'ff'.repeat(300),
  ])('are refused in the form %s', (varint) => {
    expect(() => decodeTreeChunk(list(varint), 'list')).toThrow(RepositoryError);
  });

  it.each([
    ['8080808080808080808002', 'eleven bytes'],
    ['80808080808080808002', 'more than 64 bits'],
    ['8000', 'a zero at the end'],
    ['80808080808080808000', 'a zero at the end of ten'],
  ])('of seconds are refused in the form %s: %s', (seconds) => {
    const before = Buffer.from('01000104000161a4030000', 'hex');
    const fifo = (form: string): Buffer => Buffer.concat([before, Buffer.from(`${form}00000000`, 'hex')]);

    expect(() => decodeTreeChunk(fifo(seconds), 'leaf')).toThrow(RepositoryError);
    expect(decodeTreeChunk(fifo('00'), 'leaf')).toMatchObject({ form: 'leaf' });
    expect(decodeTreeChunk(fifo('ffffffffffffffffff01'), 'leaf')).toMatchObject({
      entries: [{ mtimeNs: -(2n ** 63n) * 1_000_000_000n }],
    });
  });

  it('that could not be read again are not written', () => {
    const out = new ByteWriter(8);

    for (const value of [2 ** 53, -1, Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => out.varint(value)).toThrow(BugError);
    expect(() => out.time(2n ** 63n * 1_000_000_000n)).toThrow(BugError);
    for (const name of ['', '.', '..', 'a/b', 'a\0', 'a'.repeat(4_097)]) {
      const [entry] = fc.sample(arbitraryEntry, { numRuns: 1, seed: 1 });
      if (entry === undefined) throw new Error('no entry was made');
      expect(() => encodeEntry(out, { ...entry, name: asByteString(name) })).toThrow(BugError);
    }
  });
});
