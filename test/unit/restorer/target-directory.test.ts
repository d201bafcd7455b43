import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { asByteString } from '../../../src/base/byte-path.ts';
import { treePath } from '../../../src/base/tree-path.ts';
import { DescriptorDirectory } from '../../../src/restorer/target/descriptor-directory.ts';
import {
  EntryRecordWriter,
  NO_RECORD,
  type RecordHandle,
} from '../../../src/restorer/target/entry-records.ts';
import { OpenDirectories } from '../../../src/restorer/target/open-directories.ts';
import { PathDirectory } from '../../../src/restorer/target/path-directory.ts';
import { removeTree } from '../../../src/restorer/target/remove-tree.ts';
import {
  looksUnfinished,
  UNFINISHED_FILE,
  type TargetDirectory,
} from '../../../src/restorer/target/target-directory.ts';
import { native } from '../../../src/system/native.ts';
import { removeTree as removeAll } from '../../support/remove-tree.ts';

let site: string;
let target: string;
let outside: string;

beforeEach(() => {
  site = mkdtempSync(join(tmpdir(), 'holdfast-target-'));
  [target, outside] = [join(site, 'target'), join(site, 'outside')];
  mkdirSync(target);
  mkdirSync(outside);
  writeFileSync(join(outside, 'victim'), 'victim');
});
afterEach(() => {
  removeAll(site);
});

const calls = native;
const kinds: readonly (readonly [string, (path: string) => TargetDirectory])[] = [
  ['by path', (path) => new PathDirectory(treePath(path))],
  ...(calls === null
    ? []
    : [['by descriptor', (path: string) => DescriptorDirectory.open(calls, treePath(path))] as const]),
];
const name = asByteString;

describe.each(kinds)('a directory held %s', (kind, open) => {
  test('makes files that belong to nobody before', () => {
    const directory = open(target);
    const fd = directory.createFile(name('a'), UNFINISHED_FILE);
    writeSync(fd, 'content');
    directory.setFileTimes(fd, 1_700_000_000_000_000_000n);
    directory.closeFile(fd);
    expect(looksUnfinished(lstatOf(directory, 'a'))).toBe(true);
    expect(lstatOf(directory, 'a').mtimeNs).toBe(1_700_000_000_000_000_000n);
    expect(() => directory.createFile(name('a'), 0o600)).toThrow(expect.objectContaining({ code: 'EEXIST' }));
    directory.close();
  });

  test('never makes or opens a file through a link', () => {
    symlinkSync(join(outside, 'victim'), join(target, 'link'));
    symlinkSync(join(outside, 'new'), join(target, 'dangling'));
    const directory = open(target);
    expect(() => directory.createFile(name('dangling'), 0o600)).toThrow(
      expect.objectContaining({ code: 'EEXIST' }),
    );
    expect(() => directory.openFile(name('link'), 'read-write')).toThrow(
      expect.objectContaining({ code: 'ELOOP' }),
    );
    expect(() => directory.openFile(name('link'), 'read')).toThrow(
      expect.objectContaining({ code: 'ELOOP' }),
    );
    expect(existsSync(join(outside, 'new'))).toBe(false);
    directory.close();
  });

  test('never enters a directory through a link', () => {
    symlinkSync(outside, join(target, 'link'));
    const directory = open(target);
    expect(() => directory.openDirectory(name('link'))).toThrow();
    directory.close();
  });

  test('does not follow a link that is put in its own place', () => {
    mkdirSync(join(target, 'sub'));
    const parent = open(target);
    const sub = parent.openDirectory(name('sub'));
    renameSync(join(target, 'sub'), join(target, 'moved'));
    symlinkSync(outside, join(target, 'sub'));
    try {
      sub.closeFile(sub.createFile(name('new'), 0o600));
    } catch (error) {
      expect(kind).toBe('by path');
      expect(error).toMatchObject({ code: 'ENOTDIR' });
    }
    expect(existsSync(join(outside, 'new'))).toBe(false);
    sub.close();
    parent.close();
  });

  test('finds, lists, renames and removes', () => {
    writeFileSync(join(target, 'a'), 'a');
    mkdirSync(join(target, 'd'));
    const directory = open(target);
    expect(directory.names().sort()).toEqual(['a', 'd']);
    expect(directory.find(name('nothing'))).toBeUndefined();
    expect(directory.stat().ino).toBe(statSync(target, { bigint: true }).ino);
    directory.rename(name('a'), name('b'));
    directory.removeDirectory(name('d'));
    expect(directory.names()).toEqual(['b']);
    directory.removeFile(name('b'));
    expect(directory.names()).toEqual([]);
    directory.close();
  });

  test('links, and sets metadata of links themselves', () => {
    const directory = open(target);
    directory.createSymlink(treePath(join(outside, 'victim')), name('link'));
    const before = lstatSync(join(outside, 'victim'), { bigint: true });
    directory.setTimes(name('link'), 1_000_000_000_000_000_000n);
    expect(lstatOf(directory, 'link').mtimeNs).toBe(1_000_000_000_000_000_000n);
    expect(lstatSync(join(outside, 'victim'), { bigint: true })).toEqual(before);
    expect(directory.readSymlink(name('link'))).toBe(readlinkSync(join(target, 'link')));
    writeFileSync(join(target, 'a'), 'shared');
    mkdirSync(join(target, 'd'));
    const sub = directory.openDirectory(name('d'));
    sub.createHardLink(directory, name('a'), name('b'));
    expect(readFileSync(join(target, 'd', 'b'), 'utf8')).toBe('shared');
    sub.setOwnTimes(2_000_000_000_000_000_000n);
    sub.setOwnMode(0o711);
    expect(lstatOf(directory, 'd')).toMatchObject({ mtimeNs: 2_000_000_000_000_000_000n });
    expect(lstatOf(directory, 'd').mode & 0o777).toBe(0o711);
    directory.setMode(name('a'), 0o640);
    expect(lstatOf(directory, 'a').mode & 0o777).toBe(0o640);
    sub.close();
    directory.close();
  });

  test('removes trees without following links out of them', () => {
    mkdirSync(join(target, 'a', 'b', 'c'), { recursive: true });
    writeFileSync(join(target, 'a', 'b', 'file'), 'x');
    symlinkSync(outside, join(target, 'a', 'b', 'link'));
    symlinkSync(outside, join(target, 'single'));
    const directory = open(target);
    removeTree(directory, name('a'));
    removeTree(directory, name('single'));
    removeTree(directory, name('nothing'));
    expect(directory.names()).toEqual([]);
    expect(readFileSync(join(outside, 'victim'), 'utf8')).toBe('victim');
    directory.close();
  });
});

