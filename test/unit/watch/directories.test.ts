import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { asByteString, bytesOfText, type ByteString } from '../../../src/base/byte-path.ts';
import { treePath } from '../../../src/base/tree-path.ts';
import {
  directoriesBelow,
  directoriesSince,
  scanDirectories,
  topmost,
} from '../../../src/watch/directories.ts';
import { never } from '../../support/engine.ts';
import { removeTree } from '../../support/remove-tree.ts';

let root: string;
const at = (name: string): string => join(root, name);
const relative = (paths: Iterable<ByteString> = []): readonly string[] =>
  [...paths].map((path) => path.slice(root.length + 1)).sort();
const nothing = (): boolean => false;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'holdfast-directories-'));
  for (const name of ['a/deep/er', 'b']) mkdirSync(at(name), { recursive: true });
  writeFileSync(at('a/file'), '');
});
afterEach(() => removeTree(root));

describe('the directories of a tree', () => {
  test('are listed as long as there are not too many', () => {
    const top = treePath(root);
    expect(relative(directoriesBelow(top, 5))).toEqual(['', 'a', 'a/deep', 'a/deep/er', 'b']);
    expect(directoriesBelow(top, 4)).toBeUndefined();
    expect(directoriesBelow(bytesOfText(at('a/file')), 5)).toEqual([]);
    expect(directoriesBelow(bytesOfText(at('gone')), 5)).toEqual([]);
  });

  test('are scanned without those that are left out', async () => {
    const skip = (path: ByteString): boolean => path.endsWith('/deep');
    const { marks, unreadable } = await scanDirectories(treePath(root), skip, never);
    expect(relative(marks.keys())).toEqual(['', 'a', 'b']);
    expect(unreadable).toEqual([]);
  });

  test('that came since a scan are found, and those that are others under the same name', async () => {
    const scan = await scanDirectories(treePath(root), nothing, never);
    expect(await directoriesSince(scan, nothing, never)).toEqual([]);
    mkdirSync(at('a/new/below'), { recursive: true });
    mkdirSync(at('spare'));
    rmSync(at('b'), { recursive: true });
    renameSync(at('spare'), at('b'));
    expect(relative(await directoriesSince(scan, nothing, never))).toEqual(['a/new', 'b']);
  });
});

test('of directories in each other the topmost remain', () => {
  const paths = ['/s/a/b', '/s/a', '/s/ab', '/s/a', '/t/x/y/z', '/t/x'].map(asByteString);
  expect([...topmost(paths)].sort()).toEqual(['/s/a', '/s/ab', '/t/x']);
});
