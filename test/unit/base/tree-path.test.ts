import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { asByteString, textOfBytes, type ByteString } from '../../../src/base/byte-path.ts';
import { POSIX_PATHS, WINDOWS_PATHS } from '../../../src/base/tree-path.ts';
import { asListed, inStoredCase, spelledAsStored } from '../../../src/base/typed-path.ts';

const { toTree, written, toCall, isAboveDrives } = WINDOWS_PATHS;
const text = (path: ByteString): string => textOfBytes(written(path));

/** Names that files of Windows can have. */
const name = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
  .filter((one) => !/[\\/:*?"<>|\0]/.test(one) && !/^\.{1,2}$/.test(one) && one.isWellFormed());
const names = fc.array(name, { maxLength: 6 });
const drive = fc.integer({ min: 65, max: 90 }).map((code) => String.fromCodePoint(code));

describe('a path of Windows', () => {
  test.each([
    [String.raw`C:\Users\u\a.txt`, '/C/Users/u/a.txt'],
    [String.raw`c:\Users`, '/C/Users'],
    ['C:/Users/u', '/C/Users/u'],
    ['C:\\', '/C'],
    ['c:', '/C'],
    [String.raw`\\?\C:\Users`, '/C/Users'],
    [String.raw`\\.\d:\x`, '/D/x'],
    [String.raw`\\Server\Share\Dir\File`, '/UNC/server/share/Dir/File'],
    [String.raw`\\?\UNC\Server\Share\Dir`, '/UNC/server/share/Dir'],
    ['//server/share/dir', '/UNC/server/share/dir'],
    ['C:\\Größe', '/C/GrÃ¶Ã\u009fe'],
    // The form of a tree path is understood as well.
    ['/C/Users/u', '/C/Users/u'],
    ['/home/u', '/home/u'],
  ])('%j is %j in a tree', (path, tree) => {
    expect(toTree(path)).toBe(tree);
  });

  test('comes back from the tree as it was, whatever the names are', () => {
    fc.assert(
      fc.property(drive, names, (letter, path) => {
        const given = `${letter}:\\${path.join('\\')}`;
        const tree = toTree(given);
        expect(text(tree)).toBe(given);
        expect(toTree(text(tree))).toBe(tree);
        expect(tree.split('/')).toHaveLength(path.length + 2);
        expect(isAboveDrives(tree)).toBe(false);
      }),
    );
  });

  test('is one path in every spelling of drive, slashes and prefix', () => {
    fc.assert(
      fc.property(drive, names, (letter, path) => {
        const tree = toTree(`${letter}:\\${path.join('\\')}`);
        for (const other of [
          `${letter.toLowerCase()}:\\${path.join('\\')}\\`,
          `${letter}:/${path.join('/')}`,
          `\\\\?\\${letter}:\\${path.join('\\')}`,
        ])
          expect(toTree(other)).toBe(tree);
      }),
    );
  });

  test('of a share comes back as well', () => {
    fc.assert(
      fc.property(name, names, (share, path) => {
        const tree = toTree(['\\\\server', share, ...path].join('\\'));
        expect(toTree(text(tree))).toBe(tree);
        expect(tree.startsWith('/UNC/server/')).toBe(true);
        expect(isAboveDrives(tree)).toBe(false);
      }),
    );
  });
});

describe('a path in a tree, on Windows', () => {
  test('that no drive has is written as it is, and never looked up on the drive in use', () => {
    fc.assert(
      fc.property(names, (path) => {
        const tree = toTree(`/home/${path.join('/')}`);
        expect(written(tree)).toBe(tree);
        expect(String(toCall(tree)).startsWith(String.raw`\\?\no-such-drive`)).toBe(true);
      }),
    );
  });

  test('keeps names that are not well-formed text', () => {
    const lone = asByteString('/C/a\u00ed\u00a0\u0080b');
    expect(toCall(lone)).toEqual(Buffer.from('\\\\?\\C:\\a\u00ed\u00a0\u0080b', 'latin1'));
    const shared = asByteString('/UNC/server/share/\u00ff');
    expect(toCall(shared)).toEqual(Buffer.from('\\\\?\\UNC\\server\\share\\\u00ff', 'latin1'));
  });

  test('stands above all drives and shares in three cases', () => {
    const above = ['/', '/UNC', '/UNC/server'].map(asByteString);
    expect(above.map(isAboveDrives)).toEqual([true, true, true]);
    const below = ['/C', '/UNC/server/share', '/UNCLE', '/C/UNC'].map(asByteString);
    expect(below.map(isAboveDrives)).toEqual([false, false, false, false]);
  });
});

test('an entry is spelt as its directory lists it, where case is ignored', () => {
  const list = (): readonly string[] => ['Data', 'data2'];
  expect(spelledAsStored('/srv/DATA', true, list)).toBe(join('/srv', 'Data'));
  expect(spelledAsStored('/srv/Data', true, list)).toBe(join('/srv', 'Data'));
  expect(spelledAsStored('/srv/new', true, list)).toBe(join('/srv', 'new'));
  expect(spelledAsStored('/srv/DATA', false, list)).toBe('/srv/DATA');
});

test('elsewhere a path is a path in the tree', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (path) => {
      const given = `/${path}`;
      if (!given.isWellFormed()) return;
      const tree = POSIX_PATHS.toTree(given);
      expect(textOfBytes(POSIX_PATHS.written(tree))).toBe(given);
      expect(POSIX_PATHS.toTree(String.raw`C:\x`)).toBe(String.raw`C:\x`);
    }),
  );
});

describe('the case in which a place is stored', () => {
  test.each([
    // The system knows the case.
    [String.raw`c:\DATA\letters`, String.raw`C:\Data\Letters`, String.raw`C:\Data\Letters`],
    // It also knows the long name of PROGRA~1.
    [String.raw`C:\PROGRA~1`, String.raw`C:\Program Files`, String.raw`C:\Program Files`],
    // Behind the letter is a share: the place keeps its letter, and gets the case.
    [String.raw`z:\docs\PLAN`, String.raw`\\server\share\Docs\Plan`, String.raw`Z:\Docs\Plan`],
    // The letter stands for a directory of another drive.
    [String.raw`s:\docs`, String.raw`C:\work\Docs`, String.raw`S:\Docs`],
    // Nothing alike: the path stays.
    [String.raw`z:\docs`, String.raw`\\server\share\other`, String.raw`Z:\docs`],
    ['c:\\', 'C:\\', 'C:\\'],
  ])('%j, which the system calls %j, is %j', (path, found, stored) => {
    expect(inStoredCase(path, found)).toBe(stored);
  });

  test('is also told by what directories list', () => {
    const lists: Readonly<Record<string, readonly string[]>> = {
      'C:\\': ['Data', 'other'],
      [String.raw`C:\Data`]: ['sub', 'SUB', 'Größe'],
    };
    const listed = (path: string): string => asListed(path, (directory) => lists[directory]);
    expect(listed(String.raw`c:\DATA\grÖße\new`)).toBe(String.raw`C:\Data\Größe\new`);
    // Both are there, and the name is that of one.
    expect(listed(String.raw`C:\data\SUB`)).toBe(String.raw`C:\Data\SUB`);
    expect(listed(String.raw`D:\closed\x`)).toBe(String.raw`D:\closed\x`);
  });
});
