import { closeSync, lstatSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { asByteString, bytesOfText } from '../../../src/base/byte-path.ts';
import { treePath } from '../../../src/base/tree-path.ts';
import { errnoOf } from '../../../src/base/errors.ts';
import { native, type Native } from '../../../src/system/native.ts';
import { systemError } from '../../../src/system/libc.ts';

it('is an error of the form Node gives', () => {
  const own = systemError('open', constants.errno.ENOENT, bytesOfText('/no/such/fileé'));
  const theirs = thrownBy(() => openSync('/no/such/fileé', 'r'));
  expect({ ...own }).toEqual({ ...theirs });
  expect(own.message).toBe(theirs.message);
});

it('names both paths of a call that has two', () => {
  const error = systemError('renameat', constants.errno.EXDEV, bytesOfText('a'), bytesOfText('b'));
  expect(error.message).toMatch(/^EXDEV: .*, renameat 'a' -> 'b'$/);
  expect(error).toMatchObject({ path: 'a', dest: 'b', errno: -constants.errno.EXDEV });
});

it('has a code even for an unknown number', () => {
  expect(systemError('x', 4321)).toMatchObject({ code: 'errno 4321', errno: -4321 });
});

function thrownBy(act: () => unknown): NodeJS.ErrnoException {
  try {
    act();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('nothing was thrown');
}

if (native === null) {
  it.skip('needs the C library, which is not to be had here');
} else {
  const present = native;
  describe('a failed call', () => failuresOf(present));
}

function failuresOf(native: Native): void {
  let path = '';
  let dir = -1;

  beforeEach(() => {
    path = mkdtempSync(join(tmpdir(), 'holdfast-errors-'));
    dir = native.openat(native.AT_FDCWD, treePath(path), 0);
    mkdirSync(join(path, 'full'));
    writeFileSync(join(path, 'full', 'file'), '');
  });

  afterEach(() => {
    native.close(dir);
    rmSync(path, { recursive: true });
  });

  it('says why, in which call, with which name', () => {
    const none = bytesOfText('none');
    const full = bytesOfText('full');
    const cases: readonly [code: string, syscall: string, act: () => unknown][] = [
      ['ENOENT', 'openat', () => native.openat(dir, none, 0)],
      ['ENOENT', 'lstatat', () => native.lstatat(dir, none)],
      ['ENOENT', 'unlinkat', () => native.unlinkat(dir, none)],
      ['ENOENT', 'renameat', () => native.renameat(dir, none, dir, full)],
      ['ENOENT', 'utimensat', () => native.utimensat(dir, none, 0n, 0n)],
      ['ENOENT', 'fchownat', () => native.fchownat(dir, none, 0, 0)],
      ['ENOENT', 'linkat', () => native.linkat(dir, none, dir, bytesOfText('x'))],
      ['ENOENT', 'openat', () => native.openat(dir, bytesOfText(''), 0)],
      ['EEXIST', 'mkdirat', () => native.mkdirat(dir, full, 0o700)],
      ['EEXIST', 'symlinkat', () => native.symlinkat(none, dir, full)],
      ['EEXIST', 'mknodat', () => native.mknodat(dir, full, 0o100600, 0, 0)],
      ['EINVAL', 'readlinkat', () => native.readlinkat(dir, full)],
      ['ENOTDIR', 'openat', () => native.openat(dir, bytesOfText('full/file/x'), 0)],
      ['ENAMETOOLONG', 'openat', () => native.openat(dir, asByteString('n'.repeat(256)), 0)],
      ['ENAMETOOLONG', 'openat', () => native.openat(dir, asByteString('n/'.repeat(5000)), 0)],
      ['EBADF', 'openat', () => native.openat(999_999, none, 0)],
      ['EBADF', 'futimens', () => native.futimens(999_999, 0n, 0n)],
      ['EBADF', 'fstat', () => native.fstat(999_999)],
      ['EBADF', 'close', () => native.close(999_999)],
    ];
    const numbers = new Map(Object.entries(constants.errno));
    for (const [code, syscall, act] of cases) {
      expect(thrownBy(act)).toMatchObject({ code, errno: -(numbers.get(code) ?? 0), syscall });
    }
    expect(thrownBy(() => native.openat(dir, bytesOfText('é'), 0)).path).toBe('é');
    // Linux says ENOTEMPTY, POSIX allows EEXIST
    const removal = errnoOf(thrownBy(() => native.unlinkat(dir, full, { directory: true })));
    expect(removal).toMatch(/^(ENOTEMPTY|EEXIST)$/);
  });

  it('of listing leaves no descriptor behind', () => {
    const file = native.openat(dir, bytesOfText('full/file'), 0);
    const next = openSync(path, 'r');
    closeSync(next);
    for (let round = 0; round < 10; round += 1) {
      expect(errnoOf(thrownBy(() => native.listDirectory(file)))).toBe('ENOTDIR');
      native.listDirectory(dir);
    }
    const after = openSync(path, 'r');
    closeSync(after);
    native.close(file);
    expect(after).toBe(next);
  });

  it('refuses a name that the kernel would see cut short, and one that is not bytes', () => {
    writeFileSync(join(path, 'name'), '');
    for (const name of ['name\0.txt', '\0', 'na\u0100me']) {
      expect(thrownBy(() => native.lstatat(dir, asByteString(name)))).toMatchObject({
        code: 'ERR_INVALID_ARG_VALUE',
      });
      expect(() => native.symlinkat(asByteString(name), dir, bytesOfText('link'))).toThrow(TypeError);
    }
    expect(() => lstatSync(join(path, 'link'))).toThrow('ENOENT');
  });

  it('gives its own errno whatever else the process is doing', () => {
    // alternating reasons, with rubbish made in between for the collector to do its own system calls
    let rubbish: unknown[] = [];
    for (let round = 0; round < 20_000; round += 1) {
      const code = errnoOf(
        thrownBy(() =>
          round % 2 === 0
            ? native.openat(dir, bytesOfText('none'), 0)
            : native.openat(999_999, bytesOfText('none'), 0),
        ),
      );
      if (code !== (round % 2 === 0 ? 'ENOENT' : 'EBADF')) throw new Error(`round ${round} said ${code}`);
      rubbish.push(new Uint8Array(1024), { round });
      if (round % 1000 === 0) rubbish = [];
    }
    expect(rubbish.length).toBeGreaterThan(0);
  });
}
