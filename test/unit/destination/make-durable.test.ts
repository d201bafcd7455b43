import { mkdtemp, open, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DestinationError } from '../../../src/base/errors.ts';
import { withAdaptiveParallelism } from '../../../src/destination/open/adaptive.ts';
import { openLocalDestination } from '../../../src/destination/local/local.ts';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import { withRetry } from '../../../src/destination/retry.ts';
import { FirstLook } from '../../../src/repository/first-look.ts';

const { signal } = new AbortController();
const KEY = `packs/aa/${'a'.repeat(64)}`;
const OTHER = `packs/bb/${'b'.repeat(64)}`;
const GONE = `packs/cc/${'c'.repeat(64)}`;

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'holdfast-durable-'));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(root, { recursive: true });
});

test('a directory syncs the folders of the keys and those above, and passes over what is gone', async () => {
  const destination = await openLocalDestination(root);
  await destination.put(KEY, Buffer.from('a'), signal);
  await destination.put(OTHER, Buffer.from('b'), signal);
  const handle = await open(root);
  // What all open files have their methods from.
  const handles: FileHandle = Object.getPrototypeOf(handle);
  const sync = vi.spyOn(handles, 'sync');
  await handle.close();
  await destination.makeDurable?.([KEY, OTHER, GONE], signal);
  // packs/aa, packs/bb, packs, and the repository itself.
  expect(sync).toHaveBeenCalledTimes(4);
  sync.mockRejectedValueOnce(Object.assign(new Error('the disk is gone'), { code: 'EIO' }));
  await expect(destination.makeDurable?.([KEY], signal)).rejects.toBeInstanceOf(DestinationError);
  await destination.close();
});

test('what wraps a destination passes both on, and has neither where there is none', async () => {
  let calls = 0;
  const asked: string[] = [];
  const inner = {
    ...createMemoryDestination(),
    makeDurable: async (keys: readonly string[]) => {
      calls += 1;
      if (calls === 1) throw new DestinationError('unreachable', 'no network');
      await Promise.resolve(asked.push(...keys));
    },
    removeLeftovers: async () => await Promise.resolve({ files: 3, bytes: 30 }),
  };
  const copies = {
    read: () => undefined,
    replace: () => {},
    known: { complete: false, large: false, listed: [] },
  };
  const wrapped = withRetry(withAdaptiveParallelism(inner), undefined, async () => {});
  const { destination } = new FirstLook(wrapped, 'everything', copies);
  await destination.makeDurable?.([KEY, OTHER], signal);
  expect(asked).toEqual([KEY, OTHER]);
  expect(calls).toBe(2);
  expect(await destination.removeLeftovers?.(signal)).toEqual({ files: 3, bytes: 30 });
  const plain = new FirstLook(withRetry(createMemoryDestination()), 'everything', copies).destination;
  expect(plain.makeDurable).toBeUndefined();
  expect(plain.removeLeftovers).toBeUndefined();
});
