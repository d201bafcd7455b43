import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { compareTrees } from '../support/compare-trees.ts';
import { removeTree } from '../support/remove-tree.ts';
import { stepImage, stepTree } from './step-source.ts';

let work: string;

beforeEach(() => {
  work = mkdtempSync(path.join(tmpdir(), 'holdfast-step-'));
});
afterEach(() => {
  removeTree(work);
});

function fill(name: string, files: Readonly<Record<string, string>>): string {
  const root = path.join(work, name);
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    writeFileSync(path.join(root, file), content);
  }
  return root;
}

describe('stepping a work copy', () => {
  test('makes it the next tree and leaves alone what did not change', () => {
    const old = fill('old', { same: 'same', 'a/changed': 'old', 'gone/file': 'x', turned: 'file', dir: '' });
    const next = fill('next', {
      same: 'same',
      'a/changed': 'new',
      'turned/now': 'directory',
      'b/added': 'y',
    });
    symlinkSync('same', path.join(next, 'dir'));
    chmodSync(path.join(next, 'b/added'), 0o600);
    const before = lstatSync(path.join(old, 'same'), { bigint: true });
    expect(stepTree(old, next)).toEqual({ written: 4, removed: 1, unchanged: 1 });
    const after = lstatSync(path.join(old, 'same'), { bigint: true });
    expect([after.ino, after.mtimeNs, after.ctimeNs]).toEqual([before.ino, before.mtimeNs, before.ctimeNs]);
    const differences = compareTrees(old, next).filter(({ aspect }) => aspect !== 'mtime');
    expect(differences).toEqual([]);
    expect(stepTree(old, next)).toEqual({ written: 0, removed: 0, unchanged: 5 });
  });

  test('writes only the blocks of an image that differ, whether it grows or shrinks', () => {
    const old = path.join(work, 'old.img');
    const next = path.join(work, 'next.img');
    const content = Buffer.alloc(3 * 1024 * 1024, 'a');
    writeFileSync(old, content);
    content.write('changed', 2 * 1024 * 1024 + 4090);
    writeFileSync(next, Buffer.concat([content, Buffer.from('tail')]));
    expect(stepImage(old, next)).toMatchObject({ written: 3 });
    expect(readFileSync(old).equals(readFileSync(next))).toBe(true);
    writeFileSync(next, content.subarray(0, 5000));
    expect(stepImage(old, next)).toMatchObject({ written: 0 });
    expect(lstatSync(old).size).toBe(5000);
  });
});
