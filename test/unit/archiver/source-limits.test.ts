import { describe, expect, it } from 'vitest';
import { SILENT } from '../../../src/archiver/report/observer.ts';
import { storedNumber } from '../../../src/format/stored-number.ts';
import { storableXattrs } from '../../../src/archiver/source/xattrs.ts';
import { Tally } from '../../../src/archiver/report/tally.ts';
import { asByteString } from '../../../src/base/byte-path.ts';
import type { OmittedKind } from '../../../src/format/omission.ts';
import { encodeSnapshot } from '../../../src/format/records.ts';

describe('an inode or device number', () => {
  it('is kept as it is below 2^53', () => {
    for (const number of [0n, 1n, 12_345_678_901n, 2n ** 53n - 1n])
      expect(storedNumber(number)).toBe(Number(number));
  });

  it('is folded to below 2^53 from there on, apart from its neighbours', () => {
    const layers = [1n, 2n, 3n, 2_047n].map((layer) => layer << 53n);
    const folded = layers.flatMap((layer) =>
      [0n, 1n, 2n, 2n ** 42n - 1n].map((inode) => storedNumber(layer + inode)),
    );

    expect(folded.every((number) => Number.isSafeInteger(number) && number >= 0)).toBe(true);
    expect(new Set(folded).size).toBe(folded.length);
    // What the format says of it.
    expect(BigInt(storedNumber((5n << 53n) + 77n))).toBe(77n ^ (5n << 42n));
    expect(Number.isSafeInteger(storedNumber(2n ** 64n - 1n))).toBe(true);
    expect(storedNumber(-1n)).toBe(storedNumber(2n ** 64n - 1n));
  });
});

describe('extended attributes', () => {
  it('beyond 2 MiB of an entry are left out and named', () => {
    const omitted: OmittedKind[] = [];
    const xattr = (name: string, length: number) => ({
      name: asByteString(name),
      value: Buffer.alloc(length),
    });
    const kept = storableXattrs(
      [
        xattr('a', 1_000_000),
        xattr('fork', 20_000_000),
        xattr('b', 1_000_000),
        xattr('c', 200_000),
        xattr('d', 9),
      ],
      (what) => omitted.push(what),
    );

    expect(kept?.map(({ name }) => name)).toEqual(['a', 'b', 'd']);
    expect(omitted).toEqual(['fork', 'c'].map((name) => ({ code: 'xattr', name, reason: 'EFBIG' })));
    expect(storableXattrs([xattr('fork', 20_000_000)], () => {})).toBeUndefined();
  });
});

describe('a tally', () => {
  it('keeps a snapshot readable however much went wrong, and counts what it does not list', () => {
    const tally = new Tally(SILENT);
    const long = asByteString(`/${'x'.repeat(4_000)}`);
    for (let i = 0; i < 12_000; i += 1) tally.problem(long, 'EACCES', 'denied');
    for (let i = 0; i < 5_000; i += 1)
      tally.omit({ code: 'xattr', name: asByteString(`user.${i}`), reason: 'EACCES' });
    const record = encodeSnapshot({
      tool: '',
      host: '',
      user: '',
      paths: [],
      startedMs: 0,
      finishedMs: 0,
      root: Buffer.alloc(24),
      plain: false,
      tags: [],
      pinned: false,
      status: 'partial',
      errors: tally.problems,
      errorsMore: tally.problemsMore,
      counts: {
        files: 0,
        directories: 0,
        links: 0,
        others: 0,
        bytes: 0,
        new: 0,
        changed: 0,
        unchanged: 0,
        failed: 0,
      },
      owners: { users: {}, groups: {} },
      omitted: tally.omitted,
      kind: 'files',
    });

    expect(record.length).toBeLessThan(16 * 1024 * 1024);
    expect(tally.problems.length).toBeGreaterThan(1_000);
    expect(tally.problemCount).toBe(12_000);
    expect(tally.omitted).toHaveLength(1_001);
    expect(tally.omitted.at(-1)).toEqual({ code: 'more', count: 4_000 });
  });

  it('lists 10,000 problems of ordinary length', () => {
    const tally = new Tally(SILENT);
    for (let i = 0; i < 10_001; i += 1)
      tally.problem(asByteString(`/home/user/file ${i}`), 'EACCES', 'it cannot be read');

    expect([tally.problems.length, tally.problemsMore]).toEqual([10_000, 1]);
  });
});
