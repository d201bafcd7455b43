/** Native calls whose results would be wrong if two threads shared memory or `errno`. */

import { constants, writeSync } from 'node:fs';
import { join } from 'node:path';
import { asByteString } from '../../../src/base/byte-path.ts';
import { treePath } from '../../../src/base/tree-path.ts';
import { errnoOf } from '../../../src/base/errors.ts';
import { dataExtents } from '../../../src/system/holes.ts';
import { native } from '../../../src/system/native.ts';
import { ownerNames } from '../../../src/system/owner-names.ts';
import { listXattrs } from '../../../src/system/xattr.ts';

const { O_CREAT, O_EXCL, O_RDWR } = constants;

/** `directory` is this thread's own. Throws at the first wrong result; returns how many rounds were made. */
export function callsOfEveryKind(directory: string, rounds: number): number {
  if (native === null) throw new Error('native calls are not to be had in this thread');
  const dir = native.openat(native.AT_FDCWD, treePath(directory), 0);
  for (let round = 0; round < rounds; round += 1) {
    const name = asByteString(`${round}-\u00ff`);
    const mtimeNs = BigInt(round) * 1_000_000_007n + BigInt(directory.length);
    const fd = native.openat(dir, name, O_RDWR | O_CREAT | O_EXCL, 0o600);
    writeSync(fd, 'x'.repeat(round % 100));
    native.futimens(fd, 0n, mtimeNs);
    const stat = native.lstatat(dir, name);
    same('mtime', stat.mtimeNs, mtimeNs);
    same('size', stat.size, round % 100);
    same('extents', dataExtents(fd, round % 100)[0]?.length ?? 0, round % 100);
    native.close(fd);
    same('attributes', listXattrs(asByteString(join(directory, name))).length, 0);
    same(
      'open',
      codeOf(() => native?.openat(dir, name, O_RDWR | O_CREAT | O_EXCL, 0)),
      'EEXIST',
    );
    native.unlinkat(dir, name);
    same(
      'stat',
      codeOf(() => native?.lstatat(dir, name)),
      'ENOENT',
    );
    same(
      'close',
      codeOf(() => native?.close(999_999)),
      'EBADF',
    );
    same('root', ownerNames().userName(0), 'root');
  }
  same('left over', native.listDirectory(dir).join(), '');
  native.close(dir);
  return rounds;
}

function codeOf(act: () => unknown): string | undefined {
  try {
    act();
    return 'none';
  } catch (error) {
    return errnoOf(error);
  }
}

function same(what: string, found: unknown, expected: unknown): void {
  if (found !== expected) throw new Error(`${what}: ${String(found)} instead of ${String(expected)}`);
}
