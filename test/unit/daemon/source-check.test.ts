import { mkdir, mkdtemp, realpath, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkExcludes } from '../../../src/daemon/settings-checks.ts';
import { checkSource } from '../../../src/daemon/sources/source-check.ts';
import { removeTree } from '../../support/remove-tree.ts';

let root: string;

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-sources-')));
  for (const name of ['state', 'files', 'disk/repository'])
    await mkdir(join(root, name), { recursive: true });
  await writeFile(join(root, 'disk/repository/pack'), 'x');
  await symlink('disk', join(root, 'link'));
});

afterEach(() => removeTree(root));

async function check(path: string): Promise<string> {
  const stores = [join(root, 'disk/repository'), join(root, 'away')];
  return await checkSource(path, { stateDirectory: join(root, 'state'), stores });
}

describe('a source', () => {
  test('is taken, also when a repository lies in it', async () => {
    expect(await check(join(root, 'files'))).toBe(join(root, 'files'));
    expect(await check(`${root}//disk/.`)).toBe(join(root, 'disk'));
  });

  test.each([
    ['state', 'inside_state_directory'],
    ['disk/repository', 'inside_repository'],
    ['disk/repository/pack', 'inside_repository'],
    ['link/repository', 'inside_repository'],
    ['nowhere', 'not_found'],
    ['files/nowhere/x', 'not_found'],
    ['x'.repeat(300), 'not_found'],
  ])('%s is refused: %s', async (name, reason) => {
    await expect(check(join(root, name))).rejects.toMatchObject({
      code: 'INVALID_SOURCE',
      details: { path: join(root, name), reason },
    });
  });
});

describe('the patterns of a request', () => {
  test('that can match are taken', () => {
    checkExcludes(['*.o', '!keep.o', '/build', '# no comment', '[a-z]*'], '/home/ana');
  });

  test.each(['[', '../x', 'a\0b'])('%j is refused', (pattern) => {
    expect(() => checkExcludes(['*.o', pattern], '/home/ana')).toThrow(
      expect.objectContaining({ code: 'INVALID_REQUEST', details: { field: 'options.exclude' } }),
    );
  });
});
