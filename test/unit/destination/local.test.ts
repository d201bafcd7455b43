import { existsSync } from 'node:fs';
import {
  mkdir,
  mkdtemp,
  readdir,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Destination } from '../../../src/destination/destination.ts';
import { openLocalDestination, removeStaleTemporaries } from '../../../src/destination/local/local.ts';
import { claimName, isTemporaryName, temporaryName } from '../../../src/destination/new-file.ts';

const live = new AbortController().signal;
const hasModes = process.platform !== 'win32';

let base: string;
let root: string;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'holdfast-local-'));
  root = join(base, 'repository');
  await mkdir(root);
});

afterEach(async () => {
  vi.useRealTimers();
  await rm(base, { recursive: true });
});

async function keysIn(destination: Destination, prefix = ''): Promise<string[]> {
  const keys: string[] = [];
  for await (const page of destination.list(prefix, live)) keys.push(...page.map(({ key }) => key));
  return keys.toSorted();
}

describe('opening a directory', () => {
  test('rejects with not-found when it is absent, and does not create it', async () => {
    const absent = join(base, 'absent');
    await expect(openLocalDestination(absent)).rejects.toMatchObject({
      name: 'DestinationError',
      kind: 'not-found',
      details: { errno: 'ENOENT', directory: absent },
      cause: { code: 'ENOENT' },
    });
    expect(existsSync(absent)).toBe(false);
  });

  test.runIf(hasModes)('creates it with its parents when asked to, for the user alone', async () => {
    const nested = join(base, 'a', 'b', 'c');
    const destination = await openLocalDestination(nested, { create: true });
    await destination.put('packs/00/x', Buffer.from('x'), live);
    await destination.close();
    for (const directory of [join(base, 'a'), nested, join(nested, 'packs'), join(nested, 'packs/00')]) {
      expect((await stat(directory)).mode & 0o777).toBe(0o700);
    }
    expect((await stat(join(nested, 'packs/00/x'))).mode & 0o777).toBe(0o600);
  });

  test('opens what is there already when asked to create', async () => {
    await writeFile(join(root, 'a'), 'kept');
    const destination = await openLocalDestination(root, { create: true });
    expect((await destination.get('a', undefined, live)).toString()).toBe('kept');
    await destination.close();
  });

  test('rejects with unsupported when a file is there, or in the way', async () => {
    const file = join(base, 'file');
    await writeFile(file, '');
    for (const create of [false, true]) {
      await expect(openLocalDestination(file, { create })).rejects.toMatchObject({ kind: 'unsupported' });
      await expect(openLocalDestination(join(file, 'below'), { create })).rejects.toMatchObject({
        kind: 'unsupported',
        cause: { code: 'ENOTDIR' },
      });
    }
  });

  test('takes a relative path from the working directory, and shows its URL', async () => {
    const destination = await openLocalDestination(relative(process.cwd(), root));
    expect(destination.properties.url).toBe(pathToFileURL(root).href);
    await destination.close();
  });
});

test('a file that is larger than any object is corrupt, and a part of it can be read', async () => {
  const destination = await openLocalDestination(root);
  await writeFile(join(root, 'a'), 'abc');
  await truncate(join(root, 'a'), 1024 ** 3 + 1);
  const tooLarge = { kind: 'corrupt-reply', retry: 'never', details: { key: 'a' } };
  await expect(destination.get('a', undefined, live)).rejects.toMatchObject(tooLarge);
  expect((await destination.get('a', { offset: 0, length: 3 }, live)).toString()).toBe('abc');
  await destination.close();
});

