/** Reads and creates files that only the agent's own user may read. */
import { randomBytes } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { link, open, rm, stat, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { accessProblem, openNewPrivate } from '../../base/private-files.ts';
import { causeText } from '../../base/errno-words.ts';
import { StateError, errnoOf } from '../../base/errors.ts';

/**
 * The content of a private file of exactly `size` bytes; undefined when there is none.
 * @throws {StateError} READ_ERROR when the file is a link or cannot be read, STATE_NOT_PRIVATE when it belongs to
 * another user or is open to others, STATE_DAMAGED when it is not a regular file of that size
 */
export async function readPrivateFile(path: string, size: number): Promise<Buffer | undefined> {
  return await readPrivate(path, (stats) => stats.size === size, {
    wanted: `a file of ${size} bytes`,
    hint: 'Restore it from a copy. If you have none, remove it and create new API keys: Holdfast makes a new file.',
  });
}

/** The words of the error about a file that is not as expected. */
export interface PrivateFileWords {
  readonly wanted: string;
  readonly hint: string;
}

/**
 * The content of a private file whose stats `fits` accepts; undefined when there is none.
 * @throws {StateError} as `readPrivateFile`
 */
export async function readPrivate(
  path: string,
  fits: (stats: Stats) => boolean,
  words: PrivateFileWords,
): Promise<Buffer | undefined> {
  let file: FileHandle;
  try {
    // Opened without blocking: a pipe at this path would hold up the start for ever.
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return undefined;
    const hint = errnoOf(cause) === 'ELOOP' ? 'It is a symbolic link. Replace it with the file itself.' : '';
    throw new StateError('READ_ERROR', `${path} cannot be read: ${causeText(cause)}`, {
      hint,
      cause,
    });
  }
  try {
    const stats = await file.stat();
    requirePrivate(path, stats, 600, file.fd);
    const content = stats.isFile() && fits(stats) ? await file.readFile() : undefined;
    if (content?.length !== stats.size) {
      throw new StateError('STATE_DAMAGED', `${path} is damaged: it is not ${words.wanted}`, {
        hint: words.hint,
      });
    }
    return content;
  } finally {
    await file.close();
  }
}

/**
 * Creates a private file, either whole and durable or not at all. False when the file exists already.
 * @throws {StateError} WRITE_ERROR
 */
export async function createPrivateFile(path: string, content: Uint8Array): Promise<boolean> {
  const temporary = `${path}.${randomBytes(8).toString('hex')}`;
  try {
    // Exclusive, so that it follows no link.
    const file = await openNewPrivate(temporary);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    // Unlike a rename, a link never replaces a file that another process has just created.
    await link(temporary, path);
    await syncDirectory(dirname(path));
    return true;
  } catch (cause) {
    if (errnoOf(cause) === 'EEXIST') return false;
    throw new StateError('WRITE_ERROR', `${path} cannot be written: ${causeText(cause)}`, {
      hint: 'Check that the state directory is writable and that the disk has space.',
      cause,
    });
  } finally {
    await rm(temporary, { force: true });
  }
}

/**
 * Checks that a directory belongs to the agent's user and is closed to others.
 * @throws {StateError} READ_ERROR, STATE_NOT_PRIVATE
 */
export async function requirePrivateDirectory(path: string): Promise<void> {
  let stats: Stats;
  try {
    stats = await stat(path);
  } catch (cause) {
    throw new StateError('READ_ERROR', `The directory ${path} cannot be used: ${causeText(cause)}`, {
      hint: 'Create it, or set HOLDFAST_STATE_DIR to another directory.',
      cause,
    });
  }
  requirePrivate(path, stats, 700);
}

/** @param wanted the mode to recommend, written in octal digits */
function requirePrivate(
  path: string,
  { uid, mode }: Pick<Stats, 'uid' | 'mode'>,
  wanted: 600 | 700,
  opened?: number,
): void {
  const open = accessProblem(path, wanted === 600 ? 'file' : 'directory', opened);
  if (open !== undefined)
    throw new StateError('STATE_NOT_PRIVATE', `${path} ${open.text}`, {
      hint: `If you did not intend that, assume that others know its contents. Then run: ${open.command}`,
    });
  if (process.platform === 'win32') return;
  if (process.geteuid !== undefined && uid !== process.geteuid()) {
    throw new StateError('STATE_NOT_PRIVATE', `${path} belongs to another user (uid ${uid})`, {
      hint: 'Run Holdfast as that user, or set HOLDFAST_STATE_DIR to another directory.',
    });
  }
  if ((mode & 0o077) !== 0) {
    const shown = (mode & 0o7777).toString(8);
    throw new StateError('STATE_NOT_PRIVATE', `${path} is open to other users (mode ${shown})`, {
      hint: `If you did not intend that, assume that others know its contents. Then run: chmod ${wanted} ${path}`,
    });
  }
}

async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
