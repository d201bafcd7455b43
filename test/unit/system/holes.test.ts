import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dataExtents, type Extent } from '../../../src/system/holes.ts';
import { native } from '../../../src/system/native.ts';

const MiB = 1024 * 1024;
let directory = '';
let fd = -1;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-holes-'));
  fd = openSync(join(directory, 'sparse'), 'w+');
});

afterEach(() => {
  closeSync(fd);
  rmSync(directory, { recursive: true });
});

/** A file of holes, with one byte of data at each of these offsets. */
function makeSparse(size: number, offsets: readonly number[]): void {
  ftruncateSync(fd, size);
  for (const offset of offsets) writeSync(fd, 'x', offset);
  fsyncSync(fd);
}

function hasHoles(): boolean {
  const { blocks, size } = fstatSync(fd);
  return blocks * 512 < size / 2;
}

function covers(extents: readonly Extent[], offset: number): boolean {
  return extents.some((extent) => extent.offset <= offset && offset < extent.offset + extent.length);
}

describe.skipIf(native === null)('in a sparse file', () => {
  it('finds the data, and holes where there is none', ({ skip }) => {
    makeSparse(64 * MiB, [0, 20 * MiB + 5, 64 * MiB - 1]);
    skip(!hasHoles(), 'this file system makes no holes');
    const extents = dataExtents(fd, 64 * MiB);
    expect(extents).toHaveLength(3);
    for (const offset of [0, 20 * MiB + 5, 64 * MiB - 1]) expect(covers(extents, offset)).toBe(true);
    for (const offset of [10 * MiB, 40 * MiB]) expect(covers(extents, offset)).toBe(false);
    expect(extents.at(-1)).toSatisfy((last: Extent) => last.offset + last.length === 64 * MiB);
  });

  it('counts beyond 32 bits', ({ skip }) => {
    const far = 1024 ** 4 + 12_345;
    makeSparse(2 * 1024 ** 4, [5 * 1024 ** 3 + 7, far]);
    skip(!hasHoles(), 'this file system makes no holes');
    const extents = dataExtents(fd, 2 * 1024 ** 4);
    expect(extents).toHaveLength(2);
    expect(covers(extents, 5 * 1024 ** 3 + 7)).toBe(true);
    expect(covers(extents, far)).toBe(true);
  });

  it('has nothing to read in a file that is all hole', ({ skip }) => {
    makeSparse(16 * MiB, []);
    skip(!hasHoles(), 'this file system makes no holes');
    expect(dataExtents(fd, 16 * MiB)).toEqual([]);
  });

  it('leaves out nothing but zeros', () => {
    makeSparse(3 * MiB, [1, 70_000, 1_000_000, 1_000_001, 2_500_000]);
    const extents = dataExtents(fd, 3 * MiB);
    const content = Buffer.alloc(3 * MiB);
    readSync(fd, content, 0, content.length, 0);
    const rebuilt = Buffer.alloc(3 * MiB);
    for (const { offset, length } of extents) readSync(fd, rebuilt, offset, length, offset);
    expect(rebuilt.equals(content)).toBe(true);
    expect(content.filter((byte) => byte !== 0)).toHaveLength(5);
  });
});

it('is one extent in a file without holes, whatever part of it is asked for', () => {
  writeSync(fd, Buffer.alloc(100_000, 1), 0, 100_000, 0);
  expect(dataExtents(fd, 100_000)).toEqual([{ offset: 0, length: 100_000 }]);
  expect(dataExtents(fd, 10)).toEqual([{ offset: 0, length: 10 }]);
});

it('is nothing in an empty file', () => {
  expect(dataExtents(fd, 0)).toEqual([]);
});

it('is one extent where the file system does not tell holes', ({ skip }) => {
  skip(process.platform !== 'linux', 'needs /proc');
  const proc = openSync('/proc/version', 'r');
  try {
    expect(dataExtents(proc, 10)).toEqual([{ offset: 0, length: 10 }]);
  } finally {
    closeSync(proc);
  }
});

it('throws for a descriptor that is not open', ({ skip }) => {
  skip(native === null, 'nothing is asked of the system then');
  expect(() => dataExtents(999_999, 10)).toThrow(
    expect.objectContaining({ code: 'EBADF', syscall: 'lseek' }),
  );
});
