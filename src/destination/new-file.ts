/**
 * Stores a new file that is durable and complete or does not exist, and that never replaces another. It is written
 * under a temporary name in the same directory, synced, and only then given its own name.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Stats } from 'node:fs';
import { link, open, rename, stat, unlink, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { DestinationError, errnoOf } from '../base/errors.ts';
import { despiteHolders } from '../base/held-files.ts';
import type { ObjectStat } from './destination.ts';
import type { DirectorySync } from './directory-sync.ts';
import type { UploadPace } from './limited.ts';

/**
 * Objects are immutable, but 0400 would guard nothing: the program never opens one for writing, and whoever may
 * change the directory can replace it anyway. On SMB and Windows it would set the read-only attribute, and such a
 * file cannot be deleted.
 */
const fileMode = 0o600;

/** Largest single write call; an abort is noticed between two of them. */
const writeBytes = 4 * 1024 * 1024;

/** The most names tried for one temporary file. A file system on which all of them are taken is at fault. */
const mostNames = 20;

/** A claim lives for one stat and one rename; one of this age was left by a crash. */
const claimExpiryMs = 10 * 60 * 1000;

/** Keys never contain `~`, so no object can be taken for a temporary file. */
const temporaryPattern = /^\.tmp-[0-9a-f]{32}~$/;

export function isTemporaryName(name: string): boolean {
  return temporaryPattern.test(name);
}

export function temporaryName(): string {
  return `.tmp-${randomBytes(16).toString('hex')}~`;
}

/**
 * The name of the claim on an object's name. All writers compute the same one, and listing and cleaning treat it as a
 * temporary file.
 */
export function claimName(name: string): string {
  return `.tmp-${createHash('sha256').update(name).digest('hex').slice(0, 32)}~`;
}

/** The pace at which a file is written that must not use up a whole link. */
export interface FilePace {
  readonly pace: UploadPace;
  /** The object's key, by which the pace knows it. */
  readonly key: string;
}

/** Prepares a file that was just created, before it gets its name. */
export type Prepare = (file: FileHandle) => Promise<void>;

/**
 * Stores `body` as the new file `path`, whose directory exists. Rejects with kind `exists` when there is such a file,
 * which is durable by then, whoever stored it; otherwise with the file system's error.
 */
export async function storeNewFile(
  path: string,
  body: Uint8Array,
  directories: Pick<DirectorySync, 'sync'>,
  paced: FilePace | undefined,
  signal: AbortSignal,
  prepare?: Prepare,
): Promise<ObjectStat> {
  const directory = dirname(path);
  const { temporary, handle } = await createTemporary(directory);
  try {
    await writeSynced(temporary, handle, body, paced, signal, prepare);
    signal.throwIfAborted();
    await publish(temporary, path, prepare);
  } catch (error) {
    await discard(temporary);
    // The caller takes "exists" for "stored", so the other writer's entry must be durable too.
    if (error instanceof DestinationError && error.kind === 'exists') await directories.sync(directory);
    throw error;
  }
  await discard(temporary);
  try {
    await directories.sync(directory);
    return await confirm(path, body.byteLength);
  } catch (error) {
    // If it stayed, the next try would get "exists" although the file may not survive a power loss.
    await discard(path);
    throw error;
  }
}

/**
 * Creates a file under an unused temporary name. A copy of a running machine draws the same random names: a file that
 * already has the name belongs to that copy and must never be removed, so another name is drawn.
 */
async function createTemporary(
  directory: string,
): Promise<{ readonly temporary: string; readonly handle: FileHandle }> {
  for (let left = mostNames; ; left -= 1) {
    const temporary = join(directory, temporaryName());
    try {
      return { temporary, handle: await open(temporary, 'wx', fileMode) };
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST' || left === 1) throw error;
    }
  }
}

/** Writes and syncs the file, and closes it in any case. */
async function writeSynced(
  path: string,
  handle: FileHandle,
  body: Uint8Array,
  paced: FilePace | undefined,
  signal: AbortSignal,
  prepare: Prepare | undefined,
): Promise<void> {
  try {
    await prepare?.(handle);
    for (let offset = 0; offset < body.byteLength;) {
      signal.throwIfAborted();
      const wanted = Math.min(writeBytes, body.byteLength - offset);
      const length = (await paced?.pace.next(paced.key, wanted, signal)) ?? wanted;
      const { bytesWritten } = await handle.write(body, offset, length, offset);
      if (bytesWritten === 0) throw incomplete(path, offset, body.byteLength);
      offset += bytesWritten;
      // Without a sync after each piece, the system would collect them in memory and send them to a share in one burst
      // at the end.
      if (paced?.pace.limited === true && offset < body.byteLength) await handle.datasync();
    }
    signal.throwIfAborted();
    await handle.sync();
    const { size } = await handle.stat();
    if (size !== body.byteLength) throw incomplete(path, size, body.byteLength);
  } finally {
    await handle.close();
  }
}

