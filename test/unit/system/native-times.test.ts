import { execFileSync } from 'node:child_process';
import { lstatSync, mkdtempSync, openSync, closeSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bytesOfText } from '../../../src/base/byte-path.ts';
import { treePath } from '../../../src/base/tree-path.ts';
import { native, type Native } from '../../../src/system/native.ts';

const second = 1_000_000_000n;
/** Before 1970, around it, today to the nanosecond, beyond 31 and 32 bits of seconds, the 2200s. */
const times = [
  -(2n ** 31n) * second,
  -1_500_000_001n,
  -second,
  -1n,
  0n,
  1n,
  1_767_225_599_999_999_999n,
  (2n ** 31n - 1n) * second + 999_999_999n,
  2n ** 31n * second,
  2n ** 32n * second + 5n,
  7_500_000_000n * second + 123_456_789n,
];

if (native === null) {
  it.skip('needs the C library, which is not to be had here');
} else {
  const present = native;
  describe('times', () => timesThrough(present));
}

function timesThrough(native: Native): void {
  let directory = '';
  const file = bytesOfText('file');

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'holdfast-times-'));
    writeFileSync(join(directory, 'file'), '');
  });

  afterEach(() => rmSync(directory, { recursive: true }));

  function timesOf(name: string): { atimeNs: bigint; mtimeNs: bigint } {
    const { atimeNs, mtimeNs } = lstatSync(join(directory, name), { bigint: true });
    return { atimeNs, mtimeNs };
  }

  it('are set to the nanosecond by name and by descriptor, and read back the same', () => {
    const dir = native.openat(native.AT_FDCWD, treePath(directory), 0);
    const fd = openSync(join(directory, 'file'), 'r+');
    for (const [index, mtimeNs] of times.entries()) {
      const atimeNs = times.at(-1 - index) ?? 0n;
      native.utimensat(dir, file, atimeNs, mtimeNs);
      expect(timesOf('file')).toEqual({ atimeNs, mtimeNs });
      expect(native.lstatat(dir, file).mtimeNs).toBe(mtimeNs);
      native.futimens(fd, mtimeNs, atimeNs);
      expect(timesOf('file')).toEqual({ atimeNs: mtimeNs, mtimeNs: atimeNs });
    }
    closeSync(fd);
    native.close(dir);
  });

  it('are those that stat(1) shows', ({ skip }) => {
    skip(process.platform !== 'linux', 'needs the stat of GNU coreutils');
    const path = join(directory, 'file');
    for (const ns of [1_767_225_599_999_999_999n, 2n ** 32n * second + 5n, -1_500_000_001n]) {
      native.utimensat(native.AT_FDCWD, treePath(path), 0n, ns);
      const shown = execFileSync('stat', ['-c', '%Y %y', path], { encoding: 'utf8' });
      const [, whole, fraction] = /^(-?\d+) \S+ \d\d:\d\d:\d\d\.(\d{9}) /.exec(shown) ?? [];
      expect(BigInt(whole ?? '') * second + BigInt(fraction ?? '')).toBe(ns);
    }
  });

  it('of a link are its own', () => {
    symlinkSync('file', join(directory, 'link'));
    const before = timesOf('file');
    native.utimensat(native.AT_FDCWD, treePath(join(directory, 'link')), -1n, 3n);
    expect(timesOf('link')).toEqual({ atimeNs: -1n, mtimeNs: 3n });
    expect(timesOf('file')).toEqual(before);
  });

  it('that no file can have are refused', () => {
    const path = treePath(join(directory, 'file'));
    expect(() => native.utimensat(native.AT_FDCWD, path, 0n, 2n ** 100n)).toThrow(RangeError);
  });
}
