import { mkdirSync, mkdtempSync, realpathSync, renameSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { treePath } from '../../../src/base/tree-path.ts';
import { otherPathsOf, ownPlaces, placeAround } from '../../../src/system/same-place.ts';
import { removeTree } from '../../support/remove-tree.ts';

let directory = '';
beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-place-')));
});
afterEach(() => removeTree(directory));

const signal = new AbortController().signal;

function others(place: string, ...mounts: readonly string[]): readonly string[] {
  const table = mounts.map((mount, at) => `${at + 20} 1 ${mount} rw - ext4 /dev/sda rw\n`).join('');
  return otherPathsOf(treePath(place), table);
}

describe('a place', () => {
  const root = '8:1 / /';

  test('is shown by a mount of what it lies in, of itself, and of a part of it', () => {
    expect(others('/srv/r', root, '8:1 /srv /home/alias')).toEqual(['/home/alias/r']);
    expect(others('/srv/r', root, '8:1 /srv/r /home/r')).toEqual(['/home/r']);
    expect(others('/srv/r', root, '8:1 /srv/r/packs /home/p')).toEqual(['/home/p']);
    expect(others('/mnt/a/r', root, '8:2 / /mnt/a', '8:2 / /mnt/b')).toEqual(['/mnt/b/r']);
  });

  test('is not shown by other file systems, other directories, and what is mounted over', () => {
    expect(others('/srv/r', root, '8:2 /srv /home/alias')).toEqual([]);
    expect(others('/srv/r', root, '8:1 /srv/other /home/alias', '8:1 /srv/r2 /home/b')).toEqual([]);
    expect(others('/srv/r', root, '8:1 /srv /home/alias', '8:2 / /home/alias')).toEqual([]);
  });

  test('is known by its directory where the name is another one', async () => {
    mkdirSync(join(directory, 'r/packs'), { recursive: true });
    symlinkSync('r', join(directory, 'link'));
    const places = await ownPlaces(
      [{ path: join(directory, 'link'), reason: 'the repository itself' }],
      signal,
    );
    expect(places.map(({ path }) => path)).toEqual([join(directory, 'r')]);
    renameSync(join(directory, 'r'), join(directory, 'elsewhere'));
    const inside = treePath(join(directory, 'elsewhere/packs'));
    expect(placeAround(inside, places)?.reason).toBe('the repository itself');
    expect(placeAround(treePath(directory), places)).toBeUndefined();
  });
});
