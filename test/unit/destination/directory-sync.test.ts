import { mkdtemp, open, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { MockInstance } from 'vitest';
import { createDirectorySync } from '../../../src/destination/directory-sync.ts';

let root: string;
let sync: MockInstance<FileHandle['sync']>;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'holdfast-sync-'));
  const handle = await open(root);
  // What all open files have their methods from.
  const handles: FileHandle = Object.getPrototypeOf(handle);
  sync = vi.spyOn(handles, 'sync');
  await handle.close();
});

afterEach(async () => {
  vi.restoreAllMocks();
  await rm(root, { recursive: true });
});

describe('syncing a directory', () => {
  test('serves callers of the same moment with one sync', async () => {
    const directories = createDirectorySync(root);
    await Promise.all(Array.from({ length: 10 }, () => directories.sync(root)));
    expect(sync).toHaveBeenCalledOnce();
    await directories.sync(root);
    expect(sync).toHaveBeenCalledTimes(2);
  });

  test('starts another one for callers that come while it runs: it may have missed their entries', async () => {
    const begun = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    sync.mockImplementationOnce(async () => {
      begun.resolve();
      await held.promise;
    });
    const directories = createDirectorySync(root);
    const first = directories.sync(root);
    await begun.promise;
    const later = { done: false };
    const others = Promise.all([directories.sync(root), directories.sync(root)]).finally(() => {
      later.done = true;
    });
    // Long enough for a second one to open the directory, were it to start now.
    await delay(20);
    expect(sync).toHaveBeenCalledOnce();
    held.resolve();
    await first;
    expect(later.done).toBe(false);
    await others;
    expect(sync).toHaveBeenCalledTimes(2);
  });

  test('rejects for those who waited for it, and not for those after them', async () => {
    sync.mockRejectedValueOnce(new Error('injected'));
    const directories = createDirectorySync(root);
    const outcomes = await Promise.allSettled([directories.sync(root), directories.sync(root)]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await expect(directories.sync(root)).resolves.toBeUndefined();
    expect(sync).toHaveBeenCalledTimes(2);
  });
});

describe('making a directory exist', () => {
  test('syncs the parent of every new one, once for all callers', async () => {
    const directories = createDirectorySync(root);
    const deep = join(root, 'a', 'b');
    await Promise.all(Array.from({ length: 5 }, () => directories.ensure(deep)));
    expect(sync).toHaveBeenCalledTimes(2);
    await directories.ensure(deep);
    await directories.ensure(root);
    expect(sync).toHaveBeenCalledTimes(2);
  });

  test('syncs the parent of one that is there already: who made it may not have come to that', async () => {
    await createDirectorySync(root).ensure(join(root, 'a'));
    sync.mockClear();
    await createDirectorySync(root).ensure(join(root, 'a'));
    expect(sync).toHaveBeenCalledOnce();
  });

  test('is done again after a failure, and after being told to forget', async () => {
    const directories = createDirectorySync(root);
    sync.mockRejectedValueOnce(new Error('injected'));
    await expect(directories.ensure(join(root, 'a'))).rejects.toThrow('injected');
    await directories.ensure(join(root, 'a'));
    await rm(join(root, 'a'), { recursive: true });
    directories.forget();
    await directories.ensure(join(root, 'a'));
    expect(sync).toHaveBeenCalledTimes(3);
  });
});
