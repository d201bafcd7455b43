import { expect, test } from 'vitest';
import { PendingDirectory, type StoredDirectory } from '../../../src/archiver/store/pending-directory.ts';
import { asByteString } from '../../../src/base/byte-path.ts';
import type { FileEntry } from '../../../src/format/tree.ts';

const PETABYTE = 2 ** 50;

function hollowFile(name: string): FileEntry {
  return {
    type: 'file',
    name: asByteString(name),
    mode: 0o644,
    uid: 0,
    gid: 0,
    mtimeNs: 0n,
    ctimeNs: 0n,
    inode: 1,
    size: PETABYTE,
    holes: [{ offset: 0, length: PETABYTE }],
    content: Buffer.alloc(0),
    indirect: false,
    changedWhileRead: false,
  };
}

test('a directory whose files say that they are of more than 8 PiB in all can be stored in the one above', () => {
  const stored: StoredDirectory[] = [];
  const store = (): Buffer => Buffer.alloc(24);
  const pending = new PendingDirectory(store, undefined, (one) => stored.push(one));
  for (let i = 0; i < 9; i += 1) pending.add(hollowFile(`${i}`), false);
  pending.listed();

  expect(stored.map(({ totals }) => totals)).toEqual([
    { files: 9, bytes: Number.MAX_SAFE_INTEGER, entries: 9 },
  ]);
});
