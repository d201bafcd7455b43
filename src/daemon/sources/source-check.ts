/** Checks whether a path can be backed up before a job is queued, so that the person learns of a fault at once. */
import { constants } from 'node:fs';
import { open, realpath, stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve } from 'node:path';
import { causeText } from '../../base/errno-words.ts';
import { RequestError, errnoOf } from '../../base/errors.ts';
import { answersFrom } from '../../system/far-answer.ts';

/** Milliseconds; the caller waits for the answer. */
const PATIENCE_MS = 5_000;

export type SourceFault =
  | 'not_found'
  | 'not_absolute'
  | 'not_readable'
  | 'unsupported_type'
  | 'inside_state_directory'
  | 'inside_repository';

/** The agent's own directories, which no backup includes. */
export interface OwnPlaces {
  readonly stateDirectory: string;
  /** Directories of this machine that backups are stored in. */
  readonly stores: readonly string[];
}

/**
 * Returns the source with `..` and doubled slashes resolved.
 * @throws {RequestError} INVALID_SOURCE with `details.path` and `details.reason`
 */
export async function checkSource(source: string, { stateDirectory, stores }: OwnPlaces): Promise<string> {
  if (!isAbsolute(source)) {
    throw invalidSource(
      source,
      'not_absolute',
      `The source path ${source} is not absolute`,
      'Give the full path.',
    );
  }
  const resolved = resolve(source);
  if (!(await answersFrom(resolved, new AbortController().signal, PATIENCE_MS))) {
    throw invalidSource(
      source,
      'not_readable',
      `The file system of ${source} does not answer`,
      'Check that its server or program is running, or unmount it.',
    );
  }
  const real = await realpath(resolved).catch((cause: unknown) => {
    throw unreachable(source, cause);
  });
  const stats = await stat(real).catch((cause: unknown) => {
    throw unreachable(source, cause);
  });
  if (isInside(real, await realpath(stateDirectory).catch(stateGone))) {
    throw invalidSource(
      source,
      'inside_state_directory',
      `The source path ${source} is in the agent's own state directory`,
      'Choose another source. To restore your backups you need only the recovery kit.',
    );
  }
  for (const store of stores) {
    if (!isInside(real, await realpath(store).catch(() => resolve(store)))) continue;
    throw invalidSource(
      source,
      'inside_repository',
      `The source path ${source} is in a directory where backups are stored`,
      'Choose another source: a repository inside itself would grow forever.',
    );
  }
  if (!stats.isFile() && !stats.isDirectory()) {
    throw invalidSource(
      source,
      'unsupported_type',
      `The source path ${source} is neither a file nor a directory`,
      'Choose the directory that it is in: special files are backed up with it.',
    );
  }
  await tryReading(real, stats.isDirectory()).catch((cause: unknown) => {
    throw unreachable(source, cause);
  });
  return resolved;
}

/** Opens the path: access(2) ignores the capability with which the service may read everything. */
async function tryReading(path: string, isDirectory: boolean): Promise<void> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  await file.close();
  // Reaching the entries of a directory needs search permission.
  if (isDirectory) await stat(`${path}/.`);
}

function stateGone(cause: unknown): never {
  if (errnoOf(cause) !== 'ENOENT') throw cause;
  throw new RequestError(
    'SERVICE_UNAVAILABLE',
    'The folder in which Holdfast keeps its state is gone, so no backups are made',
    { hint: 'Put it back, or mount its disk. Then try again.', retry: 'later', cause },
  );
}

export function isInside(path: string, directory: string): boolean {
  const way = relative(directory, path);
  return way === '' || (!way.startsWith('..') && !isAbsolute(way));
}

function unreachable(source: string, cause: unknown): RequestError {
  const code = errnoOf(cause);
  // A name longer than the system allows cannot exist.
  if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ENAMETOOLONG') {
    return invalidSource(
      source,
      'not_found',
      `The source path ${source} does not exist`,
      'Check the spelling.',
      cause,
    );
  }
  return invalidSource(
    source,
    'not_readable',
    `The source path ${source} cannot be read: ${causeText(cause)}`,
    'Give the user that the agent runs as permission to read it.',
    cause,
  );
}

function invalidSource(
  path: string,
  reason: SourceFault,
  message: string,
  hint: string,
  cause?: unknown,
): RequestError {
  return new RequestError('INVALID_SOURCE', message, { hint, details: { path, reason }, cause });
}
