import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Scout } from '../../../src/archiver/source/scout.ts';
import { openDirectory, statPath, type ListedDirectory } from '../../../src/archiver/source/stat.ts';
import { asByteString, joinBytes, type ByteString } from '../../../src/base/byte-path.ts';
import { treePath } from '../../../src/base/tree-path.ts';
import { native, type Native } from '../../../src/system/native.ts';
import { removeTree } from '../../support/remove-tree.ts';

/** More nanoseconds than 64 bits hold, before 1677 or after 2262. */
const FAR_SECONDS = 12_000_000_000n;

function sourceDirectory(): ByteString {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-scout-'));
  onTestFinished(() => removeTree(directory));
  mkdirSync(join(directory, 'below'));
  writeFileSync(join(directory, 'file'), 'content');
  symlinkSync('nowhere', join(directory, 'link'));
  return treePath(directory);
}

/** What a scout has seen of a directory. */
async function scouted(path: ByteString): Promise<ListedDirectory> {
  const scout = Scout.start([path]);
  for (;;) {
    const seen = scout.take(path);
    if (seen !== undefined) return seen;
    await setImmediate();
  }
}

/** As on an overlay that marks the layer in the highest bits of an inode. */
function raiseInodes(calls: Native, byNumber: bigint): void {
  const real = { ...calls };
  vi.spyOn(calls, 'findEntry').mockImplementation((directory, name) => {
    const stat = real.findEntry(directory, name);
    return stat && { ...stat, ino: stat.ino + byNumber };
  });
  onTestFinished(() => {
    vi.restoreAllMocks();
  });
}

/** As a file system with 64 bits for the seconds may have them. */
function setTimes(calls: Native, mtimeNs: bigint): void {
  const real = { ...calls };
  vi.spyOn(calls, 'findEntry').mockImplementation((directory, name) => {
    const stat = real.findEntry(directory, name);
    return stat && { ...stat, mtimeNs };
  });
  onTestFinished(() => {
    vi.restoreAllMocks();
  });
}

function expectSame(seen: ListedDirectory, path: ByteString): void {
  const listed = openDirectory(path);
  try {
    expect(seen.names).toEqual(listed.names);
    for (const name of listed.names) expect(seen.stat(name)).toEqual(listed.stat(name));
    expect(seen.stat(asByteString('none'))).toBeUndefined();
  } finally {
    listed.close();
  }
}

test('a scout sees what the walk would see', async () => {
  const path = sourceDirectory();
  expectSame(await scouted(path), path);
});

test.runIf(native !== null).each([2n ** 53n + 1n, 2n ** 63n + 2n ** 54n])(
  'and the inodes as they are where these have %s on top',
  async (byNumber) => {
    const path = sourceDirectory();
    if (native !== null) raiseInodes(native, byNumber);
    expectSame(await scouted(path), path);
  },
);

test.runIf(native !== null).each([FAR_SECONDS, -FAR_SECONDS, 2n ** 62n])(
  'and times as they are, also those that lie %s seconds from 1970',
  async (seconds) => {
    const path = sourceDirectory();
    if (native !== null) setTimes(native, seconds * 1_000_000_000n + 7n);
    expectSame(await scouted(path), path);
  },
);

test('an entry has the same numbers by its path and in its directory', () => {
  const path = sourceDirectory();
  const listed = openDirectory(path);
  try {
    for (const name of listed.names) expect(statPath(joinBytes(path, name))).toEqual(listed.stat(name));
  } finally {
    listed.close();
  }
});
