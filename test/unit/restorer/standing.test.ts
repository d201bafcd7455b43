import { describe, expect, test } from 'vitest';
import { asByteString } from '../../../src/base/byte-path.ts';
import type { Entry } from '../../../src/format/tree.ts';
import type { OverwriteMode } from '../../../src/restorer/request/request.ts';
import { standingOf } from '../../../src/restorer/request/standing.ts';
import { UNFINISHED_FILE } from '../../../src/restorer/target/target-directory.ts';
import type { EntryStat } from '../../../src/system/entry-stat.ts';

const common = {
  name: asByteString('a'),
  mode: 0o644,
  uid: 0,
  gid: 0,
  mtimeNs: 1_000n,
  ctimeNs: 2_000n,
  inode: 2,
};
const file: Entry = {
  ...common,
  type: 'file',
  size: 10,
  content: Buffer.alloc(0),
  indirect: false,
  changedWhileRead: false,
};
const directory: Entry = {
  ...common,
  type: 'directory',
  id: Buffer.alloc(24),
  totals: { files: 0, bytes: 0, entries: 0 },
};
const link: Entry = { ...common, type: 'symlink', target: asByteString('t') };

const REGULAR = 0o100000;
const stat = (changes: Partial<EntryStat>): EntryStat => ({
  mode: REGULAR | 0o644,
  nlink: 1,
  uid: 0,
  gid: 0,
  size: 10,
  blocks: 8,
  dev: 1n,
  ino: 2n,
  mtimeNs: 1_000n,
  ctimeNs: 2_000n,
  rdevMajor: 0,
  rdevMinor: 0,
  ...changes,
});
const modes: readonly OverwriteMode[] = ['never', 'if_changed', 'if_newer', 'always'];
const forAll = (entry: Entry, found: EntryStat | undefined, finished = true): string[] =>
  modes.map((mode) => standingOf(entry, found, mode, finished));

describe('a file whose name', () => {
  test('is free is created', () => {
    expect(forAll(file, undefined)).toEqual(['create', 'create', 'create', 'create']);
  });
  test('is that of an equal file', () => {
    expect(forAll(file, stat({}))).toEqual(['skip', 'leave', 'skip', 'update']);
  });
  test('is that of a file of the same size and time is left only if it is sure to be the one that was backed up', () => {
    const compared = ['skip', 'compare', 'skip', 'update'];
    expect(forAll(file, stat({ ctimeNs: 2_001n }))).toEqual(compared);
    expect(forAll(file, stat({ ino: 3n }))).toEqual(compared);
    expect(forAll(file, stat({ ctimeNs: 2_001n, nlink: 2 }))).toEqual(['skip', 'compare', 'skip', 'replace']);
    expect(forAll({ ...file, changedWhileRead: true }, stat({}))).toEqual(compared);
  });
  test('is that of a file whose ctime may be a copy of its mtime is compared', () => {
    const at = (ns: bigint): string[] =>
      forAll({ ...file, mtimeNs: ns, ctimeNs: ns }, stat({ mtimeNs: ns, ctimeNs: ns }));
    expect(at(1_700_000_000_010_000_000n)).toEqual(['skip', 'compare', 'skip', 'update']);
    expect(at(1_700_000_000_012_345_678n)).toEqual(['skip', 'leave', 'skip', 'update']);
  });
  test('is that of an older file', () => {
    expect(forAll(file, stat({ mtimeNs: 999n }))).toEqual(['skip', 'update', 'update', 'update']);
  });
  test('is that of a newer file', () => {
    expect(forAll(file, stat({ mtimeNs: 1_001n }))).toEqual(['skip', 'update', 'skip', 'update']);
  });
  test('is that of a file of another size', () => {
    expect(forAll(file, stat({ size: 11 }))).toEqual(['skip', 'update', 'skip', 'update']);
  });
  test('is one of several of an older file', () => {
    expect(forAll(file, stat({ mtimeNs: 1n, nlink: 2 }))).toEqual(['skip', 'replace', 'replace', 'replace']);
  });
  test('is that of a file that a restore left unfinished is gone on with, however new it looks', () => {
    const unfinished = stat({ mode: REGULAR | UNFINISHED_FILE, mtimeNs: 9_999n });
    const all = ['update', 'update', 'update', 'update'];
    expect(forAll(file, unfinished, false)).toEqual(all);
    expect(forAll(file, { ...unfinished, mtimeNs: 1_000n }, false)).toEqual(all);
  });
  test.each([UNFINISHED_FILE, 0o1200])('is that of a file of mode %o belongs to who gave it that', (bits) => {
    expect(forAll(file, stat({ mode: REGULAR | bits, mtimeNs: 9_999n }))).toEqual([
      'skip',
      'update',
      'skip',
      'update',
    ]);
  });
  test('is that of an older link', () => {
    expect(forAll(file, stat({ mode: 0o120777, mtimeNs: 1n }))).toEqual([
      'skip',
      'replace',
      'replace',
      'replace',
    ]);
  });
  test('is that of an older directory', () => {
    expect(forAll(file, stat({ mode: 0o040755, mtimeNs: 1n }))).toEqual(['skip', 'clear', 'clear', 'clear']);
  });
});

test('a directory is merged with one that stands there', () => {
  expect(forAll(directory, stat({ mode: 0o040755 }))).toEqual(['merge', 'merge', 'merge', 'merge']);
});
test('a directory takes the place of an older link or file, unless nothing may be overwritten', () => {
  expect(forAll(directory, stat({ mode: 0o120777, mtimeNs: 1n }))).toEqual([
    'skip',
    'replace',
    'replace',
    'replace',
  ]);
  expect(forAll(directory, stat({ mtimeNs: 1n }))).toEqual(['skip', 'replace', 'replace', 'replace']);
});
test('a link takes the place of an older entry', () => {
  expect(forAll(link, stat({ mode: 0o120777, mtimeNs: 1n }))).toEqual([
    'skip',
    'replace',
    'replace',
    'replace',
  ]);
  expect(forAll(link, stat({ mode: 0o040755, mtimeNs: 1n }))).toEqual(['skip', 'clear', 'clear', 'clear']);
});
