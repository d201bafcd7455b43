/**
 * A directory as a destination: the key is the relative path, and every object is one file.
 *
 * File calls use Node's thread pool and promises: packs are large and calls few, and the calling thread stays free.
 * Deletes are made durable as well, so that what a caller removes in order stays removed in order.
 */
import { constants, type Dirent } from 'node:fs';
import { open, stat, unlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DestinationError, errnoOf } from '../../base/errors.ts';
import { toldAsWait } from '../../base/waits.ts';
import { extentOf } from '../byte-range.ts';
import type { ByteRange, Destination, ListedObject, ObjectStat } from '../destination.ts';
import { createDirectorySync, createDurably } from '../directory-sync.ts';
import { storageError } from './errno.ts';
import { givenOwner, type GivenOwner } from './given-owner.ts';
import { checkKey, checkPrefix, isKeyPart } from '../key.ts';
import type { UploadPace } from '../limited.ts';
import { absentErrnos, walkFiles } from './walk.ts';
import { isTemporaryName, storeNewFile, temporaryName } from '../new-file.ts';
import { removeStaleDirectories } from './stale-directories.ts';
import { UnreadFiles } from './unread-files.ts';

export interface LocalOptions {
  /** Creates the directory, private to the user, when it is absent. */
  readonly create?: boolean;
  /** Limits the speed of puts; without it they run as fast as possible. */
  readonly pace?: UploadPace | undefined;
}

const pageLength = 1000;

/** Largest single read call; an abort is noticed between two of them. */
const readBytes = 4 * 1024 * 1024;

/** libuv's thread pool has four threads by default, and all file calls share them. */
const maxParallel = 4;

/** Longer than any put takes, even on a laptop that slept in between. */
const staleAfterMs = 24 * 60 * 60 * 1000;

/**
 * Opens the directory. Rejects with `not-found` when it is absent (unless `create`), `denied` when it may not be
 * read, and `unsupported` when it is a file.
 */
export async function openLocalDestination(
  directory: string,
  options: LocalOptions = {},
): Promise<Destination> {
  const root = resolve(directory);
  try {
    if (options.create === true) await createDurably(root);
    if (!(await stat(root)).isDirectory()) throw notDirectory(root);
    // Kept open as long as the destination is: the mount stays in use, and no other directory can get the same inode
    // number.
    const handle = await open(root, 'r');
    try {
      const { dev, ino } = await handle.stat();
      return localDestination(root, handle, { dev, ino }, options.pace, await givenOwner(handle));
    } catch (error) {
      await handle.close();
      throw error;
    }
  } catch (error) {
    throw storageError(error, { op: 'open', directory: root });
  }
}

function notDirectory(root: string): DestinationError {
  const hint = 'Name a directory.';
  return new DestinationError('unsupported', `Cannot open ${root}: it is not a directory`, {
    op: 'open',
    hint,
  });
}

interface Identity {
  readonly dev: number;
  readonly ino: number;
}

