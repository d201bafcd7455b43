/** Restores to a file system that takes capital and small letters for the same, and to one that refuses certain names. */
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ByteString } from '../../src/base/byte-path.ts';
import type { Repository } from '../../src/repository/repository.ts';
import {
  SILENT_RESTORE,
  type RestoreRequest,
  type RestoreSummary,
} from '../../src/restorer/request/request.ts';
import { restore } from '../../src/restorer/restore.ts';
import { foldedName } from '../../src/base/spellings.ts';
import type * as NativeCalls from '../../src/system/native.ts';
import { native } from '../../src/system/native.ts';
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
import { namesBelow } from '../support/names-below.ts';

const target = vi.hoisted(() => ({
  folds: true,
  /** Names that nothing can get. */
  refused: new Set<string>(),
}));

vi.mock('../../src/system/native.ts', async (importOriginal) => {
  const original = await importOriginal<typeof NativeCalls>();
  const calls = original.native;
  if (calls === null) return original;
  /** The spelling that the directory has. */
  const spelt = (dirFd: number, name: ByteString): ByteString => {
    if (!target.folds || dirFd < 0 || calls.findEntry(dirFd, name) !== undefined) return name;
    const folded = foldedName(name);
    return calls.listDirectory(dirFd).find((one) => foldedName(one) === folded) ?? name;
  };
  const requireTaken = (name: ByteString): void => {
    if (target.refused.has(name))
      throw Object.assign(new Error(`EPERM: it fails in this test`), { code: 'EPERM' });
  };
  return {
    ...original,
    native: {
      ...calls,
      findEntry: (fd: number, name: ByteString) => calls.findEntry(fd, spelt(fd, name)),
      lstatat: (fd: number, name: ByteString) => calls.lstatat(fd, spelt(fd, name)),
      openat: (fd: number, name: ByteString, flags: number, mode?: number) =>
        calls.openat(fd, spelt(fd, name), flags, mode),
      mkdirat: (fd: number, name: ByteString, mode: number) => calls.mkdirat(fd, spelt(fd, name), mode),
      unlinkat: (fd: number, name: ByteString, options?: { directory?: boolean }) =>
        calls.unlinkat(fd, spelt(fd, name), options),
      renameat: (fd: number, from: ByteString, toFd: number, to: ByteString) =>
        calls.renameat(fd, spelt(fd, from), toFd, spelt(toFd, to)),
      renameNew: (fd: number, from: ByteString, to: ByteString) => {
        requireTaken(to);
        calls.renameNew(fd, spelt(fd, from), spelt(fd, to));
      },
      linkat: (fd: number, from: ByteString, toFd: number, to: ByteString) =>
        calls.linkat(fd, spelt(fd, from), toFd, spelt(toFd, to)),
    },
  };
});

const never = new AbortController().signal;
let site: string;
let out: string;
let repository: Repository;

