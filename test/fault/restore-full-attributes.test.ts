/** No room for an attribute: the target is full, or no block of its file system could hold that one. */
import type * as FileSystem from 'node:fs';
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { asByteString, textOfBytes } from '../../src/base/byte-path.ts';
import type { Repository } from '../../src/repository/repository.ts';
import {
  SILENT_RESTORE,
  type RestoreRequest,
  type RestoreSummary,
} from '../../src/restorer/request/request.ts';
import { restore } from '../../src/restorer/restore.ts';
import type * as Attributes from '../../src/system/xattr.ts';
import {
  directory,
  file,
  handMadeSnapshot,
  memoryRepository,
  symlink,
  type HandMadeNode,
} from '../support/hand-made-snapshot.ts';
import { removeTree } from '../support/remove-tree.ts';
import { wholeRestore } from '../support/whole-restore.ts';

/** What the file system says of what is free, and of each attribute that is set. */
const disk = vi.hoisted(() => ({
  free: {} as { readonly bavail?: number; readonly ffree?: number; readonly files?: number },
  answers: (): string | undefined => undefined,
  asked: 0,
}));

vi.mock('node:fs', async (importOriginal) => {
  const fs = await importOriginal<typeof FileSystem>();
  return {
    ...fs,
    statfsSync: (path: string) => Object.assign(fs.statfsSync(path), disk.free),
  };
});

vi.mock('../../src/system/xattr.ts', async (importOriginal) => ({
  ...(await importOriginal<typeof Attributes>()),
  writeXattr: () => {
    disk.asked += 1;
    const code = disk.answers();
    if (code !== undefined) throw Object.assign(new Error(`${code}: no room in this test`), { code });
  },
}));

const never = new AbortController().signal;
const FULL = { bavail: 0 };
const SOME = { bavail: 1_000, files: 1_000, ffree: 10 };
let site: string;
let out: string;
let repository: Repository;

beforeEach(async () => {
  site = mkdtempSync(join(tmpdir(), 'holdfast-full-attributes-'));
  out = join(site, 'out');
  mkdirSync(out);
  repository = await memoryRepository(never);
  disk.free = SOME;
  disk.answers = () => undefined;
  disk.asked = 0;
});
afterEach(async () => {
  await repository.close();
  removeTree(site);
});

async function restored(
  entries: Readonly<Record<string, HandMadeNode>>,
  changes: Partial<RestoreRequest> = {},
): Promise<RestoreSummary> {
  const snapshot = await handMadeSnapshot(repository, directory(entries), {}, never);
  const request = wholeRestore(repository, snapshot, out, { restoreOwnership: false, ...changes });
  return await restore(request, SILENT_RESTORE, never);
}

/** What of the attributes was left out, and where. */
const leftOut = ({ omissions }: RestoreSummary): readonly string[] =>
  omissions.filter(({ kind }) => kind === 'xattrs').flatMap(({ paths }) => paths.map(textOfBytes));

const xattrs = [{ name: asByteString('user.note'), value: Buffer.from('precious') }];

describe('a target that is full when an attribute is set', () => {
  test.each([
    ['a file', file('content', { xattrs }), 'ENOSPC', FULL],
    [
      'a file, where inodes are what is used up',
      file('content', { xattrs }),
      'ENOSPC',
      { ...SOME, ffree: 0 },
    ],
    ['a file, by the share of its user', file('content', { xattrs }), 'EDQUOT', SOME],
    [
      'a file of several segments',
      file([Buffer.alloc(60_000, 'a'), Buffer.alloc(60_000, 'b')], { xattrs }),
      'ENOSPC',
      FULL,
    ],
    ['a directory', directory({}, { xattrs }), 'ENOSPC', FULL],
    ['a link', symlink('elsewhere', { xattrs }), 'ENOSPC', FULL],
  ] as const)(
    'of %s ends the restore, and with room the same restore sets it',
    async (_, entry, code, free) => {
      disk.free = free;
      disk.answers = () => code;
      await expect(restored({ a: entry })).rejects.toMatchObject({ code: 'TARGET_FULL', retry: 'later' });
      expect(disk.asked).toBeGreaterThan(0);
      // what looks finished would be left alone
      const left = lstatSync(join(out, 'a'), { throwIfNoEntry: false });
      if (left !== undefined) expect((left.mode & 0o7777).toString(8)).toMatch(/^1[67]00$/);
      disk.free = SOME;
      disk.answers = () => undefined;
      disk.asked = 0;
      const summary = await restored({ a: entry });
      expect(summary).toMatchObject({ status: 'complete', filesSkipped: 0 });
      expect(leftOut(summary)).toEqual([]);
      expect(disk.asked).toBe(1);
      expect(readdirSync(out)).toEqual(['a']);
      expect(lstatSync(join(out, 'a')).mode & 0o1000).toBe(0);
    },
  );

  test('of a file that stood ends the restore, and the same restore goes on with that', async () => {
    const path = join(out, 'a');
    writeFileSync(path, 'content');
    disk.free = FULL;
    disk.answers = () => 'ENOSPC';
    const entries = { a: file('content', { xattrs }) };
    await expect(restored(entries, { overwrite: 'always' })).rejects.toMatchObject({ code: 'TARGET_FULL' });
    disk.answers = () => undefined;
    disk.asked = 0;
    await restored(entries, { overwrite: 'always' });
    expect(disk.asked).toBe(1);
    expect(statSync(path).mode & 0o7777).toBe(0o644);
  });
});

describe('while blocks and inodes are free', () => {
  test.each([
    ['with inodes that are counted', SOME],
    ['with inodes that are not', { bavail: 1_000, files: 0, ffree: 0 }],
  ])('an attribute that fits in no block is left out, and that is told, %s', async (_, free) => {
    disk.free = free;
    disk.answers = () => 'ENOSPC';
    const summary = await restored({ a: file('content', { xattrs }) });
    expect(summary).toMatchObject({ status: 'complete', filesRestored: 1 });
    expect(leftOut(summary)).toEqual(['/a']);
    expect(statSync(join(out, 'a')).mode & 0o7777).toBe(0o644);
  });

  test('one for which there is room by then is set', async () => {
    disk.answers = () => (disk.asked === 1 ? 'ENOSPC' : undefined);
    const summary = await restored({ a: file('content', { xattrs }) });
    expect(summary.status).toBe('complete');
    expect(leftOut(summary)).toEqual([]);
    expect(disk.asked).toBe(2);
  });
});
