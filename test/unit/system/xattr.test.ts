import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { asByteString, bytesOfText, type ByteString } from '../../../src/base/byte-path.ts';
import { treePath } from '../../../src/base/tree-path.ts';
import { native, type Native } from '../../../src/system/native.ts';
import {
  listXattrs,
  readXattrs,
  removeXattr,
  splitNames,
  writeXattr,
  type Xattr,
} from '../../../src/system/xattr.ts';

const isRoot = process.geteuid?.() === 0;
const linux = process.platform === 'linux';

it('has each name once, in order, however often a file system lists it', () => {
  expect(splitNames(Buffer.from('user.b\0user.a\0user.b\0'))).toEqual(['user.a', 'user.b']);
  expect(splitNames(Buffer.from('user.a\0user.a\0'))).toEqual(['user.a']);
});

if (native === null) {
  it.skip('needs the C library, which is not to be had here');
} else {
  const present = native;
  describe('extended attributes', () => attributesThrough(present));
}

/** For tests where nothing may be unreadable. */
function fail(name: ByteString, error: Error): never {
  throw new Error(`${name} could not be read`, { cause: error });
}

function attributesThrough(native: Native): void {
  let directory = '';
  let file = bytesOfText('');

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'holdfast-xattr-'));
    file = treePath(join(directory, 'file'));
    writeFileSync(file, '');
  });

  afterEach(() => rmSync(directory, { recursive: true }));

  /** False where the file system has no attributes of users. */
  function takesAttributes(): boolean {
    try {
      writeXattr(file, bytesOfText('user.probe'), Buffer.from('x'));
      return removeXattr(file, bytesOfText('user.probe'));
    } catch {
      return false;
    }
  }
  const noAttributes = 'this file system has no user attributes';

  function sample(): Xattr[] {
    return [
      { name: bytesOfText('user.binary'), value: Buffer.from([0, 255, 0, 128, 10]) },
      { name: bytesOfText('user.empty'), value: Buffer.alloc(0) },
      { name: asByteString('user.n\u00e4\u00ff'), value: Buffer.from('a name that is not UTF-8') },
    ];
  }

  it('are none on a new file', () => {
    expect(listXattrs(file)).toEqual([]);
    expect(readXattrs(file, fail)).toEqual([]);
  });

  it('come back as written, in the order of their names, by path, descriptor and directory', ({ skip }) => {
    skip(!takesAttributes(), noAttributes);
    const fd = openSync(file, 'r');
    const dirFd = openSync(directory, 'r');
    for (const target of [
      file,
      fd,
      { dirFd, name: bytesOfText('file') },
      { dirFd: native.AT_FDCWD, name: file },
    ]) {
      for (const { name, value } of sample().toReversed()) writeXattr(target, name, value);
      for (const source of [file, fd, { dirFd, name: bytesOfText('file') }]) {
        expect(readXattrs(source, fail)).toEqual(sample());
        expect(listXattrs(source)).toEqual(sample().map(({ name }) => name));
      }
      for (const { name } of sample()) expect(removeXattr(target, name)).toBe(true);
      expect(listXattrs(fd)).toEqual([]);
    }
    closeSync(dirFd);
    closeSync(fd);
  });

  it('are those that getfattr shows', ({ skip }) => {
    skip(!hasGetfattr(), 'getfattr is not installed');
    skip(!takesAttributes(), noAttributes);
    writeXattr(file, bytesOfText('user.seen'), Buffer.from('by others'));
    const shown = execFileSync('getfattr', ['--absolute-names', '-d', file], { encoding: 'utf8' });
    expect(shown).toContain('user.seen="by others"');
    execFileSync('setfattr', ['-n', 'user.theirs', '-v', '0x00ff', file]);
    expect(readXattrs(file, fail).at(-1)).toEqual({ name: 'user.theirs', value: Buffer.from([0, 255]) });
  });

  it('are replaced, and removed once', ({ skip }) => {
    skip(!takesAttributes(), noAttributes);
    const name = bytesOfText('user.name');
    writeXattr(file, name, Buffer.from('a long first value'));
    writeXattr(file, name, Buffer.from('short'));
    expect(readXattrs(file, fail)).toEqual([{ name, value: Buffer.from('short') }]);
    expect(removeXattr(file, name)).toBe(true);
    expect(removeXattr(file, name)).toBe(false);
  });

  it('may be more than fit the memory lent at first: a long value, or many names', ({ skip }) => {
    skip(!takesAttributes(), noAttributes);
    const long = { name: bytesOfText('user.long'), value: Buffer.alloc(3000, 7) };
    writeXattr(file, long.name, long.value);
    expect(readXattrs(file, fail)).toEqual([long]);
    removeXattr(file, long.name);
    const many = Array.from({ length: 14 }, (_, index) =>
      bytesOfText(`user.${index + 10}${'n'.repeat(150)}`),
    );
    for (const name of many) writeXattr(file, name, Buffer.from('v'));
    expect(listXattrs(file)).toEqual(many);
    expect(readXattrs(file, fail).map(({ name }) => name)).toEqual(many);
  });

  it('are values of their own, which later reads leave alone', ({ skip }) => {
    skip(!takesAttributes(), noAttributes);
    writeXattr(file, bytesOfText('user.a'), Buffer.from('first'));
    const [first] = readXattrs(file, fail);
    writeXattr(file, bytesOfText('user.a'), Buffer.from('other'));
    readXattrs(file, fail);
    expect(first?.value.toString()).toBe('first');
    expect(first?.value.buffer.byteLength).toBe(5);
  });

  it('of a link are its own', ({ skip }) => {
    skip(!linux || !isRoot, 'only root may give a link attributes, and only on Linux trusted ones');
    symlinkSync('file', join(directory, 'link'));
    const link = treePath(join(directory, 'link'));
    const name = bytesOfText('trusted.holdfast');
    try {
      writeXattr(link, name, Buffer.from('of the link'));
    } catch (error) {
      skip(error instanceof Error && error.message.startsWith('ENOTSUP'), 'not on this file system');
      throw error;
    }
    const dirFd = openSync(directory, 'r');
    writeXattr({ dirFd, name: bytesOfText('link') }, bytesOfText('trusted.second'), Buffer.from('too'));
    closeSync(dirFd);
    expect(readXattrs(link, fail)).toEqual([
      { name, value: Buffer.from('of the link') },
      { name: 'trusted.second', value: Buffer.from('too') },
    ]);
    expect(listXattrs(file)).toEqual([]);
    expect(removeXattr(link, name)).toBe(true);
  });

  it('of a FIFO and a directory are read without opening them', ({ skip }) => {
    skip(!linux || !isRoot, 'only root may write trusted attributes, which only Linux has');
    const fifo = treePath(join(directory, 'fifo'));
    native.mknodat(native.AT_FDCWD, fifo, constants.S_IFIFO | 0o600, 0, 0);
    const expected = { name: bytesOfText('trusted.holdfast'), value: Buffer.from('value') };
    for (const path of [fifo, treePath(directory)]) {
      writeXattr(path, expected.name, expected.value);
      expect(readXattrs(path, fail)).toEqual([expected]);
    }
  });

  it('include ACLs', ({ skip }) => {
    skip(!linux, 'macOS keeps ACLs elsewhere');
    const access = acl([
      [0x01, 6],
      [0x02, 4, 1234],
      [0x04, 0],
      [0x10, 4],
      [0x20, 0],
    ]);
    try {
      writeXattr(file, bytesOfText('system.posix_acl_access'), access);
    } catch (error) {
      skip(error instanceof Error && error.message.startsWith('ENOTSUP'), 'no ACLs on this file system');
      throw error;
    }
    expect(readXattrs(file, fail)).toEqual([{ name: 'system.posix_acl_access', value: access }]);
    // the group's bits of the mode are the mask of the ACL
    expect(statSync(file).mode & 0o777).toBe(0o640);
    mkdirSync(join(directory, 'sub'));
    const sub = treePath(join(directory, 'sub'));
    writeXattr(sub, bytesOfText('system.posix_acl_default'), access);
    expect(readXattrs(sub, fail)).toEqual([{ name: 'system.posix_acl_default', value: access }]);
  });

  it('include capabilities', ({ skip }) => {
    skip(!linux || !isRoot, 'only root may grant capabilities, which only Linux has');
    // version 2, effective; permitted: CAP_NET_BIND_SERVICE
    const capability = Buffer.from('0100000200040000000000000000000000000000', 'hex');
    writeXattr(file, bytesOfText('security.capability'), capability);
    expect(readXattrs(file, fail)).toEqual([{ name: 'security.capability', value: capability }]);
  });

  it('that cannot be read are told one by one', ({ skip }) => {
    skip(!takesAttributes(), noAttributes);
    skip(!linux, 'on Linux reading a user attribute takes the right to read the file, elsewhere not');
    for (const { name, value } of sample()) writeXattr(file, name, value);
    chmodSync(directory, 0o755);
    chmodSync(file, 0);
    const told: [string, string | undefined][] = [];
    const found = asNobody(() => readXattrs(file, (name, error) => told.push([name, error.code])));
    expect(found).toEqual([]);
    expect(told).toEqual(sample().map(({ name }) => [name, 'EACCES']));
  });

  it('fail with the reason and the path', () => {
    const absent = treePath(join(directory, 'absent'));
    const failure = { code: 'ENOENT', path: absent };
    expect(() => listXattrs(absent)).toThrow(expect.objectContaining({ ...failure, syscall: 'listxattr' }));
    expect(() => readXattrs(absent, fail)).toThrow(expect.objectContaining(failure));
    expect(() => writeXattr(absent, bytesOfText('user.a'), Buffer.alloc(1))).toThrow(
      expect.objectContaining({ ...failure, syscall: 'setxattr' }),
    );
    expect(() => removeXattr(absent, bytesOfText('user.a'))).toThrow(
      expect.objectContaining({ ...failure, syscall: 'removexattr' }),
    );
    expect(() => listXattrs(999_999)).toThrow(expect.objectContaining({ code: 'EBADF' }));
  });

  it('are none where there cannot be any, and writing them says so', ({ skip }) => {
    skip(!linux, 'needs /proc');
    const proc = bytesOfText('/proc/version');
    expect(listXattrs(proc)).toEqual([]);
    expect(() => writeXattr(proc, bytesOfText('user.a'), Buffer.alloc(1))).toThrow(
      expect.objectContaining({ code: expect.stringMatching(/^(ENOTSUP|EACCES)$/) }),
    );
  });
}

/** The kernel's form of an ACL: version 2, then tag, permissions and id of each entry. */
function acl(entries: readonly (readonly [tag: number, permissions: number, id?: number])[]): Buffer {
  const bytes = Buffer.alloc(4 + 8 * entries.length);
  bytes.writeUInt32LE(2, 0);
  for (const [index, [tag, permissions, id = 0xffff_ffff]] of entries.entries()) {
    bytes.writeUInt16LE(tag, 4 + 8 * index);
    bytes.writeUInt16LE(permissions, 6 + 8 * index);
    bytes.writeUInt32LE(id, 8 + 8 * index);
  }
  return bytes;
}

/** Root reads everything; somebody else does not. */
function asNobody<T>(act: () => T): T {
  if (!isRoot) return act();
  process.seteuid?.(65_534);
  try {
    return act();
  } finally {
    process.seteuid?.(0);
  }
}

function hasGetfattr(): boolean {
  try {
    execFileSync('getfattr', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
