/** Directory entries that survive power loss: a new name is only durable once its directory is synced. */
import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errnoOf } from '../base/errors.ts';
import { makeDirectories } from '../base/make-directories.ts';

export interface DirectorySync {
  /** Resolves once every entry that `directory` has at the time of the call is durable. */
  sync(directory: string): Promise<void>;
  /** Makes `directory`, which lies in the root, exist durably, with its parents. */
  ensure(directory: string): Promise<void>;
  /** Forgets which directories exist; for when one turns out to be gone. */
  forget(): void;
}

/** Errors of file systems that cannot sync a directory. Entries are then as durable as that file system makes them. */
const noDirectorySync = new Set(['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

async function syncDirectory(directory: string): Promise<void> {
  // Windows opens directories but refuses to flush them; NTFS journals its entries itself.
  if (process.platform === 'win32') return;
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } catch (error) {
    if (!noDirectorySync.has(errnoOf(error) ?? '')) throw error;
  } finally {
    await handle.close();
  }
}

/** Creates `directory` and its parents, if absent, so that they survive power loss; private to the user. */
export async function createDurably(directory: string): Promise<void> {
  const first = await makeDirectories(directory);
  if (first === undefined) return;
  for (let created = directory; ; created = dirname(created)) {
    const parent = dirname(created);
    await syncDirectory(parent);
    if (created === first || parent === created) return;
  }
}

/** @param made called for each directory that was just made, before anything is stored in it */
export function createDirectorySync(
  root: string,
  made?: (directory: string) => Promise<void>,
): DirectorySync {
  const running = new Map<string, Promise<void>>();
  const waiting = new Map<string, Promise<void>>();
  const known = new Map<string, Promise<void>>();

  // A sync that has begun may miss an entry made since, so callers join the next one. At most one sync runs and one
  // waits per directory, however many deletes or puts there are.
  function sync(directory: string): Promise<void> {
    const joined = waiting.get(directory);
    if (joined !== undefined) return joined;
    const next = startAfter(running.get(directory), directory);
    waiting.set(directory, next);
    return next;
  }

  async function startAfter(previous: Promise<void> | undefined, directory: string): Promise<void> {
    // A failure of the previous sync concerns only those who wait for it.
    await Promise.allSettled([previous]);
    const work = syncDirectory(directory);
    running.set(directory, work);
    waiting.delete(directory);
    try {
      await work;
    } finally {
      if (running.get(directory) === work) running.delete(directory);
    }
  }

  // The parent is synced even when the directory already exists: whoever created it may not have synced it yet.
  async function make(directory: string): Promise<void> {
    const parent = dirname(directory);
    await ensure(parent);
    try {
      await mkdir(directory, { mode: 0o700 });
      await made?.(directory);
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') throw error;
    }
    await sync(parent);
  }

  async function ensure(directory: string): Promise<void> {
    if (directory === root) return;
    const making = known.get(directory) ?? make(directory);
    known.set(directory, making);
    try {
      await making;
    } catch (error) {
      if (known.get(directory) === making) known.delete(directory);
      throw error;
    }
  }

  return { sync, ensure, forget: () => known.clear() };
}
