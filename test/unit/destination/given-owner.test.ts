/** What root makes in a directory of somebody else is given to its owner, and nothing else is. */
import { chown, mkdir, mkdtemp, open, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { givenOwner } from '../../../src/destination/local/given-owner.ts';

const UID = 1;

let base: string;
let root: string;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'holdfast-owner-'));
  root = join(base, 'repository');
  await mkdir(root);
});

afterEach(async () => {
  await rm(base, { recursive: true });
});

async function uidOf(path: string): Promise<number> {
  return (await stat(path)).uid;
}

describe.runIf(process.getuid?.() === 0)('root', () => {
  test('gives nothing away in a directory of its own', async () => {
    await using handle = await open(root);
    expect(await givenOwner(handle)).toBeUndefined();
  });

  test('gives away a new file and a new directory, and neither elsewhere nor what was there', async () => {
    await chown(root, UID, UID);
    await using handle = await open(root);
    const owner = await givenOwner(handle);
    await using file = await open(join(root, 'new'), 'wx');
    await owner?.giveFile(file);
    expect(await uidOf(join(root, 'new'))).toBe(UID);
    await mkdir(join(root, 'made'));
    await owner?.giveDirectory(join(root, 'made'));
    expect(await uidOf(join(root, 'made'))).toBe(UID);

    await mkdir(join(base, 'other'));
    await symlink(join(base, 'other'), join(root, 'link'));
    await owner?.giveDirectory(join(root, 'link'));
    await mkdir(join(base, 'other', 'below'));
    await owner?.giveDirectory(join(root, 'link', 'below'));
    await using beside = await open(join(root, 'link', 'file'), 'wx');
    await owner?.giveFile(beside);
    await mkdir(join(root, 'full'));
    await writeFile(join(root, 'full', 'secret'), 'of root');
    await owner?.giveDirectory(join(root, 'full'));
    for (const path of [join(base, 'other'), join(base, 'other', 'below'), join(base, 'other', 'file')])
      expect(await uidOf(path)).toBe(0);
    expect(await uidOf(join(root, 'full'))).toBe(0);
  });

  test('goes on where the file system refuses, and says so once', async () => {
    await chown(root, UID, UID);
    await using handle = await open(root);
    const said: string[] = [];
    const owner = await givenOwner(handle, (text) => said.push(text));
    await using file = await open(join(root, 'new'), 'wx');
    vi.spyOn(file, 'chown').mockRejectedValue(Object.assign(new Error('refused'), { code: 'EPERM' }));
    await owner?.giveFile(file);
    await owner?.giveFile(file);
    expect(said).toEqual([expect.stringContaining('belong to root and not to the owner')]);
  });
});
