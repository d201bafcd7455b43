/** A directory whose file system fails: single system calls made to fail, short or hang, all others real. */
import fsPromises, {
  mkdir,
  mkdtemp,
  open,
  readdir,
  rename,
  rm,
  stat,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Mock, MockInstance } from 'vitest';
import type { Destination } from '../../src/destination/destination.ts';
import { openLocalDestination } from '../../src/destination/local/local.ts';
import { claimName } from '../../src/destination/new-file.ts';
import { withRetry } from '../../src/destination/retry.ts';

type LinkSpy = MockInstance<typeof fsPromises.link>;

const live = new AbortController().signal;
const body = Buffer.alloc(300_000, 'body ');

let root: string;
let destination: Destination;
/** What all open files have their methods from: a fault put here hits the code under test. */
let handles: FileHandle;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'holdfast-fault-'));
  destination = await openLocalDestination(root);
  const handle = await open(root);
  handles = Object.getPrototypeOf(handle);
  await handle.close();
});

afterEach(async () => {
  restore();
  await destination.close();
  await rm(root, { recursive: true });
});

const restorers: (() => unknown)[] = [];

/** Takes all faults back. */
function restore(): void {
  for (const undo of restorers.splice(0)) undo();
  vi.restoreAllMocks();
  syncBuiltinESMExports();
}

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: injected`), { code });
}

/** Puts `replace` in place of a method of all open files; `real` is the method itself, with this call's file. */
function intercept(
  method: 'read' | 'write' | 'sync' | 'stat',
  replace: (real: (...args: unknown[]) => Promise<unknown>, args: unknown[], handle: FileHandle) => unknown,
): Mock {
  const original: unknown = Reflect.get(handles, method);
  if (typeof original !== 'function') throw new TypeError(`open files have no ${method}`);
  const spy = vi.fn(function intercepted(this: FileHandle, ...args: unknown[]): unknown {
    const real = async (...own: unknown[]): Promise<unknown> => Reflect.apply(original, this, own);
    return replace(real, args, this);
  });
  Reflect.set(handles, method, spy);
  restorers.push(() => Reflect.set(handles, method, original));
  return spy;
}

/** As `intercept`, with the `nth` call failing and the others real. */
function failCall(method: 'write' | 'sync' | 'stat', errno: string, nth = 1): Mock {
  const spy = intercept(method, async (real, args) => {
    if (spy.mock.calls.length === nth) throw systemError(errno);
    return real(...args);
  });
  return spy;
}

/** Makes `method` move at most `longest` bytes a call. */
function limitLength(method: 'read' | 'write', longest: number): Mock {
  return intercept(method, (real, [bytes, offset, length, position]) =>
    real(bytes, offset, Math.min(Number(length), longest), position),
  );
}

function failSyncOfDirectories(errno: string): Mock {
  return intercept('sync', async (real, _, handle) => {
    if ((await handle.stat()).isDirectory()) throw systemError(errno);
    return real();
  });
}

/** Puts `replace` in place of link, for as often as it is called. */
function interceptLink(replace: (real: () => Promise<void>, to: string) => Promise<void>): LinkSpy {
  const original = fsPromises.link;
  const spy = vi
    .spyOn(fsPromises, 'link')
    .mockImplementation((from, to) => replace(() => original(from, to), String(to)));
  syncBuiltinESMExports();
  return spy;
}

describe('a sync that fails', () => {
  test('of the file rejects the put as unreachable and leaves nothing', async () => {
    const sync = failCall('sync', 'EIO');
    await expect(destination.put('a', body, live)).rejects.toMatchObject({
      kind: 'unreachable',
      cause: { code: 'EIO' },
    });
    expect(sync).toHaveBeenCalledOnce();
    expect(await readdir(root)).toEqual([]);
  });

  test('of the directory rejects the put and takes the object back, so that it is written again', async () => {
    const sync = failCall('sync', 'EIO', 2);
    await expect(destination.put('a', body, live)).rejects.toMatchObject({ kind: 'unreachable' });
    expect(sync).toHaveBeenCalledTimes(2);
    expect(await readdir(root)).toEqual([]);
    await destination.put('a', body, live);
    expect(body.equals(await destination.get('a', undefined, live))).toBe(true);
  });

  test('and then works makes a retried put write the whole object again', async () => {
    failCall('sync', 'EIO');
    const write = intercept('write', (real, args) => real(...args));
    const retrying = withRetry(destination, { attempts: 2, firstDelayMs: 1, maxDelayMs: 1, random: () => 0 });
    await retrying.put('a', body, live);
    expect(write).toHaveBeenCalledTimes(2);
    expect(body.equals(await destination.get('a', undefined, live))).toBe(true);
    expect(await readdir(root)).toEqual(['a']);
  });

  test('of a new directory’s parent rejects the put, and the next one syncs it again', async () => {
    const sync = failCall('sync', 'EIO');
    await expect(destination.put('packs/a', body, live)).rejects.toMatchObject({ kind: 'unreachable' });
    expect(sync).toHaveBeenCalledOnce();
    await destination.put('packs/a', body, live);
    // Again the parent, then the file and its directory.
    expect(sync).toHaveBeenCalledTimes(1 + 3);
  });

  test.each(['EINVAL', 'ENOTSUP'])(
    'of a directory with %s means that the file system has none',
    async (errno) => {
      const sync = failSyncOfDirectories(errno);
      await destination.put('packs/a', body, live);
      expect(sync).toHaveBeenCalledTimes(3);
      expect(body.equals(await destination.get('packs/a', undefined, live))).toBe(true);
    },
  );
});

describe('every step of a put that fails', () => {
  test.each(['write', 'sync', 'stat'] as const)('leaves nothing when it is %s', async (method) => {
    const failing = failCall(method, 'EDQUOT');
    await expect(destination.put('a', body, live)).rejects.toMatchObject({ kind: 'full', retry: 'later' });
    expect(failing).toHaveBeenCalled();
    expect(await readdir(root)).toEqual([]);
  });

  test('leaves nothing when it is giving the object its name', async () => {
    const link = interceptLink(() => Promise.reject(systemError('EIO')));
    await expect(destination.put('a', body, live)).rejects.toMatchObject({ kind: 'unreachable' });
    expect(link).toHaveBeenCalledOnce();
    expect(await readdir(root)).toEqual([]);
  });

  test('leaves nothing when a write reports success without writing', async () => {
    const write = intercept('write', async () => ({ bytesWritten: 0 }));
    await expect(destination.put('a', body, live)).rejects.toMatchObject({
      kind: 'corrupt-reply',
      retry: 'now',
    });
    expect(write).toHaveBeenCalledOnce();
    expect(await readdir(root)).toEqual([]);
  });

  test('leaves nothing when a write reports more than it wrote', async () => {
    const write = intercept('write', async () => ({ bytesWritten: body.byteLength }));
    const link = interceptLink((real) => real());
    await expect(destination.put('a', body, live)).rejects.toMatchObject({ kind: 'corrupt-reply' });
    expect(write).toHaveBeenCalledOnce();
    expect(link).not.toHaveBeenCalled();
    expect(await readdir(root)).toEqual([]);
  });

  test('leaves nothing when the stored object has another size than the body', async () => {
    const link = interceptLink(async (real, to) => {
      await real();
      await truncate(to, 10);
    });
    await expect(destination.put('a', body, live)).rejects.toMatchObject({
      kind: 'corrupt-reply',
      details: { actual: 10, expected: body.byteLength },
    });
    expect(link).toHaveBeenCalledOnce();
    expect(await readdir(root)).toEqual([]);
  });
});

test.each(['EIO', 'EACCES', 'ESTALE'])(
  'what stands is told as stored though the look at the directory behind it fails once (%s)',
  async (errno) => {
    const original = fsPromises.stat;
    let looks = 0;
    vi.spyOn(fsPromises, 'stat').mockImplementation(async (path) => {
      if (path === root && (looks += 1) === 2) throw systemError(errno);
      return await original(path);
    });
    syncBuiltinESMExports();
    await expect(destination.put('a', body, live)).resolves.toMatchObject({ size: body.byteLength });
    expect(looks).toBe(3);
    expect(await destination.get('a', undefined, live)).toEqual(body);
  },
);

describe('short reads and writes', () => {
  test('a file system that takes and gives little at a time still stores and returns everything', async () => {
    const write = limitLength('write', 70_000);
    const read = limitLength('read', 70_000);
    await destination.put('a', body, live);
    expect(body.equals(await destination.get('a', undefined, live))).toBe(true);
    const range = { offset: -200_000, length: 150_000 };
    expect(body.subarray(100_000, 250_000).equals(await destination.get('a', range, live))).toBe(true);
    expect(write).toHaveBeenCalledTimes(5);
    expect(read).toHaveBeenCalledTimes(5 + 3);
  });

  test('a file that ends before its size rejects with corrupt-reply', async () => {
    await destination.put('a', body, live);
    const read = intercept('read', async () => ({ bytesRead: 0 }));
    await expect(destination.get('a', undefined, live)).rejects.toMatchObject({
      kind: 'corrupt-reply',
      retry: 'now',
    });
    expect(read).toHaveBeenCalledOnce();
  });
});

describe('a file that the drive cannot read', () => {
  /** Keys of such files. */
  const bad = new Set<string>();
  const keys = ['a', 'b', 'c', 'd', 'e', 'f'];
  const damaged = { kind: 'corrupt-reply', retry: 'never' };
  const away = { kind: 'unreachable', retry: 'later', details: { errno: 'EIO' } };
  const get = async (key: string): Promise<Buffer> => await destination.get(key, undefined, live);

  beforeEach(async () => {
    for (const key of keys) await destination.put(key, body, live);
    bad.clear();
    const real = fsPromises.open;
    vi.spyOn(fsPromises, 'open').mockImplementation(async (path, ...rest) => {
      if (bad.has(basename(String(path)))) throw systemError('EIO');
      return await real(path, ...rest);
    });
    syncBuiltinESMExports();
  });

  test('is damaged, and not asked for again', async () => {
    bad.add('a');
    const onRetry = vi.fn();
    const policy = { attempts: 2, firstDelayMs: 1, maxDelayMs: 1, random: () => 0, onRetry };
    const reading = withRetry(destination, policy).get('a', undefined, live);
    await expect(reading).rejects.toMatchObject({ ...damaged, details: { errno: 'EIO', key: 'a' } });
    expect(onRetry).not.toHaveBeenCalled();
    expect(body.equals(await get('b'))).toBe(true);
  });

  test('is damaged however often it is asked for, and however many there are between others', async () => {
    for (let times = 0; times < 6; times += 1) {
      bad.add('a');
      await expect(get('a')).rejects.toMatchObject(damaged);
    }
    for (const key of keys.slice(0, 5)) {
      bad.add(key);
      await expect(get(key)).rejects.toMatchObject(damaged);
      await get('f');
    }
  });

  test('says that the drive is away where it is one of five in a row', async () => {
    for (const key of keys.slice(0, 5)) bad.add(key);
    for (const key of keys.slice(0, 4)) await expect(get(key)).rejects.toMatchObject(damaged);
    await expect(get('e')).rejects.toMatchObject(away);
    await expect(get('a')).rejects.toMatchObject(away);
    await get('f');
    await expect(get('a')).rejects.toMatchObject(damaged);
  });

  test('says that the drive is away where another directory lies in its place', async () => {
    bad.add('a');
    await rename(root, `${root}.away`);
    await mkdir(root);
    await expect(get('a')).rejects.toMatchObject({ kind: 'unreachable' });
    await rm(root, { recursive: true });
    await rename(`${root}.away`, root);
  });
});

describe('a directory that fails while it is listed', () => {
  test.each([
    ['EIO', { kind: 'unreachable', retry: 'later' }],
    ['ENOENT', { kind: 'unreachable', retry: 'now' }],
  ])('with %s rejects the list instead of ending it', async (errno, expected) => {
    for (const key of ['a/1', 'b/1', 'c/1']) await destination.put(key, body, live);
    const real = fsPromises.opendir;
    const failing = vi.fn(() => Promise.reject(systemError(errno)));
    vi.spyOn(fsPromises, 'opendir').mockImplementation((path, options) =>
      path === join(root, 'b') ? failing() : Reflect.apply(real, fsPromises, [path, options]),
    );
    syncBuiltinESMExports();
    const listing = (async () => {
      for await (const page of destination.list('', live)) expect(page.length).toBeGreaterThan(0);
    })();
    await expect(listing).rejects.toMatchObject({ ...expected, cause: { code: errno } });
    expect(failing).toHaveBeenCalledOnce();
  });
});

describe('a delete', () => {
  test('resolves once it is durable, and rejects when it may not be', async () => {
    for (const key of ['a', 'b']) await destination.put(key, body, live);
    const sync = failCall('sync', 'EIO', 2);
    await destination.delete('a', live);
    expect(sync).toHaveBeenCalledOnce();
    await expect(destination.delete('b', live)).rejects.toMatchObject({ kind: 'unreachable' });
    expect(sync).toHaveBeenCalledTimes(2);
  });
});

describe('a key that is taken', () => {
  test('is made durable before the put says so: the other writer may not have come to that', async () => {
    await writeFile(join(root, 'a'), 'of another writer');
    const sync = failSyncOfDirectories('EIO');
    await expect(destination.put('a', body, live)).rejects.toMatchObject({ kind: 'unreachable' });
    expect(sync).toHaveBeenCalledTimes(2);
    restore();
    await expect(destination.put('a', body, live)).rejects.toMatchObject({ kind: 'exists' });
    expect(await readdir(root)).toEqual(['a']);
  });

  test('by the own link whose reply was lost counts as stored', async () => {
    const link = interceptLink(async (real) => {
      await real();
      throw systemError('EEXIST');
    });
    expect((await destination.put('a', body, live)).size).toBe(body.byteLength);
    expect(link).toHaveBeenCalledOnce();
    expect(await readdir(root)).toEqual(['a']);
  });

  test('but is gone again when looked at is to be tried again, not taken for stored', async () => {
    const link = interceptLink(() => Promise.reject(systemError('EEXIST')));
    await expect(destination.put('a', body, live)).rejects.toMatchObject({
      kind: 'unreachable',
      retry: 'now',
    });
    expect(link).toHaveBeenCalledOnce();
    expect(await readdir(root)).toEqual([]);
  });
});

describe('a file system without hard links', () => {
  let link: LinkSpy;

  beforeEach(() => {
    link = interceptLink(() => Promise.reject(systemError('EPERM')));
  });

  afterEach(() => {
    expect(link).toHaveBeenCalled();
  });

  test('stores an object once and never replaces it', async () => {
    await destination.put('packs/a', body, live);
    await expect(destination.put('packs/a', Buffer.from('x'), live)).rejects.toMatchObject({
      kind: 'exists',
    });
    expect(body.equals(await destination.get('packs/a', undefined, live))).toBe(true);
    expect(await readdir(join(root, 'packs'))).toEqual(['a']);
  });

  test('lets one of several racing writers win and leaves no claim', async () => {
    for (let round = 0; round < 10; round += 1) {
      const key = `leases/${round}/a`;
      const bodies = Array.from({ length: 8 }, (_, writer) => Buffer.from(`writer ${writer}`));
      const outcomes = await Promise.allSettled(bodies.map((own) => destination.put(key, own, live)));
      const winners = outcomes.flatMap(({ status }, writer) => (status === 'fulfilled' ? [writer] : []));
      expect(winners).toHaveLength(1);
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') expect(['exists', 'unreachable']).toContain(outcome.reason.kind);
      }
      expect((await destination.get(key, undefined, live)).toString()).toBe(`writer ${winners[0]}`);
      expect(await readdir(join(root, `leases/${round}`))).toEqual(['a']);
    }
  });

  test('respects another writer’s claim by asking to be tried again', async () => {
    await writeFile(join(root, claimName('a')), '');
    await expect(destination.put('a', body, live)).rejects.toMatchObject({
      kind: 'unreachable',
      retry: 'now',
    });
    expect(await readdir(root)).toEqual([claimName('a')]);
  });

  test('sets aside a claim that a crash left', async () => {
    const claim = join(root, claimName('a'));
    await writeFile(claim, '');
    const old = new Date((await stat(claim)).mtimeMs - 11 * 60 * 1000);
    await utimes(claim, old, old);
    const real = fsPromises.rename;
    const claimsAtRename: boolean[] = [];
    vi.spyOn(fsPromises, 'rename').mockImplementation(async (from, to) => {
      if (to === join(root, 'a')) claimsAtRename.push((await readdir(root)).includes(claimName('a')));
      await real(from, to);
    });
    syncBuiltinESMExports();
    await destination.put('a', body, live);
    expect(claimsAtRename).toEqual([true]);
    expect(await readdir(root)).toEqual(['a']);
  });
});

describe('an abort', () => {
  const reason = new Error('stopped by the test');

  afterEach(async () => {
    destination = await openLocalDestination(root);
  });

  test('between two writes stops the put and removes what was written', async () => {
    const controller = new AbortController();
    const write = intercept('write', async (real, args) => {
      const written = await real(...args);
      controller.abort(reason);
      return written;
    });
    await expect(destination.put('a', Buffer.alloc(20_000_000), controller.signal)).rejects.toBe(reason);
    await destination.close();
    expect(write).toHaveBeenCalledOnce();
    expect(await readdir(root)).toEqual([]);
  });

  test('is answered at once though a sync hangs, and close waits until it has cleaned up', async () => {
    const hanging = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    intercept('sync', async () => {
      reached.resolve();
      await hanging.promise;
    });
    const controller = new AbortController();
    const putting = expect(destination.put('a', body, controller.signal)).rejects.toBe(reason);
    await reached.promise;
    controller.abort(reason);
    await putting;
    expect(await readdir(root)).toHaveLength(1);
    const closing = destination.close();
    hanging.resolve();
    await closing;
    expect(await readdir(root)).toEqual([]);
  });
});