function lstatOf(directory: TargetDirectory, entry: string) {
  const found = directory.find(name(entry));
  if (found === undefined) throw new Error(`${entry} is not there`);
  return found;
}

describe.runIf(native !== null)('open directories', () => {
  const plain = { mode: 0, uid: 0, gid: 0, mtimeNs: 0n, ctimeNs: 0n, inode: 0 };

  function opened(): { writer: EntryRecordWriter; root: RecordHandle; directories: OpenDirectories } {
    const writer = new EntryRecordWriter();
    const root = writer.add(NO_RECORD, { ...plain, name: name('') }, 0, 0, 0).handle;
    if (native === null) throw new Error('there are no native calls');
    const directory = DescriptorDirectory.open(native, treePath(target));
    return { writer, root, directories: new OpenDirectories(writer.records, root, directory) };
  }

  test('reach directories deeper than are kept open, in any order', () => {
    const { writer, root, directories } = opened();
    const handles: RecordHandle[] = [];
    let parent = root;
    for (let depth = 0; depth < 900; depth += 1) {
      directories.at(parent).createDirectory(name('d'), 0o755);
      parent = writer.add(parent, { ...plain, name: name('d') }, 0, 0, 0).handle;
      handles.push(parent);
    }
    const inodes = handles.map((handle) => directories.at(handle).stat().ino);
    expect(new Set(inodes).size).toBe(900);
    for (const [i, handle] of handles.entries()) {
      const far = handles[(i * 379) % 900] ?? root;
      expect(directories.at(far).stat().ino).toBe(inodes[(i * 379) % 900]);
      if (i % 50 === 0) expect(directories.at(handle).stat().ino).toBe(inodes[i]);
    }
    expect(directories.pathOfEntry(handles[2] ?? root)).toBe('/d/d/d');
    directories.close();
  });

  test.runIf(process.platform === 'linux')('keep few descriptors, whatever is asked of them', () => {
    const { writer, root, directories } = opened();
    const count = (): number => readdirSync('/proc/self/fd').length;
    const before = count();
    for (let i = 0; i < 1_000; i += 1) {
      mkdirSync(join(target, `d${i}`));
      const { handle } = writer.add(root, { ...plain, name: name(`d${i}`) }, 0, 0, 0);
      directories.at(handle).stat();
    }
    expect(count() - before).toBeLessThan(30);
    directories.close();
    expect(count()).toBeLessThanOrEqual(before);
  });

  test('do not go through a directory that became a link', () => {
    const { writer, root, directories } = opened();
    mkdirSync(join(target, 'a'));
    mkdirSync(join(outside, 'b'));
    const a = writer.add(root, { ...plain, name: name('a') }, 0, 0, 0).handle;
    const b = writer.add(a, { ...plain, name: name('b') }, 0, 0, 0).handle;
    renameSync(join(target, 'a'), join(target, 'was-a'));
    symlinkSync(outside, join(target, 'a'));
    expect(() => directories.at(b)).toThrow(expect.objectContaining({ syscall: 'openat' }));
    directories.close();
  });

  test('of a tree without rights say so', () => {
    const { writer, root, directories } = opened();
    mkdirSync(join(target, 'a'));
    chmodSync(join(target, 'a'), 0);
    const a = writer.add(root, { ...plain, name: name('a') }, 0, 0, 0).handle;
    if (process.getuid?.() === 0) expect(directories.at(a).names()).toEqual([]);
    else expect(() => directories.at(a)).toThrow(expect.objectContaining({ code: 'EACCES' }));
    directories.close();
  });
});