describe('keys and paths that get in each other’s way', () => {
  test('a key below an object is refused on put and absent otherwise', async () => {
    await using files = await openFiles();
    const { destination } = files;
    await destination.put('a', Buffer.from('a'), live);
    await expect(destination.put('a/b', Buffer.from('b'), live)).rejects.toMatchObject({
      kind: 'unsupported',
    });
    await expect(destination.get('a/b', undefined, live)).rejects.toMatchObject({ kind: 'not-found' });
    expect(await keysIn(destination, 'a/')).toEqual([]);
  });

  test('a directory under the name of a key is not taken for the object', async () => {
    await using files = await openFiles();
    const { destination } = files;
    await destination.put('a/b', Buffer.from('b'), live);
    await expect(destination.put('a', Buffer.from('a'), live)).rejects.toMatchObject({ kind: 'unsupported' });
    await expect(destination.get('a', { offset: 0, length: 0 }, live)).rejects.toMatchObject({
      kind: 'not-found',
    });
    expect(await readdir(root)).toEqual(['a']);
  });

  test('a part longer than the file system allows is refused on put and absent otherwise', async () => {
    await using files = await openFiles();
    const { destination } = files;
    const key = 'x'.repeat(300);
    await expect(destination.put(key, Buffer.from('x'), live)).rejects.toMatchObject({ kind: 'unsupported' });
    await expect(destination.stat(key, live)).rejects.toMatchObject({ kind: 'not-found' });
    await expect(destination.delete(key, live)).resolves.toBeUndefined();
  });

  test('a directory that somebody removed is made again', async () => {
    await using files = await openFiles();
    const { destination } = files;
    await destination.put('packs/00/a', Buffer.from('a'), live);
    await rm(join(root, 'packs'), { recursive: true });
    await destination.put('packs/00/b', Buffer.from('b'), live);
    expect(await keysIn(destination)).toEqual(['packs/00/b']);
  });
});

describe('listing a directory', () => {
  test('leaves out what is no object: temporary files, other programs’ files, empty directories', async () => {
    await using files = await openFiles();
    const { destination } = files;
    await destination.put('packs/00/a', Buffer.from('a'), live);
    await mkdir(join(root, 'lost+found'));
    await mkdir(join(root, 'empty'));
    for (const name of ['.DS_Store', 'Thumbs.db', 'packs/00/copy of a', 'lost+found/x']) {
      await writeFile(join(root, name), 'foreign');
    }
    await writeFile(join(root, 'packs/00', temporaryName()), 'left by a crash');
    expect(await keysIn(destination)).toEqual(['packs/00/a']);
  });

  test.runIf(hasModes)('follows symbolic links, as get does', async () => {
    await using files = await openFiles();
    const { destination } = files;
    await mkdir(join(base, 'elsewhere'));
    await symlink(join(base, 'elsewhere'), join(root, 'packs'));
    await symlink('nowhere', join(root, 'dangling'));
    await destination.put('packs/a', Buffer.from('a'), live);
    expect(await keysIn(destination)).toEqual(['packs/a']);
    expect(await readdir(join(base, 'elsewhere'))).toEqual(['a']);
  });

  test.runIf(hasModes)('rejects on an error in the middle instead of ending short', async () => {
    await using files = await openFiles();
    const { destination } = files;
    for (const key of ['a/1', 'b/1', 'c/1']) await destination.put(key, Buffer.from(key), live);
    await symlink('loop', join(root, 'b/loop'));
    await expect(keysIn(destination)).rejects.toMatchObject({
      kind: 'unsupported',
      cause: { code: 'ELOOP' },
    });
  });

  test('rejects when the directory is another one than was opened, as every method does', async () => {
    await using files = await openFiles();
    const { destination } = files;
    await destination.put('a', Buffer.from('a'), live);
    await rename(root, join(base, 'moved'));
    for (const step of ['gone', 'another empty one in its place']) {
      if (step !== 'gone') await mkdir(root);
      const calls = [
        keysIn(destination),
        keysIn(destination, 'missing/'),
        destination.put('b', Buffer.from('b'), live),
        destination.get('a', undefined, live),
        destination.stat('a', live),
        destination.delete('a', live),
      ];
      for (const outcome of await Promise.allSettled(calls)) {
        expect(outcome).toMatchObject({ status: 'rejected', reason: { kind: 'unreachable' } });
      }
    }
    expect(await readdir(root)).toEqual([]);
  });
});

describe('storing in a directory', () => {
  test.each([
    ['goes away', async () => {}],
    ['is replaced by an empty one', async () => await mkdir(root)],
  ])(
    'that %s meanwhile rejects as everything does that cannot reach it, and leaves nothing there',
    async (_, then) => {
      const away = join(base, 'away');
      let asked = 0;
      const pace = {
        limited: true,
        async next(_key: string, wanted: number) {
          asked += 1;
          if (asked === 2) {
            await rename(root, away);
            await then();
          }
          return Math.min(wanted, 1_000);
        },
      };
      const destination = await openLocalDestination(root, { pace });
      const putting = destination.put('packs/00/x', Buffer.alloc(5_000, 'x'), live);
      await expect(putting).rejects.toMatchObject({ kind: 'unreachable', retry: 'later' });
      await destination.close();
      expect(asked).toBe(5);
      expect(existsSync(root) ? await readdir(root) : []).toEqual([]);
      expect((await readdir(join(away, 'packs', '00'))).filter((name) => !isTemporaryName(name))).toEqual([]);
    },
  );
});

