/** Real file systems that are full, read-only or gone: mounted for the test, which is skipped where that is refused. */
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { TestContext } from 'vitest';
import type { Destination } from '../../src/destination/destination.ts';
import { openLocalDestination } from '../../src/destination/local/local.ts';

const live = new AbortController().signal;
const body = Buffer.alloc(300_000, 'body ');

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'holdfast-mounted-'));
});

afterEach(async () => {
  await rm(root, { recursive: true });
});

describe('a real file system', () => {
  test('that is full rejects with full, keeps nothing of the object, and works again with space', async (context) => {
    await using mounted = await mountTmpfs(context, '1m');
    await mounted.destination.put('packs/a', body, live);
    await expect(mounted.destination.put('packs/b', Buffer.alloc(2_000_000), live)).rejects.toMatchObject({
      kind: 'full',
      retry: 'later',
      cause: { code: 'ENOSPC' },
    });
    expect(await readdir(join(mounted.directory, 'packs'))).toEqual(['a']);
    await mounted.destination.put('packs/b', body, live);
    await expect(mounted.destination.put('packs/c', Buffer.alloc(700_000), live)).rejects.toMatchObject({
      kind: 'full',
    });
    await mounted.destination.delete('packs/a', live);
    await mounted.destination.put('packs/c', body, live);
    expect(await readdir(join(mounted.directory, 'packs'))).toEqual(['b', 'c']);
  });

  test('that is read-only rejects writes with denied and still reads', async (context) => {
    await using mounted = await mountTmpfs(context, '1m');
    await mounted.destination.put('a', body, live);
    execFileSync('mount', ['-o', 'remount,ro', mounted.directory]);
    const calls = [mounted.destination.put('b', body, live), mounted.destination.delete('a', live)];
    for (const outcome of await Promise.allSettled(calls)) {
      expect(outcome).toMatchObject({ reason: { kind: 'denied', cause: { code: 'EROFS' } } });
    }
    expect(body.equals(await mounted.destination.get('a', undefined, live))).toBe(true);
    const again = await openLocalDestination(mounted.directory);
    expect((await again.stat('a', live)).size).toBe(body.byteLength);
    await again.close();
  });

  test('that is unmounted rejects everything, and nothing is stored in its empty mount point', async (context) => {
    await using mounted = await mountTmpfs(context, '1m');
    await mounted.destination.put('a', body, live);
    execFileSync('umount', ['-l', mounted.directory]);
    const calls = [
      mounted.destination.put('packs/b', body, live),
      mounted.destination.get('a', undefined, live),
      mounted.destination.delete('a', live),
      mounted.destination.list('packs/', live)[Symbol.asyncIterator]().next(),
    ];
    for (const outcome of await Promise.allSettled(calls)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { kind: 'unreachable' } });
    }
    expect(await readdir(mounted.directory)).toEqual([]);
  });

  test('that may not be written to rejects with denied', async (context) => {
    if (process.getuid?.() === 0) context.skip('root may write everywhere');
    if (process.platform === 'win32') context.skip('Windows directories have no such mode');
    const destination = await openLocalDestination(root);
    await chmod(root, 0o500);
    try {
      await expect(destination.put('a', body, live)).rejects.toMatchObject({ kind: 'denied' });
    } finally {
      await chmod(root, 0o700);
      await destination.close();
    }
  });
});

interface Mounted extends AsyncDisposable {
  readonly directory: string;
  readonly destination: Destination;
}

/** An open destination on a file system of its own; skips the test, with the reason, where mounting is refused. */
async function mountTmpfs(context: TestContext, size: string): Promise<Mounted> {
  const directory = join(root, 'mounted');
  await mkdir(directory);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', directory], { stdio: 'pipe' });
  } catch (error) {
    context.skip(`a file system cannot be mounted here: ${String(error)}`);
  }
  const mounted = await openLocalDestination(directory);
  return {
    directory,
    destination: mounted,
    [Symbol.asyncDispose]: async () => {
      await mounted.close();
      // Refused when the test has unmounted it already.
      const { dev } = await stat(directory);
      if (dev !== (await stat(root)).dev) execFileSync('umount', [directory], { stdio: 'pipe' });
    },
  };
}
