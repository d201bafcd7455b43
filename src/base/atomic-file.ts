import { randomBytes } from 'node:crypto';
import { open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { causeText } from './errno-words.ts';
import { errnoOf, StateError } from './errors.ts';
import { despiteHolders } from './held-files.ts';
import { makeDirectories } from './make-directories.ts';
import { openNewPrivate } from './private-files.ts';

/**
 * Replaces a file as a whole, durably: temporary file, fsync, rename, fsync of the directory. Private: mode 0600, directory 0700.
 * @throws {StateError}
 */
export async function writeFileAtomically(path: string, content: string | Uint8Array): Promise<void> {
  const directory = dirname(path);
  const temporary = join(directory, `.tmp-${randomBytes(8).toString('hex')}`);
  try {
    await makeDirectories(directory);
    const file = await openNewPrivate(temporary);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await despiteHolders(async () => await rename(temporary, path));
    await syncDirectory(directory);
  } catch (cause) {
    // Even if the clean-up fails, the first failure is the one to report.
    await Promise.allSettled([rm(temporary, { force: true })]);
    throw new StateError('WRITE_ERROR', `Cannot write ${path}: ${causeText(cause)}`, {
      hint: 'Check that the directory is writable and that the disk has space.',
      cause,
    });
  }
}

/** Removes a file durably; a missing file is no error. @throws {StateError} */
export async function removeFileDurably(path: string): Promise<void> {
  try {
    await rm(path, { force: true });
    await syncDirectory(dirname(path));
  } catch (cause) {
    throw new StateError('WRITE_ERROR', `Cannot remove ${path}: ${causeText(cause)}`, {
      hint: 'Check that its directory is writable.',
      cause,
    });
  }
}

async function syncDirectory(directory: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The content of a file, or undefined when there is none. */
export async function readFileIfPresent(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return undefined;
    throw new StateError('READ_ERROR', `Cannot read ${path}: ${causeText(cause)}`, {
      cause,
    });
  }
}

/** The names in a directory; none when it does not exist. @throws a system error when it cannot be read */
export async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
}