describe('removing stale temporary files', () => {
  const hourMs = 60 * 60 * 1000;

  async function leaveBehind(path: string, ageHours: number, content = 'half'): Promise<void> {
    await writeFile(path, content);
    const time = new Date((await stat(path)).mtimeMs - ageHours * hourMs);
    await utimes(path, time, time);
  }

  test('removes those of 24 hours and more, anywhere, and nothing else', async () => {
    await using files = await openFiles();
    await files.destination.put('packs/00/a', Buffer.from('a'), live);
    const stale = [temporaryName(), `packs/00/${temporaryName()}`, `packs/${claimName('a')}`];
    const fresh = [temporaryName(), `packs/00/${temporaryName()}`];
    const foreign = ['old-object', '.tmp-of-another-program', 'packs/.tmp-0'];
    for (const name of stale) await leaveBehind(join(root, name), 24.1);
    for (const name of fresh) await leaveBehind(join(root, name), 23.9);
    for (const name of foreign) await leaveBehind(join(root, name), 1000);
    expect(await removeStaleTemporaries(root, live)).toEqual({ removedFiles: 3, removedBytes: 12 });
    for (const name of stale) expect(existsSync(join(root, name))).toBe(false);
    for (const name of [...fresh, ...foreign, 'packs/00/a']) expect(existsSync(join(root, name))).toBe(true);
    expect((await readdir(root)).filter(isTemporaryName)).toEqual([fresh[0]]);
  });

  test('removes directories that have been empty as long, which a put makes again', async () => {
    await using files = await openFiles();
    const { destination } = files;
    for (const key of ['leases/session.a/1', 'leases/session.b/1', 'leases/session.c/1']) {
      await destination.put(key, Buffer.from('lease'), live);
      if (!key.includes('session.c')) await destination.delete(key, live);
    }
    for (const [name, hours] of Object.entries({ a: 24.1, b: 23.9, c: 1000 })) {
      const path = join(root, `leases/session.${name}`);
      const time = new Date((await stat(path)).mtimeMs - hours * hourMs);
      await utimes(path, time, time);
    }
    // Somebody else's, for whatever purpose.
    for (const name of ['photos/2020', 'leases/contract']) {
      await mkdir(join(root, name), { recursive: true });
      await utimes(join(root, name), new Date(1), new Date(1));
    }
    await removeStaleTemporaries(root, live);
    expect(await readdir(join(root, 'photos'))).toEqual(['2020']);
    expect((await readdir(join(root, 'leases'))).sort()).toEqual(['contract', 'session.b', 'session.c']);
    expect(await destination.get('leases/session.c/1', undefined, live)).toEqual(Buffer.from('lease'));
    // Whoever slept as long has the directory in mind.
    await destination.put('leases/session.a/2', Buffer.from('lease'), live);
  });

  test.runIf(hasModes)('does not take a link for a temporary file, nor remove what it leads to', async () => {
    await leaveBehind(join(base, 'elsewhere'), 48);
    await symlink(join(base, 'elsewhere'), join(root, 'link'));
    expect((await removeStaleTemporaries(root, live)).removedFiles).toBe(0);
    expect(await readdir(root)).toEqual(['link']);
  });

  test('goes by the file system’s clock, not by this machine’s', async () => {
    await leaveBehind(join(root, temporaryName()), 1);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2150, 0) });
    expect((await removeStaleTemporaries(root, live)).removedFiles).toBe(0);
  });

  test('rejects when aborted, or when the directory is not there', async () => {
    await leaveBehind(join(root, temporaryName()), 48);
    const reason = new Error('stopped by the test');
    await expect(removeStaleTemporaries(root, AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(await readdir(root)).toHaveLength(1);
    await expect(removeStaleTemporaries(join(base, 'absent'), live)).rejects.toMatchObject({
      kind: 'not-found',
    });
  });
});

async function openFiles(): Promise<AsyncDisposable & { readonly destination: Destination }> {
  const destination = await openLocalDestination(root);
  return { destination, [Symbol.asyncDispose]: () => destination.close() };
}
