import { tmpdir } from 'node:os';
import { afterEach, describe, expect, test } from 'vitest';
import { asByteString, type ByteString } from '../../../src/base/byte-path.ts';
import { treePath } from '../../../src/base/tree-path.ts';
import {
  findHungMounts,
  isHung,
  refuseHung,
  takeHungMounts,
  type Touch,
} from '../../../src/archiver/source/hung-mounts.ts';
import { openDirectory, statPath } from '../../../src/archiver/source/stat.ts';

const never = new AbortController().signal;
const path = (text: string): ByteString => asByteString(text);
const TABLE = [
  '30 1 8:1 / / rw - ext4 /dev/sda1 rw',
  '31 30 0:40 / /home/ana/nas rw - nfs4 nas:/ana rw',
  '32 30 0:41 / /home/ana/cloud\\040drive rw - fuse.rclone cloud: rw',
  '33 30 0:42 / /home/ana/plain rw - fuse hung rw',
  '34 30 8:2 / /home/ana/disk rw - ext4 /dev/sdb1 rw',
  '35 30 0:43 / /mnt/other rw - cifs //nas/other rw',
].join('\n');

/** Answers for all but those. */
function silentFor(...silent: readonly string[]): { readonly touch: Touch; readonly touched: string[] } {
  const touched: string[] = [];
  const touch: Touch = async (asked) => {
    touched.push(asked);
    return await Promise.resolve(!silent.includes(asked));
  };
  return { touch, touched };
}

afterEach(() => takeHungMounts([]));

describe('mounts that do not answer', () => {
  test('are looked for below the roots, where they come from elsewhere, and at the roots themselves', async () => {
    const { touch, touched } = silentFor('/home/ana/cloud drive');
    const found = await findHungMounts([path('/home/ana')], never, { table: TABLE, touch });
    expect(touched.sort()).toEqual([
      '/home/ana',
      '/home/ana/cloud drive',
      '/home/ana/nas',
      '/home/ana/plain',
    ]);
    expect(found).toEqual(['/home/ana/cloud drive']);
    expect(isHung(path('/home/ana/cloud drive/a/b'))).toBe(true);
    expect(isHung(path('/home/ana/cloud drives'))).toBe(false);
    expect(isHung(path('/home/ana'))).toBe(false);
  });

  test('are found at a root that a link leads there', async () => {
    const { touch } = silentFor('/srv/link');
    await findHungMounts([path('/srv/link'), path('/srv/data')], never, { table: TABLE, touch });
    expect(isHung(path('/srv/link/x'))).toBe(true);
    expect(isHung(path('/srv/data'))).toBe(false);
  });

  test('cost nothing where everything lies on disks', async () => {
    const { touch, touched } = silentFor();
    const table = TABLE.split('\n')
      .filter((line) => line.includes('ext4'))
      .join('\n');
    await findHungMounts([path('/home/ana')], never, { table, touch });
    expect(touched).toEqual([]);
  });

  test('are found anew each time', async () => {
    const root = [path('/home/ana')];
    await findHungMounts(root, never, { table: TABLE, ...silentFor('/home/ana/nas') });
    expect(isHung(path('/home/ana/nas'))).toBe(true);
    await findHungMounts(root, never, { table: TABLE, ...silentFor() });
    expect(isHung(path('/home/ana/nas'))).toBe(false);
  });

  test('are never looked at: not by their path, not by their directory, not as one', () => {
    const directory = treePath(tmpdir());
    takeHungMounts([directory]);
    for (const look of [
      () => statPath(directory),
      () => openDirectory(directory),
      () => refuseHung(directory),
    ])
      expect(look).toThrow(expect.objectContaining({ code: 'ETIMEDOUT' }));
    takeHungMounts([]);
    expect(statPath(directory)).toBeDefined();
  });

  test('are told from those that answer, and from what is not there, by a process of its own', async () => {
    const below = `36 30 0:44 / ${tmpdir()}/nothing-is-here rw - fuse.test test rw`;
    const roots = [treePath(tmpdir())];
    expect(await findHungMounts(roots, never, { table: `${TABLE}\n${below}` })).toEqual([]);
  });

  test('are not waited for once the run is told to stop', async () => {
    const stop = new AbortController();
    stop.abort(new Error('stopped'));
    const asked = findHungMounts([path('/home/ana')], stop.signal, { table: TABLE });
    await expect(asked).rejects.toThrow('stopped');
  });
});
