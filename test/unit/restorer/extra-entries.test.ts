/**
 * What deleting extra entries spares, on file systems that a test cannot bring along: the calls of the system are the
 * real ones, but a directory named `mounted` is another file system, and one named `attached` another part of the same;
 * where a test wants it, names that differ in case are one.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { asByteString, bytesOfText, textOfBytes, type ByteString } from '../../../src/base/byte-path.ts';
import { treePath } from '../../../src/base/tree-path.ts';
import type { Repository } from '../../../src/repository/repository.ts';
import type { Snapshot } from '../../../src/repository/snapshots.ts';
import {
  SILENT_RESTORE,
  type RestoreRequest,
  type RestoreSummary,
} from '../../../src/restorer/request/request.ts';
import { restore } from '../../../src/restorer/restore.ts';
import type { Native } from '../../../src/system/native.ts';
import {
  directory,
  file,
  handMadeSnapshot,
  memoryRepository,
  type HandMadeDirectory,
} from '../../support/hand-made-snapshot.ts';
import { removeTree } from '../../support/remove-tree.ts';
import { wholeRestore } from '../../support/whole-restore.ts';

/** Set by a test: names that differ in case are one. */
const folding = vi.hoisted(() => ({ case: false }));

vi.mock('../../../src/system/native.ts', async (load) => {
  const { native: real, ...others } = await load<{ native: Native | null }>();
  if (real === null) return { native: null, ...others };
  const spelled = (dirFd: number, name: ByteString): ByteString => {
    if (!folding.case || dirFd === real.AT_FDCWD) return name;
    const same = (one: ByteString): boolean => one.toLowerCase() === name.toLowerCase();
    return real.listDirectory(dirFd).find(same) ?? name;
  };
  const native: Native = {
    ...real,
    findEntry(dirFd, name) {
      const found = real.findEntry(dirFd, spelled(dirFd, name));
      return found !== undefined && name === 'mounted' ? { ...found, dev: found.dev + 1n } : found;
    },
    isMountRoot: (dirFd, name) => name === 'attached' || real.isMountRoot(dirFd, spelled(dirFd, name)),
    openat: (dirFd, name, flags, mode) => real.openat(dirFd, spelled(dirFd, name), flags, mode),
    fchmodat: (dirFd, name, mode) => real.fchmodat(dirFd, spelled(dirFd, name), mode),
    renameat: (fromFd, from, toFd, to) =>
      real.renameat(fromFd, spelled(fromFd, from), toFd, spelled(toFd, to)),
    utimensat: (dirFd, name, atimeNs, mtimeNs) =>
      real.utimensat(dirFd, spelled(dirFd, name), atimeNs, mtimeNs),
  };
  return { native, ...others };
});

const { native } = await import('../../../src/system/native.ts');
const never = new AbortController().signal;
let site: string;
let out: string;
let repository: Repository;

beforeEach(async () => {
  site = mkdtempSync(join(tmpdir(), 'holdfast-extra-'));
  out = join(site, 'out');
  repository = await memoryRepository(never);
});
afterEach(async () => {
  folding.case = false;
  await repository.close();
  removeTree(site);
});

async function snapshotOf(tree: HandMadeDirectory, sources: readonly string[]): Promise<Snapshot> {
  return await handMadeSnapshot(repository, tree, { paths: sources.map(treePath) }, never);
}

async function restored(
  snapshot: Snapshot,
  changes: Partial<RestoreRequest> = {},
): Promise<RestoreSummary & { readonly gone: readonly string[] }> {
  const request = wholeRestore(repository, snapshot, out, {
    restoreOwnership: false,
    overwrite: 'always',
    deleteExtra: true,
    ...changes,
  });
  const summary = await restore(request, SILENT_RESTORE, never);
  return { ...summary, gone: summary.deleted.map(textOfBytes).sort() };
}

/** Puts files into the target, each with its name as content. */
function stand(...names: readonly string[]): void {
  for (const name of names) {
    mkdirSync(join(out, name, '..'), { recursive: true });
    writeFileSync(join(out, name), name);
  }
}

const standing = (): readonly string[] =>
  readdirSync(out, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name).slice(out.length + 1))
    .sort();

/** Why something was not deleted, and what. */
const keptOf = ({ omissions }: RestoreSummary): readonly [string, readonly string[]][] =>
  omissions
    .filter(({ kind }) => kind === 'deletion')
    .map(({ reason, paths }) => [reason, paths.map(textOfBytes).sort()]);

const SEEN = 'a file system is mounted there that the backup may not have seen';
const MOUNTED = 'another file system is mounted there';
const LEFT_OUT = 'something in it is left out of this restore';

