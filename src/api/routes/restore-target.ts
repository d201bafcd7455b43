/**
 * Checks whether files may be restored to a directory, before the job is queued, so that the user learns of a problem
 * immediately.
 */
import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { allowWriteCommand } from '../../base/allow-write.ts';
import { quoted } from '../../base/shell-words.ts';
import { asByteString, isUtf8, type ByteString } from '../../base/byte-path.ts';
import { pathText, treePath } from '../../base/tree-path.ts';
import { errnoOf } from '../../base/errors.ts';
import { userName } from '../../base/user-name.ts';
import type { Settings } from '../../config/settings.ts';
import { answersFrom } from '../../system/far-answer.ts';
import { farPlaceOf } from '../../system/far-mounts.ts';
import { ApiError } from '../wire/api-error.ts';

/** Milliseconds that the file system of a path has to answer, while the caller waits. */
const PATIENCE_MS = 5_000;

export type TargetFault =
  | 'not_absolute'
  | 'target_and_in_place'
  | 'not_a_directory'
  | 'not_writable'
  | 'not_allowed'
  | 'inside_state_directory'
  | 'inside_repository';

export interface TargetRules {
  readonly settings: Settings;
  readonly stateDirectory: string;
  /** Local directories that backups are stored in. */
  readonly stores: readonly string[];
}

export function invalidTarget(reason: TargetFault, message: string, hint: string, target?: string): ApiError {
  return new ApiError('INVALID_TARGET', message, {
    hint,
    details: { reason, ...(target === undefined ? {} : { path: target }) },
  });
}

/**
 * The target with `..` and doubled slashes resolved. The directory need not exist.
 * @throws {ApiError} INVALID_TARGET
 */
export async function checkTarget(target: string, rules: TargetRules): Promise<string> {
  if (!path.isAbsolute(target)) {
    throw invalidTarget('not_absolute', 'The target is not an absolute path', 'Give the full path.', target);
  }
  const resolved = path.resolve(target);
  if (!(await doesAnswer(resolved))) {
    throw invalidTarget(
      'not_writable',
      `The file system of ${target} does not answer`,
      'Check that its server or program is running, or choose another directory.',
      target,
    );
  }
  const { existing, real } = await locate(resolved);
  await requireOutside(real, resolved, rules);
  await requireAllowed(real, resolved, rules.settings);
  await requireWritable(existing, resolved);
  return resolved;
}

/**
 * Checks a restore to the original locations. A restore follows no link on the way to them.
 * @param places absolute paths of everything to be restored, without `.` and `..`
 * @throws {ApiError} INVALID_TARGET
 */
export async function checkInPlace(
  places: readonly ByteString[],
  { settings }: Pick<TargetRules, 'settings'>,
): Promise<void> {
  for (const place of places) {
    const { real } = await locate(path.resolve(pathText(asText(place))));
    await requireAllowed(real, pathText(place), settings);
  }
}

/**
 * The path, or the nearest directory above it whose path is valid UTF-8. Allowed roots are UTF-8 as well, so this
 * decides the same.
 */
function asText(place: ByteString): ByteString {
  let above = place;
  while (!isUtf8(above)) above = asByteString(above.slice(0, above.lastIndexOf('/')));
  return above === '' ? asByteString('/') : above;
}

interface Place {
  /** The path itself, or the nearest directory above it that exists. */
  readonly existing: string;
  /** The whole path, with symbolic links in its existing part resolved. */
  readonly real: string;
}

async function locate(whole: string): Promise<Place> {
  if (!(await doesAnswer(whole))) {
    const real = pathText(farPlaceOf(treePath(whole))?.path ?? treePath(whole));
    return { existing: real, real };
  }
  let existing = whole;
  for (;;) {
    try {
      const real = await realpath(existing);
      return { existing, real: path.join(real, path.relative(existing, whole)) };
    } catch (error) {
      // A file among the parents, or a directory that may not be searched, is reported when `existing` itself is checked.
      const above = path.dirname(existing);
      if (above === existing) throw notWritable(whole, whole, error);
      existing = above;
    }
  }
}

async function doesAnswer(whole: string): Promise<boolean> {
  return await answersFrom(whole, new AbortController().signal, PATIENCE_MS);
}

async function requireOutside(real: string, target: string, rules: TargetRules): Promise<void> {
  const { stateDirectory, stores } = rules;
  if (isInside((await locate(path.resolve(stateDirectory))).real, real)) {
    throw invalidTarget(
      'inside_state_directory',
      'The target is in the state directory of the agent',
      'Choose another directory.',
      target,
    );
  }
  for (const directory of stores) {
    if (!isInside((await locate(directory)).real, real)) continue;
    throw invalidTarget(
      'inside_repository',
      'The target is in a directory where backups are stored',
      'Choose another directory.',
      target,
    );
  }
}

async function requireAllowed(real: string, target: string, { restore }: Settings): Promise<void> {
  if (restore.allowedRoots.length === 0) return;
  for (const root of restore.allowedRoots) {
    if (isInside((await locate(path.resolve(root))).real, real)) return;
  }
  throw invalidTarget(
    'not_allowed',
    `The settings do not allow restoring to ${target}`,
    'Choose a directory below one of restore.allowedRoots, or add it there.',
    target,
  );
}

async function requireWritable(existing: string, target: string): Promise<void> {
  try {
    if (!(await stat(existing)).isDirectory()) {
      throw invalidTarget(
        'not_a_directory',
        `${existing} is not a directory`,
        'Choose a directory, or a path that does not exist yet.',
        target,
      );
    }
    await access(existing, constants.W_OK | constants.X_OK);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw notWritable(existing, target, error);
  }
}

function notWritable(existing: string, target: string, cause: unknown): ApiError {
  const isReadOnly = errnoOf(cause) === 'EROFS';
  const command = isReadOnly
    ? allowWriteCommand(existing)
    : `sudo setfacl -m ${quoted(`u:${userName()}:rwx`)} ${quoted(existing)}`;
  const hint = `${isReadOnly ? 'If the agent runs as a service, allow' : 'Allow'} it with: ${command}`;
  return new ApiError('INVALID_TARGET', `Holdfast does not have permission to write to ${existing}`, {
    hint,
    details: { reason: 'not_writable', path: target, closed: existing, command, read_only: isReadOnly },
    cause,
  });
}

function isInside(directory: string, place: string): boolean {
  const way = path.relative(directory, place);
  return way === '' || (way !== '..' && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way));
}