function localDestination(
  root: string,
  handle: FileHandle,
  identity: Identity,
  pace: UploadPace | undefined,
  owner: GivenOwner | undefined,
): Destination {
  const directories = createDirectorySync(root, owner?.giveDirectory);
  const unread = new UnreadFiles(root);
  const inFlight = new Set<Promise<unknown>>();

  /**
   * Runs file calls, which cannot be interrupted. An abort rejects at once; the call under way still ends and cleans
   * up, and `close` waits for that.
   */
  async function run<T>(
    op: string,
    key: string | undefined,
    signal: AbortSignal,
    work: () => Promise<T>,
  ): Promise<T> {
    signal.throwIfAborted();
    const running = work();
    inFlight.add(running);
    try {
      // A put that the limit slows down is not waiting for the file system, and must not be reported as that.
      if (pace?.limited === true && op === 'store') return await untilAborted(running, signal);
      return await toldAsWait('file_system', async () => await untilAborted(running, signal));
    } catch (error) {
      signal.throwIfAborted();
      throw storageError(error, { op, directory: root, ...(key === undefined ? {} : { key }) });
    } finally {
      void Promise.allSettled([running]).then(() => inFlight.delete(running));
    }
  }

  /**
   * Rejects when the path leads to another directory than was opened, such as the empty mount point of an unplugged
   * drive.
   */
  async function expectSameRoot(): Promise<void> {
    const now = await stat(root).catch((error: unknown) => {
      if (absentErrnos.has(errnoOf(error) ?? '')) return undefined;
      throw error;
    });
    if (now?.dev === identity.dev && now.ino === identity.ino) return;
    throw new DestinationError('unreachable', `${root} is no longer the directory that was opened`, {
      op: 'open',
      hint: 'Check that the drive or share is still connected and mounted.',
      retry: 'later',
    });
  }

  /** Whether the error means that the name does not exist. Rejects when the destination itself is gone. */
  async function meansAbsent(error: unknown): Promise<boolean> {
    if (!absentErrnos.has(errnoOf(error) ?? '')) return false;
    await expectSameRoot();
    return true;
  }

  async function put(key: string, body: Uint8Array, signal: AbortSignal): Promise<ObjectStat> {
    checkKey(key);
    return run('store', key, signal, async () => {
      await expectSameRoot();
      const path = join(root, key);
      const store = async (): Promise<ObjectStat> => {
        await directories.ensure(dirname(path));
        const stored = await storeNewFile(
          path,
          body,
          directories,
          pace && { pace, key },
          signal,
          owner?.giveFile,
        );
        // The put took a while, in which the path may have come to lead elsewhere. As the object is stored, a failure
        // of the check itself proves nothing: it is repeated once.
        await expectSameRoot().catch(expectSameRoot);
        return stored;
      };
      try {
        return await store();
      } catch (error) {
        // A directory known to exist was removed by somebody else: prune does so with one that was empty for a day.
        if (errnoOf(error) === 'ENOENT') directories.forget();
        // Any failure may have come from the destination being gone, which is then the better error.
        await expectSameRoot();
        if (await isThere(dirname(path))) throw error;
        return await store();
      }
    });
  }

  async function get(key: string, range: ByteRange | undefined, signal: AbortSignal): Promise<Buffer> {
    checkKey(key);
    return run('read', key, signal, async () => {
      try {
        const bytes = await readFile(root, key, range, signal);
        unread.read();
        return bytes;
      } catch (error) {
        if (await meansAbsent(error)) throw absent('read', key, root, error);
        const damage = unread.damage(key, error);
        if (damage !== undefined) await expectSameRoot();
        throw damage ?? error;
      }
    });
  }

  async function statObject(key: string, signal: AbortSignal): Promise<ObjectStat> {
    checkKey(key);
    return run('inspect', key, signal, async () => {
      try {
        const stats = await stat(join(root, key));
        if (!stats.isFile()) throw absent('inspect', key, root);
        return { size: stats.size, modifiedMs: Math.floor(stats.mtimeMs) };
      } catch (error) {
        throw (await meansAbsent(error)) ? absent('inspect', key, root, error) : error;
      }
    });
  }

  async function* list(prefix: string, signal: AbortSignal): AsyncGenerator<readonly ListedObject[]> {
    checkPrefix(prefix);
    const start = prefix.slice(0, Math.max(0, prefix.lastIndexOf('/')));
    const firstPart = prefix.slice(start === '' ? 0 : start.length + 1);
    const wanted = ({ name }: Dirent, directory: string): boolean =>
      isKeyPart(name) && (directory !== start || name.startsWith(firstPart));
    const files = walkFiles(root, start, wanted, signal);
    let page: ListedObject[] = [];
    for (;;) {
      const step = await run('list', undefined, signal, () => files.next());
      if (step.done === true) break;
      for (const { key, stats } of step.value) {
        page.push({ key, size: stats.size, modifiedMs: Math.floor(stats.mtimeMs) });
        if (page.length < pageLength) continue;
        yield page;
        page = [];
      }
    }
    // Checked at the end, so that it holds for the whole list.
    await run('list', undefined, signal, expectSameRoot);
    if (page.length > 0) yield page;
  }

  async function remove(key: string, signal: AbortSignal): Promise<void> {
    checkKey(key);
    await run('delete', key, signal, async () => {
      const path = join(root, key);
      try {
        await unlink(path);
      } catch (error) {
        if (await meansAbsent(error)) return;
        throw error;
      }
      await directories.sync(dirname(path));
    });
  }

  async function makeDurable(keys: readonly string[], signal: AbortSignal): Promise<void> {
    const folders = new Set<string>();
    for (const key of keys) {
      checkKey(key);
      // The files themselves were synced before they got their names, so only directories need it.
      for (let at = dirname(join(root, key)); at !== root; at = dirname(at)) folders.add(at);
      folders.add(root);
    }
    await run('store', undefined, signal, async () => {
      for (const folder of folders) {
        try {
          await directories.sync(folder);
        } catch (error) {
          if (!(await meansAbsent(error))) throw error;
        }
      }
    });
  }

  async function close(): Promise<void> {
    await Promise.allSettled(inFlight);
    await handle.close();
  }

  return {
    properties: {
      url: pathToFileURL(root).href,
      conditionalCreate: true,
      canDelete: true,
      maxParallel,
      remote: false,
    },
    put,
    get,
    stat: statObject,
    list,
    delete: remove,
    removeLeftovers: async (signal) => {
      const { removedFiles: files, removedBytes: bytes } = await removeStaleTemporaries(root, signal);
      return { files, bytes };
    },
    makeDurable,
    close,
  };
}

