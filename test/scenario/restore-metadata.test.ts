/** Owners, devices, access lists and attributes, as far as asked for and allowed. */
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { asByteString, bytesOfText } from '../../src/base/byte-path.ts';
import { treePath } from '../../src/base/tree-path.ts';
import type { Repository } from '../../src/repository/repository.ts';
import type { Snapshot } from '../../src/repository/snapshots.ts';
import {
  SILENT_RESTORE,
  type RestoreRequest,
  type RestoreSummary,
  NOT_ASKED_FOR,
} from '../../src/restorer/request/request.ts';
import { restore } from '../../src/restorer/restore.ts';
import { ownerNames } from '../../src/system/owner-names.ts';
import { listXattrs, readXattrs, writeXattr } from '../../src/system/xattr.ts';
import {
  directory,
  file,
  handMadeSnapshot,
  memoryRepository,
  symlink,
} from '../support/hand-made-snapshot.ts';
import { removeTree } from '../support/remove-tree.ts';
import { wholeRestore } from '../support/whole-restore.ts';

const never = new AbortController().signal;
let site: string;
let target: string;
let repository: Repository;

beforeEach(async () => {
  site = mkdtempSync(join(tmpdir(), 'holdfast-metadata-'));
  target = join(site, 'target');
  mkdirSync(target);
  repository = await memoryRepository(never);
});
afterEach(async () => {
  await repository.close();
  removeTree(site);
});

async function restored(snapshot: Snapshot, changes: Partial<RestoreRequest>): Promise<RestoreSummary> {
  return await restore(
    wholeRestore(repository, snapshot, target, {
      overwrite: 'if_changed',
      restoreOwnership: false,
      workers: undefined,
      ...changes,
    }),
    SILENT_RESTORE,
    never,
  );
}

const isRoot = process.getuid?.() === 0;
const counts = ({ omissions }: RestoreSummary): Record<string, number> =>
  Object.fromEntries(omissions.map(({ kind, count }) => [kind, count]));

describe.runIf(isRoot)('with privileges', () => {
  const tree = directory({
    setuid: file('x', { mode: 0o4755, uid: 4_242, gid: 4_343 }),
    null: { type: 'char-device', major: 1, minor: 3, mode: 0o666 },
    dir: directory({ inside: file('y', { uid: 4_242 }) }, { mode: 0o2770, uid: 4_242, gid: 4_343 }),
    link: symlink('setuid', { uid: 4_242, gid: 4_343 }),
    labelled: file('z', {
      uid: 0,
      gid: 0,
      xattrs: [{ name: asByteString('trusted.holdfast'), value: Buffer.from('value') }],
    }),
  });

  test('everything comes back when it is asked for', async () => {
    const snapshot = await handMadeSnapshot(repository, tree, {}, never);
    const summary = await restored(snapshot, { restoreOwnership: true });
    expect(summary).toMatchObject({ status: 'complete', omissions: [] });
    expect(statSync(join(target, 'setuid'))).toMatchObject({ uid: 4_242, gid: 4_343 });
    expect(statSync(join(target, 'setuid')).mode & 0o7777).toBe(0o4755);
    expect(statSync(join(target, 'dir')).mode & 0o7777).toBe(0o2770);
    expect(lstatSync(join(target, 'link'))).toMatchObject({ uid: 4_242, gid: 4_343 });
    expect(lstatSync(join(target, 'null')).isCharacterDevice()).toBe(true);
    expect(listXattrs(treePath(join(target, 'labelled')))).toEqual(['trusted.holdfast']);
  });

  test('nothing of it comes back unasked, and each kind is counted', async () => {
    const snapshot = await handMadeSnapshot(repository, tree, {}, never);
    const summary = await restored(snapshot, {});
    expect(summary.status).toBe('complete');
    expect(counts(summary)).toEqual({ 'setuid-bits': 2, ownership: 4, devices: 1, 'privileged-xattrs': 1 });
    expect(new Set(summary.omissions.map(({ reason }) => reason))).toEqual(new Set([NOT_ASKED_FOR]));
    expect(statSync(join(target, 'setuid'))).toMatchObject({ uid: 0, gid: 0 });
    expect(statSync(join(target, 'setuid')).mode & 0o7777).toBe(0o755);
    expect(existsSync(join(target, 'null'))).toBe(false);
  });

  test.each(['security.capability', 'trusted.holdfast'])('%s does not come back unasked', async (name) => {
    // CAP_NET_RAW, permitted and effective.
    const value = Buffer.from('0100000200200000000000000000000000000000', 'hex');
    const able = file('x', { uid: 0, gid: 0, xattrs: [{ name: asByteString(name), value }] });
    const snapshot = await handMadeSnapshot(repository, directory({ able }), {}, never);
    expect(counts(await restored(snapshot, {}))).toEqual({ 'privileged-xattrs': 1 });
    expect(listXattrs(treePath(join(target, 'able')))).toEqual([]);
  });

  test('owners are found by their names where those have other numbers here', async () => {
    const names = ownerNames();
    const uid = names.userId('nobody');
    const snapshot = await handMadeSnapshot(
      repository,
      directory({ a: file('x', { uid: 4_242, gid: 4_343 }), b: file('y', { uid: 4_243 }) }),
      { owners: { users: { 4242: 'nobody', 4243: 'no such user here' }, groups: {} } },
      never,
    );
    await restored(snapshot, { restoreOwnership: true, ownersByName: true });
    expect(statSync(join(target, 'a'))).toMatchObject({ uid, gid: 4_343 });
    expect(statSync(join(target, 'b')).uid).toBe(4_243);
    await restored(snapshot, { restoreOwnership: true, overwrite: 'always' });
    expect(statSync(join(target, 'a')).uid).toBe(4_242);
  });
});

