/**
 * A new file, durable and complete or not there at all, never in place of another: written under a temporary name
 * in the same directory, synced, and only then given its own name.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Stats } from 'node:fs';
import { link, open, rename, stat, unlink, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { DestinationError, errnoOf } from '../base/errors.ts';
import type { ObjectStat } from './destination.ts';
import type { DirectorySync } from './directory-sync.ts';
import type { UploadPace } from './limited.ts';

/**
 * Objects are immutable, but 0400 would guard nothing: the program never opens one for writing, and whoever may
 * change the directory can replace it anyway. On SMB and Windows it would set the read-only attribute, and such a
 * file cannot be deleted.
 */
const fileMode = 0o600;

/** One write call at most: an abort is noticed between two of them. */
const writeBytes = 4 * 1024 * 1024;

/** Names drawn for one temporary file, should all be taken: a file system that says so of every name is at fault. */
const mostNames = 20;

/** A claim lives for one stat and one rename; one this old was left by a crash. */
const claimExpiryMs = 10 * 60 * 1000;

/** `~` is in no key, so no object can be taken for a temporary file. */
const temporaryPattern = /^\.tmp-[0-9a-f]{32}~$/;

export function isTemporaryName(name: string): boolean {
  return temporaryPattern.test(name);
}

export function temporaryName(): string {
  return `.tmp-${randomBytes(16).toString('hex')}~`;
}

/** The claim on a name: the same for every writer, and a temporary file to whoever lists or cleans. */
export function claimName(name: string): string {
  return `.tmp-${createHash('sha256').update(name).digest('hex').slice(0, 32)}~`;
}

/** How a file is written that must not take the whole of a link. */
export interface FilePace {
  readonly pace: UploadPace;
  /** What the pace calls it. */
  readonly key: string;
}

/**
 * Stores `body` as the new file `path`, whose directory exists. Rejects with kind `exists` when there is such a
 * file (which is durable by then, whoever stored it), and otherwise with what the file system answered.
 */
export async function storeNewFile(
  path: string,
  body: Uint8Array,
  directories: Pick<DirectorySync, 'sync'>,
  paced: FilePace | undefined,
  signal: AbortSignal,
): Promise<ObjectStat> {
  const directory = dirname(path);
  const { temporary, handle } = await createTemporary(directory);
  try {
    await writeSynced(temporary, handle, body, paced, signal);
    signal.throwIfAborted();
    await publish(temporary, path);
  } catch (error) {
    await discard(temporary);
    // The caller takes "exists" for "stored": so the other writer's entry must be durable too.
    if (error instanceof DestinationError && error.kind === 'exists') await directories.sync(directory);
    throw error;
  }
  await discard(temporary);
  try {
    await directories.sync(directory);
    return await confirm(path, body.byteLength);
  } catch (error) {
    // Left in place, it would answer "exists" to the next try although it may not survive power loss.
    await discard(path);
    throw error;
  }
}

/**
 * A file that nobody else has. A copy of a running machine draws the names that the other one draws: what stands under
 * one is the other's, never to be removed, and the next name is drawn.
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

/** Closes the file, whatever happens. */
async function writeSynced(
  path: string,
  handle: FileHandle,
  body: Uint8Array,
  paced: FilePace | undefined,
  signal: AbortSignal,
): Promise<void> {
  try {
    for (let offset = 0; offset < body.byteLength;) {
      signal.throwIfAborted();
      const wanted = Math.min(writeBytes, body.byteLength - offset);
      const length = (await paced?.pace.next(paced.key, wanted, signal)) ?? wanted;
      const { bytesWritten } = await handle.write(body, offset, length, offset);
      if (bytesWritten === 0) throw incomplete(path, offset, body.byteLength);
      offset += bytesWritten;
      // What the system collects in memory would go over the link to a share in one burst at the end.
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
    hint: 'The drive or share loses what is written to it. Check it before relying on it.',
    details: { actual, expected },
    retry: 'now',
  });
}

/**
 * What file systems without hard links (FAT, exFAT, some FUSE and SMB mounts) answer; EISDIR is what Node makes of
 * Windows' ERROR_INVALID_FUNCTION.
 */
const noHardLinks = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EISDIR']);

/** Gives the temporary file its name, unless that is taken. A hard link, unlike a rename, never replaces. */
async function publish(temporary: string, path: string): Promise<void> {
  try {
    await link(temporary, path);
  } catch (error) {
    const errno = errnoOf(error) ?? '';
    if (noHardLinks.has(errno)) return publishUnderClaim(temporary, path);
    if (errno !== 'EEXIST') throw error;
    // Over NFS the reply to a link that worked can be lost, and the repeated call then finds its own file.
    if (await isSameFile(temporary, path)) return;
    throw await taken(path, error);
  }
}

/**
 * Without links the file is renamed while this writer holds a claim on the name, a file that only one of several
 * writers can create. Writing under the final name with exclusive creation would also never replace, but would
 * show a partial object to every reader, and leave it after a crash.
 */
async function publishUnderClaim(temporary: string, path: string): Promise<void> {
  const claim = join(dirname(path), claimName(basename(path)));
  await takeClaim(claim, temporary);
  try {
    if ((await statIfPresent(path)) !== undefined) throw await taken(path);
    await rename(temporary, path);
  } finally {
    await discard(claim);
  }
}

async function takeClaim(claim: string, temporary: string): Promise<void> {
  if (await tryClaim(claim)) return;
  // The temporary file was written just now: its time is the file system's clock.
  const expiryMs = (await stat(temporary)).mtimeMs - claimExpiryMs;
  if (await isOlder(claim, expiryMs)) {
    // Moved before it is removed, so that of two writers only one clears it and neither clears the other's new one.
    const cleared = join(dirname(claim), temporaryName());
    await moveIfPresent(claim, cleared);
    const wasOld = await isOlder(cleared, expiryMs);
    await discard(cleared);
    if (wasOld && (await tryClaim(claim))) return;
  }
  throw new DestinationError('unreachable', `Another writer is storing the same object: ${claim} is there`, {
    op: 'store',
    hint: 'Try again. A claim left by a crash is set aside after ten minutes.',
    retry: 'now',
  });
}

async function tryClaim(claim: string): Promise<boolean> {
  try {
    await (await open(claim, 'wx', fileMode)).close();
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
}

async function isOlder(path: string, timeMs: number): Promise<boolean> {
  const stats = await statIfPresent(path);
  return stats !== undefined && stats.mtimeMs < timeMs;
}

async function moveIfPresent(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
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
    const message = `${path} was there and is gone again`;
    return new DestinationError('unreachable', message, { op: 'store', hint, retry: 'now', cause });
  }
  if (!stats.isFile()) {
    const hint = 'Move what is there out of the destination.';
    return new DestinationError('unsupported', `${path} is there and is no file`, {
      op: 'store',
      hint,
      cause,
    });
  }
  const hint = 'Objects are never replaced. Delete the object first if it has to change.';
  return new DestinationError('exists', `${path} already exists`, { op: 'store', hint, cause });
}

/** What a later reader will see, asked of the name and not of the open file. */
async function confirm(path: string, expected: number): Promise<ObjectStat> {
  const stats = await statIfPresent(path);
  if (stats?.size !== expected) throw incomplete(path, stats?.size ?? 0, expected);
  return { size: stats.size, modifiedMs: Math.floor(stats.mtimeMs) };
}

/**
 * Removes a file if it can. A failure is not reported: the caller has a more telling error or has already stored
 * its object, and what is left is removed by `removeStaleTemporaries`.
 */
async function discard(path: string): Promise<void> {
  await Promise.allSettled([unlink(path)]);
}