describe.runIf(native !== null).each(['mounted', 'attached'])('what is %s', (mount) => {
  test('at a directory that the backup found empty keeps all that is in it, and that is told', async () => {
    const snapshot = await snapshotOf(directory({ s: directory({ [mount]: directory({}), a: file('a') }) }), [
      '/s',
    ]);
    stand(`s/${mount}/precious`, `s/${mount}/deep/er`, 's/extra');
    for (const dryRun of [true, false]) {
      const summary = await restored(snapshot, { dryRun });
      expect(summary.gone).toEqual(['/s/extra']);
      expect(summary.status).toBe('complete');
      expect(keptOf(summary)).toEqual([[SEEN, [`/s/${mount}/deep`, `/s/${mount}/precious`]]]);
    }
    expect(standing()).toEqual(['s/a', `s/${mount}/deep/er`, `s/${mount}/precious`]);
  });

  test('below what was asked for keeps what is extra, and what the snapshot has of it comes back', async () => {
    const inside = directory({ both: file('new'), below: directory({ kept: file('k') }) });
    const snapshot = await snapshotOf(directory({ s: directory({ [mount]: inside }) }), ['/s']);
    stand(`s/${mount}/both`, `s/${mount}/other`, `s/${mount}/below/extra`);
    const summary = await restored(snapshot);
    expect(keptOf(summary)).toEqual([[SEEN, [`/s/${mount}/below/extra`, `/s/${mount}/other`]]]);
    expect(summary.gone).toEqual([]);
    expect(readFileSync(join(out, 's', mount, 'both'), 'utf8')).toBe('new');
    expect(standing()).toEqual([
      `s/${mount}/below/extra`,
      `s/${mount}/below/kept`,
      `s/${mount}/both`,
      `s/${mount}/other`,
    ]);
  });

  test('at a source itself is what was backed up, unless it was empty then', async () => {
    const tree = directory({ [mount]: directory({ a: file('a'), below: directory({}) }) });
    for (const sources of [[`/${mount}`], ['/', `/${mount}`]]) {
      const filled = await snapshotOf(tree, sources);
      stand(`${mount}/extra`, `${mount}/below/extra`);
      expect((await restored(filled)).gone).toEqual([`/${mount}/below/extra`, `/${mount}/extra`]);
    }
    const named = await snapshotOf(tree, ['/']);
    stand(`${mount}/extra`);
    expect((await restored(named)).gone).toEqual([]);
    expect((await restored(named, { paths: [bytesOfText(`/${mount}`)] })).gone).toEqual([`/${mount}/extra`]);
    const empty = await snapshotOf(directory({ [mount]: directory({}) }), [`/${mount}`]);
    const summary = await restored(empty);
    expect(summary.gone).toEqual([]);
    expect(keptOf(summary)).toEqual([[SEEN, [`/${mount}/a`, `/${mount}/below`]]]);
  });

  test('since the snapshot was made stays, with the extra directory that it is in', async () => {
    const snapshot = await snapshotOf(directory({ s: directory({ a: file('a') }) }), ['/s']);
    stand(`s/${mount}/precious`, `s/new/0`, `s/new/${mount}/precious`, 's/new/z', 's/extra/file');
    for (const dryRun of [true, false]) {
      const summary = await restored(snapshot, { dryRun });
      expect(summary.gone).toEqual(['/s/extra']);
      expect(keptOf(summary)).toEqual([[MOUNTED, [`/s/${mount}`, '/s/new']]]);
    }
    expect(standing()).toEqual([
      's/a',
      `s/${mount}/precious`,
      's/new/0',
      `s/new/${mount}/precious`,
      's/new/z',
    ]);
  });

  test('keeps its directories, though the snapshot has a file in their place', async () => {
    const inside = directory({ now: file('a file now') });
    const snapshot = await snapshotOf(directory({ s: directory({ [mount]: inside }) }), ['/s']);
    stand(`s/${mount}/now/precious`);
    const summary = await restored(snapshot);
    expect(summary.errors).toMatchObject([{ path: `/s/${mount}/now`, code: 'IN_THE_WAY' }]);
    expect(standing()).toEqual([`s/${mount}/now/precious`]);
  });

  test('in the place of a file is in its way', async () => {
    const snapshot = await snapshotOf(directory({ s: directory({ [mount]: file('a file now') }) }), ['/s']);
    stand(`s/${mount}/precious`);
    const summary = await restored(snapshot);
    expect(summary.errors).toMatchObject([{ path: `/s/${mount}`, code: 'IN_THE_WAY' }]);
    expect(standing()).toEqual([`s/${mount}/precious`]);
  });
});

