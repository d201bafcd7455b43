import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { asByteString, bytesOfText, type ByteString } from '../../../src/base/byte-path.ts';
import { treePath } from '../../../src/base/tree-path.ts';
import { libc, type Libc } from '../../../src/system/libc.ts';
import { bindMakeNode } from '../../../src/system/directory-calls.ts';
import { native, type Native } from '../../../src/system/native.ts';

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_RDWR, S_IFCHR, S_IFIFO } = constants;
const isRoot = process.geteuid?.() === 0;
const needsRoot = 'needs root';
/** A name that is not UTF-8. */
const oddName = asByteString('a\u00ff\u0080\n b');

if (native === null || libc === null) {
  it.skip('needs the C library, which is not to be had here');
} else {
  const [present, library] = [native, libc];
  describe('an entry of an open directory', () => entriesOf(present, library));
}

function entriesOf(native: Native, libc: Libc): void {
  let path = '';
  let dir = -1;

  beforeEach(() => {
    path = mkdtempSync(join(tmpdir(), 'holdfast-native-'));
    dir = native.openat(native.AT_FDCWD, treePath(path), O_RDONLY | O_DIRECTORY);
  });

  afterEach(() => {
    native.close(dir);
    rmSync(path, { recursive: true });
  });

  const at = (name: ByteString): Buffer =>
    Buffer.concat([Buffer.from(`${path}/`), Buffer.from(name, 'latin1')]);

  it('is created with the mode given, and read and written like any other', () => {
    const fd = native.openat(dir, oddName, O_RDWR | O_CREAT | O_EXCL, 0o640);
    writeSync(fd, 'content');
    const content = Buffer.alloc(7);
    readSync(fd, content, 0, 7, 0);
    native.close(fd);
    expect(content.toString()).toBe('content');
    expect(readFileSync(at(oddName), 'utf8')).toBe('content');
    expect(lstatSync(at(oddName)).mode & 0o7777).toBe(0o640 & ~process.umask());
  });

  it('is not left open to programs started later', ({ skip }) => {
    skip(process.platform !== 'linux', 'needs /proc');
    const flags = /^flags:\s+([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${dir}`, 'utf8'))?.[1];
    expect(Number.parseInt(flags ?? '', 8) & 0o2000000).toBe(0o2000000);
  });

  it('stays the entry of that directory when another one takes the path', () => {
    mkdirSync(join(path, 'target'));
    mkdirSync(join(path, 'elsewhere'));
    const target = native.openat(dir, bytesOfText('target'), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    renameSync(join(path, 'target'), join(path, 'moved'));
    symlinkSync('elsewhere', join(path, 'target'));
    native.mkdirat(target, bytesOfText('made'), 0o700);
    native.close(target);
    expect(readdirSync(join(path, 'moved'))).toEqual(['made']);
    expect(readdirSync(join(path, 'elsewhere'))).toEqual([]);
  });

  it('is not reached through a link', () => {
    symlinkSync('/', join(path, 'link'));
    expect(() => native.openat(dir, bytesOfText('link'), O_RDONLY | O_DIRECTORY | O_NOFOLLOW)).toThrow(
      expect.objectContaining({ code: expect.stringMatching(/^(ELOOP|ENOTDIR)$/) }),
    );
  });

  it('is made, renamed and removed', () => {
    native.mkdirat(dir, oddName, 0o755);
    native.renameat(dir, oddName, dir, bytesOfText('b'));
    expect(readdirSync(path)).toEqual(['b']);
    native.unlinkat(dir, bytesOfText('b'), { directory: true });
    writeFileSync(join(path, 'file'), '');
    native.unlinkat(dir, bytesOfText('file'));
    expect(readdirSync(path)).toEqual([]);
  });

  it('is listed under its own bytes, each time anew', () => {
    const names = [oddName, bytesOfText('Zoë'), bytesOfText('.hidden'), asByteString('n'.repeat(255))];
    for (const name of names) writeFileSync(at(name), '');
    for (let round = 0; round < 2; round += 1)
      expect(native.listDirectory(dir).sort()).toEqual(names.toSorted());
    expect(readdirSync(path, 'latin1').sort()).toEqual(names.toSorted());
    native.unlinkat(dir, oddName);
    expect(native.listDirectory(dir)).toHaveLength(3);
  });

  it('lists a directory larger than what the kernel tells at once', () => {
    const names = Array.from({ length: 3000 }, (_, index) => `entry-with-a-rather-long-name-${index}`);
    for (const name of names) linkSync(writtenOnce(), join(path, name));
    native.unlinkat(dir, bytesOfText('original'));
    expect(native.listDirectory(dir).sort()).toEqual(names.sort());
  });

  function writtenOnce(): string {
    const original = join(path, 'original');
    if (!existsSync(original)) writeFileSync(original, '');
    return original;
  }

  it('is a link with its target byte for byte, short or as long as there can be', () => {
    native.symlinkat(asByteString('not \u00fe UTF-8'), dir, oddName);
    expect(native.readlinkat(dir, oddName)).toBe('not \u00fe UTF-8');
    expect(readlinkSync(at(oddName), 'latin1')).toBe('not \u00fe UTF-8');
    const longest = asByteString('x/'.repeat(process.platform === 'linux' ? 2047 : 511));
    native.symlinkat(longest, dir, bytesOfText('long'));
    expect(native.readlinkat(dir, bytesOfText('long'))).toBe(longest);
  });

  it('gets one more name, also when it is a link', () => {
    writeFileSync(join(path, 'file'), '');
    symlinkSync('file', join(path, 'link'));
    native.linkat(dir, bytesOfText('file'), dir, bytesOfText('file2'));
    native.linkat(dir, bytesOfText('link'), dir, oddName);
    expect(statSync(join(path, 'file2')).ino).toBe(statSync(join(path, 'file')).ino);
    expect(lstatSync(at(oddName)).isSymbolicLink()).toBe(true);
  });

  it('shows all that lstat shows', () => {
    writeFileSync(join(path, 'file'), 'x'.repeat(5000));
    linkSync(join(path, 'file'), join(path, 'second name'));
    mkdirSync(join(path, 'directory'));
    symlinkSync('nowhere', join(path, 'link'));
    native.mknodat(dir, bytesOfText('fifo'), S_IFIFO | 0o600, 0, 0);
    for (const name of ['file', 'directory', 'link', 'fifo', '/dev/null', '/dev/tty']) {
      const seen = lstatSync(name.startsWith('/') ? name : join(path, name), { bigint: true });
      expect(withoutRdev(native.lstatat(dir, bytesOfText(name)))).toEqual({
        mode: Number(seen.mode),
        nlink: Number(seen.nlink),
        uid: Number(seen.uid),
        gid: Number(seen.gid),
        size: Number(seen.size),
        blocks: Number(seen.blocks),
        dev: seen.dev,
        ino: seen.ino,
        mtimeNs: seen.mtimeNs,
        ctimeNs: seen.ctimeNs,
      });
    }
  });

  function withoutRdev(stat: ReturnType<typeof native.lstatat>): object {
    const { rdevMajor: _major, rdevMinor: _minor, ...rest } = stat;
    return rest;
  }

  it('shows the same through its descriptor', () => {
    writeFileSync(join(path, 'file'), 'content');
    const fd = openSync(join(path, 'file'), 'r');
    expect(native.fstat(fd)).toEqual(native.lstatat(dir, bytesOfText('file')));
    expect(native.fstat(fd).ino).toBe(fstatSync(fd, { bigint: true }).ino);
    closeSync(fd);
  });

  it('may be absent without an error, for the one who asks so', () => {
    expect(native.findEntry(dir, bytesOfText('absent'))).toBeUndefined();
    expect(native.findEntry(dir, bytesOfText('.'))?.ino).toBe(native.fstat(dir).ino);
    expect(() => native.findEntry(999_999, bytesOfText('absent'))).toThrow(
      expect.objectContaining({ code: 'EBADF' }),
    );
  });

  it.runIf(process.platform === 'linux')('is where something is mounted, or not', () => {
    const root = native.openat(native.AT_FDCWD, bytesOfText('/'), constants.O_RDONLY);
    expect(native.isMountRoot(root, bytesOfText('proc'))).toBe(true);
    native.close(root);
    mkdirSync(join(path, 'directory'));
    expect(native.isMountRoot(dir, bytesOfText('directory'))).toBe(false);
    expect(() => native.isMountRoot(dir, bytesOfText('absent'))).toThrow(
      expect.objectContaining({ code: 'ENOENT' }),
    );
  });

  it('is a FIFO', () => {
    native.mknodat(dir, oddName, S_IFIFO | 0o644, 0, 0);
    expect(lstatSync(at(oddName)).isFIFO()).toBe(true);
  });

  it('is a device, through whichever function the C library has', ({ skip }) => {
    skip(!isRoot, needsRoot);
    skip(process.platform !== 'linux', 'device numbers below are those of Linux');
    native.mknodat(dir, bytesOfText('one'), S_IFCHR | 0o600, 4095, 1_048_575);
    expect(native.lstatat(dir, bytesOfText('one'))).toMatchObject({ rdevMajor: 4095, rdevMinor: 1_048_575 });
    expect(execFileSync('stat', ['-c', '%F %t %T', join(path, 'one')], { encoding: 'utf8' }).trim()).toBe(
      'character special file fff fffff',
    );
  });

  it('is a device also with a glibc before 2.33', ({ skip }) => {
    skip(!libc.has('__xmknodat'), 'this C library does not have the function of the older glibc');
    const older = { ...libc, has: (name: string) => name === '__xmknodat' };
    const name = older.memory(8);
    name.bytes.write('old\0');
    expect(bindMakeNode(older)(dir, name.address, S_IFIFO | 0o600, 0n)).toBe(0);
    expect(lstatSync(join(path, 'old')).isFIFO()).toBe(true);
    expect(bindMakeNode(older)(dir, name.address, S_IFIFO | 0o600, 0n)).toBe(17);
    const neither = { ...older, has: () => false };
    expect(bindMakeNode(neither)(dir, name.address, S_IFIFO | 0o600, 0n)).not.toBe(0);
  });

  it('changes its permissions, the special ones too', () => {
    writeFileSync(at(oddName), '');
    native.fchmodat(dir, oddName, 0o4751);
    expect(lstatSync(at(oddName)).mode & 0o7777).toBe(0o4751);
    native.mknodat(dir, bytesOfText('fifo'), S_IFIFO | 0o600, 0, 0);
    native.fchmodat(dir, bytesOfText('fifo'), 0o444);
    expect(lstatSync(join(path, 'fifo')).mode & 0o7777).toBe(0o444);
  });

  it('keeps its permissions when a link to it gets some', () => {
    writeFileSync(join(path, 'file'), '');
    chmodSync(join(path, 'file'), 0o600);
    symlinkSync('file', join(path, 'link'));
    if (process.platform === 'linux') {
      expect(() => native.fchmodat(dir, bytesOfText('link'), 0o777)).toThrow(
        expect.objectContaining({ code: 'ENOTSUP', syscall: 'fchmodat', path: 'link' }),
      );
    } else {
      native.fchmodat(dir, bytesOfText('link'), 0o777);
    }
    expect(statSync(join(path, 'file')).mode & 0o7777).toBe(0o600);
  });

  it('changes its owner; a link changes its own', ({ skip }) => {
    skip(!isRoot, needsRoot);
    writeFileSync(join(path, 'file'), '');
    chownSync(join(path, 'file'), 1, 1);
    symlinkSync('file', join(path, 'link'));
    native.fchownat(dir, bytesOfText('link'), 4_294_967_294, 70_000);
    expect(lstatSync(join(path, 'link'))).toMatchObject({ uid: 4_294_967_294, gid: 70_000 });
    expect(statSync(join(path, 'file'))).toMatchObject({ uid: 1, gid: 1 });
  });
}
