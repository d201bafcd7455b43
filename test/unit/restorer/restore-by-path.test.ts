/** The restore of a system that offers no calls relative to a directory (Windows): by paths, each looked at before. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { RestoreRequest, RestoreSummary } from '../../../src/restorer/request/request.ts';
import { SILENT_RESTORE } from '../../../src/restorer/request/request.ts';
import { restore } from '../../../src/restorer/restore.ts';
import type { Repository } from '../../../src/repository/repository.ts';
import type { Snapshot } from '../../../src/repository/snapshots.ts';
import { native } from '../../../src/system/native.ts';
import {
  HAND_MADE_NS,
  directory,
  file,
  handMadeSnapshot,
  memoryRepository,
  symlink,
} from '../../support/hand-made-snapshot.ts';
import { removeTree } from '../../support/remove-tree.ts';
import { wholeRestore } from '../../support/whole-restore.ts';

vi.mock('../../../src/system/native.ts', () => ({ native: null, nativeMissing: 'left out for a test' }));

const never = new AbortController().signal;
let site: string;
let repository: Repository;
let snapshot: Snapshot;

beforeEach(async () => {
  site = mkdtempSync(join(tmpdir(), 'holdfast-by-path-'));
  repository = await memoryRepository(never);
  snapshot = await handMadeSnapshot(
    repository,
    directory(
      {
        'a.txt': file('content of a', { mode: 0o640 }),
        large: file([Buffer.alloc(300_000, 'x'), Buffer.alloc(300_000, 'y')]),
        sparse: file([Buffer.alloc(1_000, 's')], { holes: [{ offset: 1_000, length: 9_000 }] }),
        empty: file(''),
        dir: directory({ deep: directory({ 'b.txt': file('b') }, { mode: 0o711 }) }),
        link: symlink('a.txt'),
        one: file('same', { inode: 77, links: { device: 1, count: 2 } }),
        two: file('same', { inode: 77, links: { device: 1, count: 2 } }),
      },
      {},
    ),
    {},
    never,
  );
});
afterEach(async () => {
  await repository.close();
  removeTree(site);
});

async function restored(changes: Partial<RestoreRequest> = {}): Promise<RestoreSummary> {
  return await restore(
    wholeRestore(repository, snapshot, join(site, 'out'), {
      restoreOwnership: false,
      workers: undefined,
      ...changes,
    }),
    SILENT_RESTORE,
    never,
  );
}

test('there are no native calls in this test', () => {
  expect(native).toBeNull();
});

test('files, directories, links and hard links come back', async () => {
  const summary = await restored();
  expect(summary).toMatchObject({ status: 'complete', filesRestored: 7, directories: 2, links: 1 });
  const out = join(site, 'out');
  expect(readFileSync(join(out, 'a.txt'), 'utf8')).toBe('content of a');
  expect(
    readFileSync(join(out, 'large')).equals(
      Buffer.concat([Buffer.alloc(300_000, 'x'), Buffer.alloc(300_000, 'y')]),
    ),
  ).toBe(true);
  expect(
    readFileSync(join(out, 'sparse')).equals(Buffer.concat([Buffer.alloc(1_000, 's'), Buffer.alloc(9_000)])),
  ).toBe(true);
  expect(lstatSync(join(out, 'a.txt'), { bigint: true })).toMatchObject({ mtimeNs: HAND_MADE_NS });
  expect(lstatSync(join(out, 'a.txt')).mode & 0o777).toBe(0o640);
  expect(lstatSync(join(out, 'dir/deep')).mode & 0o777).toBe(0o711);
  expect(readlinkSync(join(out, 'link'))).toBe('a.txt');
  expect(lstatSync(join(out, 'one')).ino).toBe(lstatSync(join(out, 'two')).ino);
  expect(readdirSync(out).filter((name) => name.startsWith('.'))).toEqual([]);
});

test('what differs is put right, what is extra is removed, and links are not followed', async () => {
  await restored();
  const [out, outside] = [join(site, 'out'), join(site, 'outside')];
  mkdirSync(outside);
  writeFileSync(join(outside, 'victim'), 'victim');
  writeFileSync(join(out, 'a.txt'), 'another text');
  writeFileSync(join(out, 'extra'), 'extra');
  symlinkSync(outside, join(out, 'dir', 'extra-link'));
  const changed = { overwrite: 'always', deleteExtra: true } as const;
  const summary = await restored(changed);
  expect(summary).toMatchObject({ status: 'complete', filesFailed: 0 });
  expect(readFileSync(join(out, 'a.txt'), 'utf8')).toBe('content of a');
  // the target itself was not chosen, what is in it was
  expect(existsSync(join(out, 'dir', 'extra-link'))).toBe(false);
  expect(readFileSync(join(outside, 'victim'), 'utf8')).toBe('victim');
});