async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function absent(op: string, key: string, root: string, cause?: unknown): DestinationError {
  return new DestinationError('not-found', `Cannot ${op} ${key} in ${root}: there is no such object`, {
    op,
    hint: 'Check that this is the right destination, and that nothing was removed from it.',
    details: { key, directory: root },
    cause,
  });
}

async function readFile(
  root: string,
  key: string,
  range: ByteRange | undefined,
  signal: AbortSignal,
): Promise<Buffer> {
  // Non-blocking, so that opening a pipe or another special file does not wait for its other end.
  const handle = await open(join(root, key), constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw absent('read', key, root);
    const { size } = stats;
    const { start, length } = extentOf(range, size, key);
    // Not allocated from Node's shared pool: the bytes may be transferred to another thread together with their memory.
    const bytes = Buffer.allocUnsafeSlow(length);
    for (let filled = 0; filled < length;) {
      signal.throwIfAborted();
      const wanted = Math.min(readBytes, length - filled);
      const { bytesRead } = await handle.read(bytes, filled, wanted, start + filled);
      if (bytesRead === 0) throw cutShort(key, start + filled, size);
      filled += bytesRead;
    }
    return bytes;
  } finally {
    await handle.close();
  }
}

function cutShort(key: string, actual: number, expected: number): DestinationError {
  return new DestinationError('corrupt-reply', `${key} ended after ${actual} of ${expected} bytes`, {
    op: 'read',
    hint: 'The drive or share returned less than the whole file. Check it, then run a check of the repository.',
    details: { key, actual, expected },
    retry: 'now',
  });
}

async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    throw error;
  }
}

/** What `removeStaleTemporaries` removed. */
export interface StaleTemporaries {
  readonly removedFiles: number;
  readonly removedBytes: number;
}

/**
 * Removes what puts left behind when their process died: temporary files at least 24 hours older than a file made just
 * now, by the file system's clock alone. Directories that have been empty for as long are removed too: every run
 * creates one for its lease.
 */
export async function removeStaleTemporaries(
  directory: string,
  signal: AbortSignal,
): Promise<StaleTemporaries> {
  const root = resolve(directory);
  try {
    const staleMs = (await probeClock(root)) - staleAfterMs;
    let removedFiles = 0;
    let removedBytes = 0;
    const wanted = (entry: Dirent): boolean =>
      entry.isFile() ? isTemporaryName(entry.name) : isKeyPart(entry.name);
    for await (const files of walkFiles(root, '', wanted, signal)) {
      for (const { key, stats } of files) {
        signal.throwIfAborted();
        // A symbolic link with a key's name is wanted too, since it may lead to a directory.
        if (!isTemporaryName(basename(key)) || stats.mtimeMs > staleMs) continue;
        await unlink(join(root, key));
        removedFiles += 1;
        removedBytes += stats.size;
      }
    }
    await removeStaleDirectories(root, staleMs, signal);
    return { removedFiles, removedBytes };
  } catch (error) {
    throw storageError(error, { op: 'clean', directory: root });
  }
}

/** The file system's current time, which on a share may differ from that of this machine. */
async function probeClock(root: string): Promise<number> {
  const probe = join(root, temporaryName());
  const handle = await open(probe, 'wx', 0o600);
  try {
    return (await handle.stat()).mtimeMs;
  } finally {
    await handle.close();
    await unlink(probe);
  }
}
