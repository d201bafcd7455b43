import { describe, expect, test } from 'vitest';
import { asByteString } from '../../../src/base/byte-path.ts';
import { isUnchangedFile, metadataOf, type Comparing } from '../../../src/archiver/before/source-entry.ts';
import type { FileEntry } from '../../../src/format/tree.ts';
import type { EntryStat } from '../../../src/system/entry-stat.ts';

const SECOND = 1_000_000_000n;
const stat: EntryStat = {
  mode: 0o100644,
  nlink: 1,
  uid: 1,
  gid: 1,
  size: 1_000,
  blocks: 2,
  dev: 3n,
  ino: 44n,
  mtimeNs: 100n * SECOND,
  ctimeNs: 200n * SECOND,
  rdevMajor: 0,
  rdevMinor: 0,
};
const old: FileEntry = {
  type: 'file',
  ...metadataOf(asByteString('name'), stat),
  xattrs: undefined,
  size: stat.size,
  holes: undefined,
  content: Buffer.alloc(24),
  indirect: false,
  changedWhileRead: false,
};
const path = asByteString('/source/name');
const keepsCtimes: Comparing['ctimes'] = { tells: () => true, vouchesFor: () => true };
const trusted: Comparing = { isSettled: () => true, ctimes: keepsCtimes };

describe('a file', () => {
  test('is unchanged when all that is looked at is as it was', () => {
    expect(isUnchangedFile(old, path, stat, trusted)).toBe(true);
  });

  // A clock that was set back gives a change a ctime that is older than the last run: each of these counts by itself.
  test.each<readonly [string, Partial<EntryStat>]>([
    ['size', { size: 1_001 }],
    ['mtime', { mtimeNs: stat.mtimeNs + 1n }],
    ['mtime, set back,', { mtimeNs: stat.mtimeNs - 1n }],
    ['ctime', { ctimeNs: stat.ctimeNs + 1n }],
    ['ctime, set back,', { ctimeNs: stat.ctimeNs - 1n }],
    ['inode', { ino: 45n }],
    ['number of names', { nlink: 2 }],
  ])('has changed when its %s alone is another', (_, changes) => {
    expect(isUnchangedFile(old, path, { ...stat, ...changes }, trusted)).toBe(false);
  });

  test('is read again when the last run read it while it changed, or began in the same moment', () => {
    expect(isUnchangedFile({ ...old, changedWhileRead: true }, path, stat, trusted)).toBe(false);
    const isSettled = (ctimeNs: bigint): boolean => ctimeNs !== stat.ctimeNs;
    expect(isUnchangedFile(old, path, stat, { ...trusted, isSettled })).toBe(false);
  });

  test('is read again where the file system keeps no ctime', () => {
    const ctimes = { ...keepsCtimes, vouchesFor: () => false };
    expect(isUnchangedFile(old, path, stat, { ...trusted, ctimes })).toBe(false);
  });
});