function incomplete(path: string, actual: number, expected: number): DestinationError {
  return new DestinationError('corrupt-reply', `${path} has ${actual} bytes after writing ${expected}`, {
    op: 'store',
    hint: 'The drive or share loses data. Check it before relying on it.',
    details: { actual, expected },
    retry: 'now',
  });
}

/**
 * Errors of file systems without hard links: FAT, exFAT, some FUSE and SMB mounts. EISDIR is Node's translation of
 * Windows' ERROR_INVALID_FUNCTION.
 */
const noHardLinks = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EISDIR']);

/** Gives the temporary file its final name unless that is taken. A hard link, unlike a rename, never replaces. */
async function publish(temporary: string, path: string, prepare: Prepare | undefined): Promise<void> {
  try {
    await link(temporary, path);
  } catch (error) {
    const errno = errnoOf(error) ?? '';
    if (noHardLinks.has(errno)) return publishUnderClaim(temporary, path, prepare);
    if (errno !== 'EEXIST') throw error;
    // Over NFS the reply to a successful link can be lost; the repeated call then finds its own file.
    if (await isSameFile(temporary, path)) return;
    throw await taken(path, error);
  }
}

/**
 * Without hard links the file is renamed while this writer holds a claim on the name: a file that only one of several
 * writers can create. Creating the file exclusively under its final name would never replace anything either, but
 * readers would see a partial object, and a crash would leave it behind.
 */
async function publishUnderClaim(
  temporary: string,
  path: string,
  prepare: Prepare | undefined,
): Promise<void> {
  const claim = join(dirname(path), claimName(basename(path)));
  await takeClaim(claim, temporary, prepare);
  try {
    if ((await statIfPresent(path)) !== undefined) throw await taken(path);
    await despiteHolders(async () => await rename(temporary, path));
  } finally {
    await discard(claim);
  }
}

async function takeClaim(claim: string, temporary: string, prepare: Prepare | undefined): Promise<void> {
  if (await tryClaim(claim, prepare)) return;
  // The temporary file was written just now, so its time is the current time by the file system's clock.
  const expiryMs = (await stat(temporary)).mtimeMs - claimExpiryMs;
  if (await isOlder(claim, expiryMs)) {
    // The claim is renamed before it is removed: of two writers only one then removes the old claim, and neither
    // removes the new claim of the other.
    const cleared = join(dirname(claim), temporaryName());
    await moveIfPresent(claim, cleared);
    const wasOld = await isOlder(cleared, expiryMs);
    await discard(cleared);
    if (wasOld && (await tryClaim(claim, prepare))) return;
  }
  throw new DestinationError('unreachable', `Another writer is storing the same object: ${claim} exists`, {
    op: 'store',
    hint: 'Try again. A claim left by a crash is ignored after ten minutes.',
    retry: 'now',
  });
}

async function tryClaim(claim: string, prepare: Prepare | undefined): Promise<boolean> {
  let file: FileHandle;
  try {
    file = await open(claim, 'wx', fileMode);
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
  try {
    await prepare?.(file);
  } finally {
    await file.close();
  }
  return true;
}

async function isOlder(path: string, timeMs: number): Promise<boolean> {
  const stats = await statIfPresent(path);
  return stats !== undefined && stats.mtimeMs < timeMs;
}

async function moveIfPresent(from: string, to: string): Promise<void> {
  try {
    await despiteHolders(async () => await rename(from, to));
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}

async function isSameFile(a: string, b: string): Promise<boolean> {
  const [first, second] = await Promise.all([statIfPresent(a), statIfPresent(b)]);
  return first !== undefined && first.dev === second?.dev && first.ino === second.ino;
}

async function statIfPresent(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** The error for a name that is taken: `exists` for an object, `unsupported` for a directory or device. */
async function taken(path: string, cause?: unknown): Promise<DestinationError> {
  const stats = await statIfPresent(path);
  if (stats === undefined) {
    const hint = 'Try again, and check that nothing else changes the destination.';
    const message = `${path} appeared and disappeared again`;
    return new DestinationError('unreachable', message, { op: 'store', hint, retry: 'now', cause });
  }
  if (!stats.isFile()) {
    const hint = 'Move it out of the destination.';
    return new DestinationError('unsupported', `${path} exists but is not a file`, {
      op: 'store',
      hint,
      cause,
    });
  }
  const hint = 'Objects are never replaced. Delete the object first if it has to change.';
  return new DestinationError('exists', `${path} already exists`, { op: 'store', hint, cause });
}

/** Checks what later readers will see: it asks for the file by name instead of using the open handle. */
async function confirm(path: string, expected: number): Promise<ObjectStat> {
  const stats = await statIfPresent(path);
  if (stats?.size !== expected) throw incomplete(path, stats?.size ?? 0, expected);
  return { size: stats.size, modifiedMs: Math.floor(stats.mtimeMs) };
}

/**
 * Removes a file if possible. Failures are not reported: the caller either has a more telling error or has already
 * stored its object, and `removeStaleTemporaries` removes what is left.
 */
async function discard(path: string): Promise<void> {
  await Promise.allSettled([unlink(path)]);
}