describe('what the restore leaves out', () => {
  const tree = directory({
    s: directory({ a: file('a'), 'b.log': file('b'), sub: directory({ c: file('c') }) }),
  });
  const exclude = (...patterns: readonly string[]) => ({
    exclude: patterns.map((pattern) => ({ pattern: bytesOfText(pattern), from: '--exclude' })),
  });

  test('is never extra', async () => {
    const snapshot = await snapshotOf(tree, ['/s']);
    stand('s/mine.log', 's/b.log', 's/cache/x', 's/sub/deep.log', 's/extra');
    const summary = await restored(snapshot, exclude('*.log', 'cache/'));
    expect(summary.gone).toEqual(['/s/extra']);
    expect(keptOf(summary)).toEqual([]);
    expect(standing()).toEqual(['s/a', 's/b.log', 's/cache/x', 's/mine.log', 's/sub/c', 's/sub/deep.log']);
  });

  test('keeps the extra directory that it is in, which is told', async () => {
    const snapshot = await snapshotOf(tree, ['/s']);
    stand('s/new/0', 's/new/deep/mine.log', 's/other/file');
    const summary = await restored(snapshot, exclude('*.log'));
    expect(summary.gone).toEqual(['/s/other']);
    expect(keptOf(summary)).toEqual([[LEFT_OUT, ['/s/new']]]);
    expect(existsSync(join(out, 's/new/0'))).toBe(true);
  });

  test('is in the way of a file that would take the place of its directory', async () => {
    const snapshot = await snapshotOf(tree, ['/s']);
    stand('s/a/mine.log');
    const summary = await restored(snapshot, exclude('*.log'));
    expect(summary.errors).toMatchObject([{ path: '/s/a', code: 'IN_THE_WAY' }]);
    expect(standing()).toContain('s/a/mine.log');
  });
});

test('nothing that is extra in the root directory is removed, which is told', async () => {
  const snapshot = await snapshotOf(directory({ 'holdfast-has-none': directory({}) }), ['/']);
  const targets = [{ kind: 'in-place' }, { kind: 'directory', path: '/' }] as const;
  for (const target of process.getuid?.() === 0 ? targets : targets.slice(0, 1)) {
    const summary = await restored(snapshot, { target, dryRun: true });
    expect(summary.gone).toEqual([]);
    const { kind, count, reason } = summary.omissions[0] ?? {};
    expect([kind, reason]).toEqual(['deletion', 'Holdfast removes nothing from the root directory itself']);
    expect(count).toBe(readdirSync('/').length);
  }
});

describe("Holdfast's own places in the target", () => {
  const own = (...names: readonly string[]) => ({
    never: names.map((name) => ({ path: treePath(join(out, name)), reason: 'the repository itself' })),
  });

  test('are neither removed nor written to, whatever the snapshot has there', async () => {
    const old = directory({ store: directory({ config: file('old') }), a: file('a') });
    const snapshot = await snapshotOf(directory({ s: old }), ['/s']);
    stand('s/store/config', 's/store/pack', 's/.local/state/key', 's/.local/other', 's/extra');
    const summary = await restored(snapshot, own('s/store', 's/.local/state'));
    expect(summary.gone).toEqual(['/s/extra']);
    expect(keptOf(summary)).toEqual([["Holdfast's own data is there", ['/s/.local']]]);
    expect(standing()).toEqual([
      's/.local/other',
      's/.local/state/key',
      's/a',
      's/store/config',
      's/store/pack',
    ]);
    expect(readFileSync(join(out, 's/store/config'), 'utf8')).toBe('s/store/config');
  });

  test('are found below a target that has restore the contents of one directory', async () => {
    const snapshot = await snapshotOf(directory({ s: directory({ store: file('a file then') }) }), ['/s']);
    stand('store/pack', 'extra');
    const summary = await restored(snapshot, { ...own('store'), subfolder: asByteString('/s') });
    expect(summary.gone).toEqual(['/extra']);
    expect(standing()).toEqual(['store/pack']);
  });

  test('are in the way of a file that would take the place of what leads to them', async () => {
    const snapshot = await snapshotOf(directory({ s: directory({ backups: file('a file then') }) }), ['/s']);
    stand('s/backups/store/pack');
    const summary = await restored(snapshot, own('s/backups/store'));
    expect(summary.errors).toMatchObject([{ path: '/s/backups', code: 'IN_THE_WAY' }]);
    expect(standing()).toEqual(['s/backups/store/pack']);
  });

  test.each(['.', 'below'])('are no target, nor is %s in one', async (name) => {
    const snapshot = await snapshotOf(directory({ a: file('a') }), ['/a']);
    mkdirSync(out);
    const target = { kind: 'directory', path: join(out, name) } as const;
    await expect(restored(snapshot, { ...own('.'), target })).rejects.toMatchObject({
      code: 'INVALID_TARGET',
    });
    expect(readdirSync(out)).toEqual([]);
  });
});

describe.runIf(native !== null)('where names that differ in case are one', () => {
  test('what was restored under another spelling is not extra', async () => {
    folding.case = true;
    const tree = directory({ Readme: file('new'), Docs: directory({ A: file('a') }) });
    const snapshot = await snapshotOf(directory({ s: tree }), ['/s']);
    stand('s/README', 's/docs/a', 's/docs/extra', 's/extra');
    const summary = await restored(snapshot);
    expect(summary.errors).toEqual([]);
    expect(summary.gone).toEqual(['/s/Docs/extra', '/s/extra']);
    expect(standing()).toEqual(['s/README', 's/docs/a']);
    expect(readFileSync(join(out, 's/README'), 'utf8')).toBe('new');
  });
});