beforeEach(async () => {
  site = mkdtempSync(join(tmpdir(), 'holdfast-folding-'));
  out = join(site, 'out');
  mkdirSync(out);
  repository = await memoryRepository(never);
  target.folds = true;
  target.refused.clear();
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
  return await restore(wholeRestore(repository, snapshot, out, changes), SILENT_RESTORE, never);
}

const problems = ({ errors }: RestoreSummary): string[] => errors.map(({ path, code }) => `${code} ${path}`);
const content = (name: string): string => readFileSync(join(out, name), 'utf8');
const all = (): string[] => namesBelow(out).sort();

describe.runIf(native !== null)('names that differ in case only', () => {
  test.each(['never', 'if_changed', 'if_newer', 'always'] as const)(
    'of files: the second is told of in every run, with %s',
    async (overwrite) => {
      const entries = { 'XT.h': file('UPPER'), 'xt.h': file('lower one'), other: file('o') };
      for (let run = 0; run < 3; run += 1) {
        const summary = await restored(entries, { overwrite });
        expect(summary.status).toBe('partial');
        expect(problems(summary)).toEqual(['SAME_NAME /xt.h']);
        expect(all()).toEqual(['XT.h', 'other']);
        expect(content('XT.h')).toBe('UPPER');
      }
    },
  );

  test.each(['if_changed', 'always'] as const)(
    'of files: the one whose spelling is there has the name, and gets no content of the other, with %s',
    async (overwrite) => {
      const entries = { 'XT.h': file('UPPER'), 'xt.h': file('lower'), other: file('o') };
      writeFileSync(join(out, 'xt.h'), 'before');
      for (let run = 0; run < 2; run += 1) {
        const summary = await restored(entries, { overwrite });
        expect(problems(summary)).toEqual(['SAME_NAME /XT.h']);
        expect(all()).toEqual(['other', 'xt.h']);
        expect(content('xt.h')).toBe('lower');
      }
    },
  );

  test('of files: the only one that is asked for is restored', async () => {
    const entries = { 'XT.h': file('UPPER'), 'xt.h': file('lower') };
    const summary = await restored(entries, { paths: ['/xt.h' as ByteString] });
    expect(problems(summary)).toEqual([]);
    expect(content('xt.h')).toBe('lower');
  });

  test('of a repository and a directory beside it: nothing is written to the repository or removed from it', async () => {
    mkdirSync(join(out, 'Store'));
    writeFileSync(join(out, 'Store', 'config'), 'own');
    const { dev, ino } = statSync(join(out, 'Store'), { bigint: true });
    // The place is known under another spelling than the directory has.
    const place = { path: `${out}/STORE` as ByteString, reason: 'the repository itself' };
    const own = [{ ...place, identity: `${dev}/${ino}` }];
    for (const entries of [
      { other: file('o') },
      { store: directory({ config: file('of the snapshot') }), other: file('o') },
    ]) {
      const summary = await restored(entries, { overwrite: 'always', deleteExtra: true, never: own });
      expect(content('Store/config')).toBe('own');
      expect(summary.deleted).toEqual([]);
    }
  });

  test('of directories: what is in both lies in one, nothing of it is lost, and that is told', async () => {
    const entries = {
      Docs: directory({ a: file('A'), same: file('first') }),
      docs: directory({ b: file('B'), Same: file('second'), deeper: directory({ c: file('C') }) }),
    };
    for (const changes of [
      {},
      { overwrite: 'always', deleteExtra: true },
      { overwrite: 'always' },
    ] as const) {
      const summary = await restored(entries, changes);
      expect(problems(summary).sort()).toEqual(['SAME_NAME /docs', 'SAME_NAME /docs/Same']);
      expect(all()).toEqual(['Docs', 'Docs/a', 'Docs/b', 'Docs/deeper', 'Docs/deeper/c', 'Docs/same']);
      expect(content('Docs/same')).toBe('first');
    }
  });

  test('of links, hard links and a directory beside a file', async () => {
    const shared = { links: { count: 2, device: 1 }, inode: 7 };
    const entries = {
      LINK: symlink('one'),
      link: symlink('two'),
      HARD: file('h', shared),
      hard: file('h', shared),
      THING: file('thing'),
      thing: directory({ inside: file('inside') }),
    };
    for (const overwrite of ['never', 'always'] as const) {
      const summary = await restored(entries, { overwrite });
      expect(problems(summary).filter((one) => one.startsWith('SAME_NAME')).length).toBeGreaterThan(1);
      expect(summary.errors.map(({ path }) => path).sort()).toHaveLength(3);
      expect(
        readdirSync(out)
          .map((name) => name.toLowerCase())
          .sort(),
      ).toEqual(['hard', 'link', 'thing']);
    }
  });

  test('are two on a file system that tells them apart, hard links too', async () => {
    target.folds = false;
    const shared = { links: { count: 2, device: 1 }, inode: 7 };
    const entries = { A: file('h', shared), a: file('h', shared), B: file('1'), b: file('2') };
    for (const overwrite of ['never', 'if_changed', 'always'] as const) {
      expect(await restored(entries, { overwrite })).toMatchObject({ status: 'complete', errors: [] });
      expect(all()).toEqual(['A', 'B', 'a', 'b']);
      expect(statSync(join(out, 'A')).ino).toBe(statSync(join(out, 'a')).ino);
    }
  });

  test('a file that stands under another spelling is that of the snapshot', async () => {
    writeFileSync(join(out, 'Report.txt'), 'mine');
    expect(await restored({ 'report.txt': file('old') })).toMatchObject({
      status: 'complete',
      filesSkipped: 1,
    });
    expect(content('Report.txt')).toBe('mine');
  });
});

describe.runIf(native !== null)('a file of several names', () => {
  const shared = { links: { count: 3, device: 1 }, inode: 7, mtimeNs: 5_000_000_000n };
  const parts = [Buffer.alloc(90_000, 1), Buffer.alloc(90_000, 2)];
  const named = file(parts, shared);
  const entries = { a: named, b: named, d: directory({ c: named }) };

  beforeEach(() => {
    target.folds = false;
  });

  test('whose first name cannot be made comes back under the next one, and is one again later', async () => {
    target.refused.add('a');
    const summary = await restored(entries);
    expect(problems(summary)).toEqual(['EPERM /a']);
    expect(summary).toMatchObject({ filesFailed: 1, filesRestored: 2 });
    expect(all()).toEqual(['b', 'd', 'd/c']);
    expect(readFileSync(join(out, 'd/c')).equals(Buffer.concat(parts))).toBe(true);
    target.refused.clear();
    expect(await restored(entries)).toMatchObject({ status: 'complete', filesRestored: 1, omissions: [] });
    expect(statSync(join(out, 'a'))).toMatchObject({ nlink: 3, ino: statSync(join(out, 'b')).ino });
  });

  test('of which only the last name can be made', async () => {
    for (const name of ['a', 'b']) target.refused.add(name);
    expect(problems(await restored(entries)).sort()).toEqual(['EPERM /a', 'EPERM /b']);
    expect(all()).toEqual(['d', 'd/c']);
  });

  test('of which some stand is one file again, whichever they are', async () => {
    await restored(entries);
    for (const gone of [['a'], ['b', 'd/c'], ['a', 'd/c']]) {
      for (const name of gone) rmSync(join(out, name));
      for (const overwrite of ['never', 'if_changed', 'if_newer'] as const) {
        expect(await restored(entries, { overwrite })).toMatchObject({ status: 'complete', omissions: [] });
        expect(statSync(join(out, 'a'))).toMatchObject({ nlink: 3, ino: statSync(join(out, 'd/c')).ino });
      }
    }
  });

  test('links of several names stay one as well', async () => {
    const link = symlink('nowhere', { links: { count: 2, device: 1 }, inode: 8, mtimeNs: 5_000_000_000n });
    const links = { k: link, l: link };
    await restored(links);
    rmSync(join(out, 'l'));
    await restored(links);
    target.refused.add('l');
    linkSync(join(out, 'k'), join(out, 'kept'));
    expect(statSync(out).isDirectory()).toBe(true);
    expect(readdirSync(out).sort()).toEqual(['k', 'kept', 'l']);
    rmSync(join(out, 'k'));
    target.refused.clear();
    await restored(links);
    const [k, l] = ['k', 'l'].map(
      (name) => native?.lstatat(native.openat(native.AT_FDCWD, out as ByteString, 0), name as ByteString).ino,
    );
    expect(k).toBe(l);
  });
});