/** An access list in the form of the kernel: version 2, then tag, rights and id of each entry. */
function accessList(entries: readonly (readonly [tag: number, rights: number, id: number])[]): Buffer {
  const list = Buffer.alloc(4 + entries.length * 8);
  list.writeUInt32LE(2, 0);
  for (const [i, [tag, rights, id]] of entries.entries()) {
    list.writeUInt16LE(tag, 4 + i * 8);
    list.writeUInt16LE(rights, 6 + i * 8);
    list.writeUInt32LE(id, 8 + i * 8);
  }
  return list;
}
const NOBODY_IN_PARTICULAR = 0xffff_ffff;
const grantsToSomebody = accessList([
  [0x01, 7, NOBODY_IN_PARTICULAR],
  [0x02, 7, 1_234],
  [0x04, 5, NOBODY_IN_PARTICULAR],
  [0x10, 7, NOBODY_IN_PARTICULAR],
  [0x20, 0, NOBODY_IN_PARTICULAR],
]);

function hasAccessLists(): boolean {
  if (process.platform !== 'linux') return false;
  const probe = mkdtempSync(join(tmpdir(), 'holdfast-acl-'));
  try {
    writeXattr(bytesOfText(probe), asByteString('system.posix_acl_default'), grantsToSomebody);
    return true;
  } catch {
    return false;
  } finally {
    removeTree(probe);
  }
}

describe.runIf(hasAccessLists())('a target that hands an access list down', () => {
  test('gives it to nothing that had none', async () => {
    writeXattr(treePath(target), asByteString('system.posix_acl_default'), grantsToSomebody);
    const snapshot = await handMadeSnapshot(
      repository,
      directory({
        file: file('x', { mode: 0o640 }),
        dir: directory(
          { inside: file('y', { mode: 0o600 }), sub: directory({}, { mode: 0o700 }) },
          { mode: 0o750 },
        ),
        granted: file('z', {
          mode: 0o670,
          xattrs: [{ name: asByteString('system.posix_acl_access'), value: grantsToSomebody }],
        }),
      }),
      {},
      never,
    );
    expect((await restored(snapshot, {})).status).toBe('complete');
    for (const name of ['file', 'dir', 'dir/inside', 'dir/sub']) {
      expect(listXattrs(treePath(join(target, name))), name).toEqual([]);
    }
    expect(statSync(join(target, 'file')).mode & 0o7777).toBe(0o640);
    expect(statSync(join(target, 'dir/sub')).mode & 0o7777).toBe(0o700);
    expect(listXattrs(treePath(join(target, 'granted')))).toEqual(['system.posix_acl_access']);
    expect(statSync(join(target, 'granted')).mode & 0o7777).toBe(0o670);
  });
});

