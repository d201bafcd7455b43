import { mkdir, mkdtemp, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeDirectories, makeDirectoriesSync } from '../../../src/base/make-directories.ts';
import { removeTree } from '../../support/remove-tree.ts';

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'holdfast-directories-'));
});

afterEach(() => removeTree(root));

const ways = [
  ['', makeDirectories],
  [' at once', async (directory: string) => makeDirectoriesSync(directory)],
] as const;

describe.each(ways)('making a directory%s', (_, make) => {
  test('makes what is missing above it, too, private to the user', async () => {
    await make(join(root, 'a', 'b', 'c'));
    for (const name of ['a', 'a/b', 'a/b/c']) expect((await stat(join(root, name))).mode & 0o777).toBe(0o700);
    await make(join(root, 'a', 'b', 'c'));
  });

  test('takes a link to a directory for one', async () => {
    await mkdir(join(root, 'real'));
    await symlink('real', join(root, 'link'));
    await make(join(root, 'link', 'x'));
    expect((await stat(join(root, 'real', 'x'))).isDirectory()).toBe(true);
  });

  test.each([
    ['file', 'EEXIST'],
    ['file/x/y', 'ENOTDIR'],
    ['nowhere', 'EEXIST'],
    ['nowhere/x', 'EEXIST'],
  ])('%s cannot be one', async (name, code) => {
    await writeFile(join(root, 'file'), '');
    await symlink('gone', join(root, 'nowhere'));
    await expect(make(join(root, name))).rejects.toMatchObject({ code });
  });

  test.runIf(process.platform === 'linux')('ends where a file system makes nothing', async () => {
    await expect(make('/proc/holdfast')).rejects.toMatchObject({ code: 'ENOTSUP' });
    await expect(make('/proc/holdfast/x')).rejects.toMatchObject({ code: 'ENOTSUP' });
  });
});

test('it says where it began', async () => {
  expect(await makeDirectories(join(root, 'a', 'b'))).toBe(join(root, 'a'));
  expect(await makeDirectories(join(root, 'a', 'b'))).toBeUndefined();
});
