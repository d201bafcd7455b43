import { mkdirSync, mkdtempSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { treePath } from '../../../src/base/tree-path.ts';
import { lookAtRoot, sameRoot } from '../../../src/watch/root-state.ts';
import { removeTree } from '../../support/remove-tree.ts';

let directory: string;
const look = (name: string): ReturnType<typeof lookAtRoot> => lookAtRoot(treePath(join(directory, name)));

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-root-'));
  mkdirSync(join(directory, 'é'));
  writeFileSync(join(directory, 'file'), '');
  symlinkSync('é', join(directory, 'link'));
});
afterEach(() => removeTree(directory));

test('a root is a directory, something else, or not there', () => {
  expect(['é', 'file', 'link', 'nothing', 'file/below'].map((name) => look(name).kind)).toEqual([
    'directory',
    'other',
    'directory',
    'absent',
    'absent',
  ]);
});

test('a root that is a link is what it leads to', () => {
  expect(look('link').path).toBe(look('é').path);
  symlinkSync('nothing', join(directory, 'dangling'));
  expect(look('dangling').kind).toBe('absent');
  expect(sameRoot(look('link'), look('é'))).toBe(true);
});

test('a directory that was replaced is another root, a file that was is not', () => {
  const before = { directory: look('é'), file: look('file') };
  expect(sameRoot(before.directory, look('é'))).toBe(true);
  renameSync(join(directory, 'é'), join(directory, 'away'));
  expect(sameRoot(before.directory, look('é'))).toBe(false);
  mkdirSync(join(directory, 'é'));
  expect(sameRoot(before.directory, look('é'))).toBe(false);
  writeFileSync(join(directory, 'new'), '');
  renameSync(join(directory, 'new'), join(directory, 'file'));
  expect(sameRoot(before.file, look('file'))).toBe(true);
});
