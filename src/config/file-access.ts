/** Reads files that decide what the agent does, and refuses those that other users could change or read. */
import { constants, type Stats } from 'node:fs';
import { open, stat, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { accessProblem, type AccessProblem } from '../base/private-files.ts';
import { causeText } from '../base/errno-words.ts';
import { errnoOf } from '../base/errors.ts';
import { ConfigError } from './config-error.ts';
import { LARGEST_CONFIG } from './config-text.ts';

/**
 * The content of a configuration file; undefined when there is none.
 * @param use a `draft` is not in effect, so others may read and change it
 * @throws {ConfigError} CONFIG_UNREADABLE, CONFIG_UNSAFE
 */
export async function readConfigBytes(
  path: string,
  use: 'in-force' | 'draft' = 'in-force',
): Promise<Buffer | undefined> {
  // Non-blocking, so that opening a pipe does not wait for a writer.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  let file: FileHandle;
  try {
    file = await open(path, flags);
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return undefined;
    throw unreadable(path, cause);
  }
  try {
    const stats = await file.stat();
    requireRegular(path, stats);
    if (use === 'in-force') {
      requirePrivate(path, stats, file.fd);
      await requireOwnDirectory(dirname(path));
    }
    if (stats.size > LARGEST_CONFIG) throw tooLarge(path);
    return await file.readFile();
  } catch (cause) {
    if (cause instanceof ConfigError) throw cause;
    throw unreadable(path, cause);
  } finally {
    await file.close();
  }
}

function unreadable(path: string, cause: unknown): ConfigError {
  const errno = errnoOf(cause) ?? 'unknown error';
  const [what, hint] = {
    ELOOP: ['is a symbolic link', 'Replace it with the file itself, or give the real file with --config.'],
    EACCES: [
      'cannot be read: permission denied',
      `Give it to the user that the agent runs as: chown USER ${path}; chmod 600 ${path}`,
    ],
    EISDIR: ['is a directory', 'Put a file in its place.'],
    ENOTDIR: ['is not in a directory', 'Check the path.'],
  }[errno] ?? [`cannot be read: ${causeText(cause)}`, 'Check the path and the disk.'];
  return new ConfigError('CONFIG_UNREADABLE', `The configuration ${path} ${what}`, {
    hint: hint ?? '',
    details: { file: path },
    cause,
  });
}

function tooLarge(path: string): ConfigError {
  return new ConfigError('CONFIG_UNREADABLE', `The configuration ${path} is larger than 1 MiB`, {
    hint: 'Check that this is the configuration file.',
    details: { file: path },
  });
}

function requireRegular(path: string, stats: Stats): void {
  if (stats.isFile()) return;
  const what = stats.isDirectory() ? 'a directory' : 'not a regular file';
  throw new ConfigError('CONFIG_UNREADABLE', `The configuration ${path} is ${what}`, {
    hint: 'Put a file in its place.',
    details: { file: path },
  });
}

/** The file contains commands that the agent runs, and addresses that only its owner should know. */
function requirePrivate(path: string, stats: Stats, opened: number): void {
  if (process.platform === 'win32') {
    const open = accessProblem(path, 'file', opened);
    if (open !== undefined) throw unsafeOnWindows('The configuration', path, open);
    return;
  }
  if (!isTrusted(stats)) throw foreign('The configuration', path, stats);
  if ((stats.mode & 0o077) !== 0) {
    const what = (stats.mode & 0o022) === 0 ? 'read' : 'changed';
    throw unsafe(
      `The configuration ${path} can be ${what} by other users (mode ${octal(stats)})`,
      `chmod 600 ${path}`,
      path,
    );
  }
}

async function requireOwnDirectory(directory: string): Promise<void> {
  if (process.platform === 'win32') {
    const open = accessProblem(directory, 'directory');
    // As elsewhere, others may see which files there are.
    if (open !== undefined && open.kind !== 'read')
      throw unsafeOnWindows('The directory of the configuration,', directory, open);
    return;
  }
  const stats = await stat(directory);
  if (!isTrusted(stats)) throw foreign('The directory of the configuration', directory, stats);
  if ((stats.mode & 0o022) !== 0) {
    const what = `The directory of the configuration, ${directory}, can be changed by other users (mode ${octal(stats)})`;
    throw unsafe(what, `chmod go-w ${directory}`, directory);
  }
}

/** The largest secret file that is accepted, in bytes. */
const LARGEST_SECRET = 65_536;

/**
 * The content of a file with a secret. Links are followed, as containers mount secrets as links.
 * @throws {ConfigError} SECRET_UNAVAILABLE, SECRET_UNSAFE
 */
export async function readSecretFile(
  path: string,
  options: { readonly checkMode: boolean },
): Promise<Buffer> {
  let file: FileHandle;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (cause) {
    throw noSecret(path, `cannot be read: ${causeText(cause)}`, cause);
  }
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw noSecret(path, 'is not a regular file');
    if (options.checkMode) requirePrivateSecret(path, stats, file.fd);
    if (stats.size > LARGEST_SECRET) throw noSecret(path, 'is larger than 64 KiB');
    return await file.readFile();
  } catch (cause) {
    if (cause instanceof ConfigError) throw cause;
    throw noSecret(path, `cannot be read: ${causeText(cause)}`, cause);
  } finally {
    await file.close();
  }
}

function requirePrivateSecret(path: string, stats: Stats, opened: number): void {
  if (process.platform === 'win32') {
    const open = accessProblem(path, 'file', opened);
    if (open === undefined) return;
    throw new ConfigError('SECRET_UNSAFE', `The secret file ${path} ${open.text}`, {
      hint: `Run: ${open.command}`,
      details: { file: path },
    });
  }
  if (!isTrusted(stats)) {
    throw new ConfigError(
      'SECRET_UNSAFE',
      `The secret file ${path} belongs to user ${stats.uid}, not to the user that the agent runs as`,
      {
        hint: `Give it to that user: chown ${ownId()} ${path}`,
        details: { file: path },
      },
    );
  }
  if ((stats.mode & 0o077) !== 0) {
    throw new ConfigError(
      'SECRET_UNSAFE',
      `The secret file ${path} is open to other users (mode ${octal(stats)})`,
      {
        hint: `Run: chmod 600 ${path}`,
        details: { file: path },
      },
    );
  }
}

function noSecret(path: string, what: string, cause?: unknown): ConfigError {
  return new ConfigError('SECRET_UNAVAILABLE', `The secret file ${path} ${what}`, {
    hint: 'Check the path, and that the user the agent runs as can read it.',
    details: { file: path },
    cause,
  });
}

/** Owned by this user, or by root, who could do everything anyway. */
function isTrusted({ uid }: Stats): boolean {
  return uid === 0 || uid === ownId();
}

function ownId(): number {
  return process.getuid?.() ?? 0;
}

function foreign(what: string, path: string, { uid }: Stats): ConfigError {
  return unsafe(
    `${what} ${path} belongs to user ${uid}, not to the user that the agent runs as`,
    `chown ${ownId()} ${path}`,
    path,
  );
}

function unsafeOnWindows(what: string, path: string, { text, command }: AccessProblem): ConfigError {
  return unsafe(`${what} ${path} ${text}`, command, path);
}

function unsafe(message: string, command: string, path: string): ConfigError {
  return new ConfigError('CONFIG_UNSAFE', message, { hint: `Run: ${command}`, details: { file: path } });
}

function octal({ mode }: Stats): string {
  return (mode & 0o7777).toString(8).padStart(4, '0');
}