describe.runIf(process.platform === 'linux')('attributes of entries that stood before', () => {
  const attribute = (name: string, value: string) => ({
    name: asByteString(name),
    value: Buffer.from(value),
  });

  test('become those of the snapshot', async () => {
    const content = 'content that stays';
    const first = await handMadeSnapshot(
      repository,
      directory({ a: file(content, { xattrs: [attribute('user.old', '1'), attribute('user.same', '2')] }) }),
      {},
      never,
    );
    await restored(first, {});
    const second = await handMadeSnapshot(
      repository,
      directory({
        a: file(content, { mode: 0o600, xattrs: [attribute('user.new', '3'), attribute('user.same', '4')] }),
      }),
      {},
      never,
    );
    const summary = await restored(second, { overwrite: 'always' });
    expect(summary).toMatchObject({ filesUnchanged: 0, filesRestored: 1, bytesRestored: 0 });
    const kept = readXattrs(treePath(join(target, 'a')), (name, error) => {
      throw new Error(name, { cause: error });
    });
    expect(kept.map(({ name, value }) => [name, value.toString()])).toEqual([
      ['user.new', '3'],
      ['user.same', '4'],
    ]);
    expect(statSync(join(target, 'a')).mode & 0o7777).toBe(0o600);
  });

  test('the mode comes back where the content stands, and only that is counted', async () => {
    const snapshot = await handMadeSnapshot(
      repository,
      directory({
        a: file('same', { mode: 0o640 }),
        b: file('as it was'),
        c: file('attributes', { xattrs: [attribute('user.kept', '1')] }),
        linked: file('two names', { inode: 7, links: { device: 1, count: 2 } }),
        other: file('two names', { inode: 7, links: { device: 1, count: 2 } }),
      }),
      {},
      never,
    );
    const changes = { overwrite: 'if_changed', restoreOwnership: isRoot } as const;
    await restored(snapshot, changes);
    const [a, c, linked] = ['a', 'c', 'linked'].map((name) => join(target, name)) as [string, string, string];
    const before = statSync(a);
    chmodSync(a, 0);
    writeXattr(bytesOfText(c), 'user.kept' as never, Buffer.from('2'));
    chmodSync(linked, 0o777);
    linkSync(linked, join(target, 'outside'));
    if (isRoot) chownSync(a, 1234, 1234);
    const dry = await restored(snapshot, { ...changes, dryRun: true });
    expect(dry).toMatchObject({ filesRestored: 4, filesUnchanged: 1 });
    const summary = await restored(snapshot, changes);
    expect(summary).toMatchObject({
      status: 'complete',
      filesRestored: 4,
      filesUnchanged: 1,
      filesFailed: 0,
    });
    expect(summary.bytesRestored).toBe('two names'.length);
    const { mode, uid, gid, ino, mtimeMs } = statSync(a);
    expect({ mode, uid, ino, mtimeMs }).toEqual({
      mode: before.mode,
      uid: before.uid,
      ino: before.ino,
      mtimeMs: before.mtimeMs,
    });
    expect(gid).toBe(before.gid);
    expect(readFileSync(a, 'utf8')).toBe('same');
    const attributes = readXattrs(bytesOfText(c), () => {});
    expect(attributes.map(({ value }) => value.toString())).toEqual(['1']);
    // the name outside keeps what it had
    expect(statSync(join(target, 'outside')).mode & 0o777).toBe(0o777);
    expect(statSync(linked).mode & 0o777).toBe(0o644);
    expect(statSync(linked).ino).toBe(statSync(join(target, 'other')).ino);
    expect(await restored(snapshot, changes)).toMatchObject({ filesRestored: 0, filesUnchanged: 5 });
  });

  test.runIf(isRoot)('a file that root replaces keeps its owner, however many names it has', async () => {
    const same = { inode: 7, links: { device: 1, count: 2 } };
    const snapshot = await handMadeSnapshot(
      repository,
      directory({ one: file('new', same), two: file('new', same), alone: file('new'), link: file('new') }),
      {},
      never,
    );
    const at = (name: string): string => join(target, name);
    for (const name of ['one', 'alone']) writeFileSync(at(name), 'before');
    linkSync(at('one'), at('two'));
    symlinkSync('nowhere', at('link'));
    for (const name of ['one', 'alone', 'link']) lchownSync(at(name), 1234, 1234);
    expect(await restored(snapshot, { overwrite: 'always' })).toMatchObject({ status: 'complete' });
    const owners = ['one', 'two', 'alone', 'link'].map((name) => statSync(at(name)).uid);
    // a link in the place of a file says nothing about who owns the file
    expect(owners).toEqual([1234, 1234, 1234, 0]);
    expect(statSync(at('one')).ino).toBe(statSync(at('two')).ino);
    expect(readFileSync(at('two'), 'utf8')).toBe('new');
  });

  test('names of one inode that hold something else are entries of their own', async () => {
    const same = { inode: 7, links: { device: 1, count: 2 } };
    const hole = (offset: number) => ({ ...same, inode: 9, size: 8, holes: [{ offset, length: 4 }] });
    const snapshot = await handMadeSnapshot(
      repository,
      directory({
        a: file('before', same),
        b: file('after', same),
        c: file('after', same),
        d: symlink('one', { ...same, inode: 8 }),
        e: symlink('two', { ...same, inode: 8 }),
        f: file('data', hole(0)),
        g: file('data', hole(4)),
      }),
      {},
      never,
    );
    expect(await restored(snapshot, {})).toMatchObject({ status: 'complete', filesRestored: 5, links: 2 });
    const at = (name: string): string => join(target, name);
    expect(['a', 'b', 'c', 'f', 'g'].map((name) => readFileSync(at(name), 'latin1'))).toEqual([
      'before',
      'after',
      'after',
      '\0\0\0\0data',
      'data\0\0\0\0',
    ]);
    expect(['d', 'e'].map((name) => readlinkSync(at(name)))).toEqual(['one', 'two']);
    expect(statSync(at('b')).ino).toBe(statSync(at('c')).ino);
  });

  test('a file that may not be written to is replaced', async () => {
    const snapshot = await handMadeSnapshot(repository, directory({ a: file('new content') }), {}, never);
    await restored(snapshot, {});
    const before = statSync(join(target, 'a')).ino;
    chmodSync(join(target, 'a'), 0o444);
    const other = await handMadeSnapshot(
      repository,
      directory({ a: file('other content', { mtimeNs: 1_800_000_000_000_000_000n }) }),
      {},
      never,
    );
    const summary = await restored(other, {});
    expect(summary).toMatchObject({ status: 'complete', filesRestored: 1 });
    expect(statSync(join(target, 'a')).size).toBe('other content'.length);
    // root may write to it all the same
    if (!isRoot) expect(statSync(join(target, 'a')).ino).not.toBe(before);
  });
});
