/** Targets that are full, read-only, forbidden or no directory. */
// Turn 2 of 8.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { StateError } from '../../src/base/errors.ts';
import { compareTrees, shownDifference } from '../support/compare-trees.ts';
import { openEngine, type Engine } from '../support/engine.ts';
import { openRestoreSite } from '../support/restore-site.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { restoredPath } from '../support/restored-path.ts';

let engine: Engine;
beforeEach(async () => {
  engine = await openEngine();
});
afterEach(async () => {
  await engine[Symbol.asyncDispose]();
});

/** Whether this user may mount file systems: not in every container, even as root. */
function mayMount(): boolean {
  const probe = mkdtempSync(join(tmpdir(), 'holdfast-mount-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', probe], { stdio: 'ignore' });
    execFileSync('umount', [probe]);
    return true;
  } catch {
    return false;
  } finally {
    rmdirSync(probe);
  }
}
const mounts = process.platform === 'linux' && mayMount();

/** A small file system of its own. */
function mountTmpfs(size: string): Disposable & { readonly directory: string } {
  const directory = join(engine.directory, 'mounted');
  mkdirSync(directory, { recursive: true });
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', directory]);
  return {
    directory,
    [Symbol.dispose]: () => {
      execFileSync('umount', ['-l', directory]);
    },
  };
}

describe.runIf(mounts)('a target that is full', () => {
  test.each([
    ['with many small files', 300, 20_000],
    ['with few large files', 3, 3_000_000],
  ])(
    '%s stops the restore with one clear error, and with room the next run completes it',
    async (_, count, size) => {
      const random = seededRandom(3);
      for (let i = 0; i < count; i += 1) writeFileSync(join(engine.source, `file${i}`), random.bytes(size));
      const { snapshot } = await engine.backup();
      using mounted = mountTmpfs('3m');
      const target = { kind: 'directory' as const, path: mounted.directory };
      const failure = await engine.restoreTo('unused', snapshot, { target }).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(StateError);
      expect(failure).toMatchObject({ code: 'TARGET_FULL', retry: 'later' });
      execFileSync('mount', ['-o', 'remount,size=40m', mounted.directory]);
      const { summary } = await engine.restoreTo('unused', snapshot, { target });
      expect(summary).toMatchObject({ status: 'complete', filesFailed: 0 });
      const restored = restoredPath(mounted.directory, engine.source);
      expect(compareTrees(engine.source, restored).map(shownDifference)).toEqual([]);
      expect(readdirSync(mounted.directory)).toEqual(['tmp']);
    },
  );
});

describe.runIf(mounts)('what has its content when the target is full', () => {
  test.each([
    ['without threads', 0],
    ['with a thread', 1],
    ['with threads', 2],
  ])('is complete, and nothing else is there: %s', async (_, workers) => {
    const random = seededRandom(4);
    for (let i = 0; i < 300; i += 1) writeFileSync(join(engine.source, `file${i}`), random.bytes(20_000));
    const { snapshot } = await engine.backup();
    using mounted = mountTmpfs('3m');
    const target = { kind: 'directory' as const, path: mounted.directory };
    await expect(engine.restoreTo('unused', snapshot, { target, workers })).rejects.toMatchObject({
      code: 'TARGET_FULL',
    });
    const restored = restoredPath(mounted.directory, engine.source);
    const names = readdirSync(restored);
    // 3 MiB hold 153 of 5 pages each
    expect(names.length).toBeGreaterThan(145);
    const unequal = names.filter((name) => {
      const [was, is] = [statSync(join(engine.source, name)), statSync(join(restored, name))];
      return is.mode !== was.mode || is.size !== was.size || is.mtimeMs !== was.mtimeMs;
    });
    expect(unequal).toEqual([]);
  });
});

describe('a target that cannot be written', () => {
  test.each([
    ['a file', (path: string) => path],
    ['a path below a file', (path: string) => join(path, 'below', 'it')],
  ])('%s is refused as INVALID_TARGET', async (_, targetOf) => {
    writeFileSync(join(engine.source, 'a'), 'a');
    const { snapshot } = await engine.backup();
    const file = join(engine.directory, 'file');
    writeFileSync(file, 'file');
    const target = { kind: 'directory' as const, path: targetOf(file) };
    await expect(engine.restoreTo('unused', snapshot, { target })).rejects.toMatchObject({
      side: 'request',
      code: 'INVALID_TARGET',
      details: { reason: 'not_a_directory' },
    });
  });

  test('a relative path is refused', async () => {
    const { snapshot } = await engine.backup();
    await expect(
      engine.restoreTo('unused', snapshot, { target: { kind: 'directory', path: 'somewhere' } }),
    ).rejects.toMatchObject({ code: 'INVALID_TARGET', details: { reason: 'not_absolute' } });
  });

  test.runIf(mounts)('a read-only file system is named as such', async () => {
    writeFileSync(join(engine.source, 'a'), 'a');
    const { snapshot } = await engine.backup();
    using mounted = mountTmpfs('1m');
    execFileSync('mount', ['-o', 'remount,ro', mounted.directory]);
    await expect(
      engine.restoreTo('unused', snapshot, { target: { kind: 'directory', path: mounted.directory } }),
    ).rejects.toMatchObject({ code: 'INVALID_TARGET', details: { reason: 'read_only' } });
  });
});

describe.runIf(process.getuid?.() === 0)('as an ordinary user', () => {
  const NOBODY = { uid: 65_534, gid: 65_534 };

  test('a directory of somebody else is refused, an own one is filled, and what is left out is told', async () => {
    await using site = await openRestoreSite();
    mkdirSync(join(site.source, 'dir'));
    writeFileSync(join(site.source, 'dir', 'a'), 'a');
    writeFileSync(join(site.source, 'setuid'), 'b');
    chmodSync(join(site.source, 'setuid'), 0o4755);
    execFileSync('mknod', [join(site.source, 'null'), 'c', '1', '3']);
    execFileSync('mkfifo', [join(site.source, 'fifo')]);
    await site.backup();
    execFileSync('chmod', ['-R', 'a+rX', site.directory]);
    const [forbidden, own] = [join(site.directory, 'forbidden'), join(site.directory, 'own')];
    mkdirSync(forbidden, { mode: 0o755 });
    mkdirSync(own);
    execFileSync('chown', ['65534:65534', own]);

    const refused = await site.start({ target: forbidden, overwrite: 'never', as: NOBODY }).ended;
    expect(refused?.error).toMatchObject({ code: 'INVALID_TARGET', details: { reason: 'not_writable' } });
    expect(readdirSync(forbidden)).toEqual([]);

    const outcome = await site.start({ target: own, overwrite: 'never', as: NOBODY, restoreOwnership: true })
      .ended;
    expect(outcome).toMatchObject({ status: 'complete', filesRestored: 2, others: 1 });
    const omitted = Object.fromEntries((outcome?.omissions ?? []).map(({ kind, count }) => [kind, count]));
    expect(omitted).toMatchObject({ 'setuid-bits': 1, devices: 1 });
    expect(omitted['ownership']).toBeGreaterThanOrEqual(4);
    const restored = site.below(own);
    expect(compareTrees(site.source, restored, { owners: false }).map(shownDifference)).toEqual([
      expect.stringContaining('missing    null'),
      expect.stringContaining('mode       setuid: 4755 | 0755'),
    ]);
  });
});
