/**
 * Paths as users type them. A path is bytes while typed text is Unicode: a byte that is not valid UTF-8 is represented
 * by a lone surrogate (U+DC80 to U+DCFF), as in Python (PEP 383). `bytesOfText` restores the byte; code that passes
 * such a path to the file system must use `filePath`.
 */
import { readdirSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path';
import {
  asByteString,
  bytesOfText,
  type ByteString,
  joinBytes,
  pathNames,
  pathOf,
  textOfBytes,
  textWithBytes,
} from './byte-path.ts';
import { exactPathText, fsPath, treePath, WINDOWS_PATHS } from './tree-path.ts';
import { RequestError, errnoOf } from './errors.ts';
import { IGNORES_CASE } from './spellings.ts';

/** The path as node:fs accepts it. */
export function filePath(typed: string): string | Buffer {
  return typed.isWellFormed() ? typed : fsPath(treePath(typed));
}

/**
 * The path with links resolved and, where the system ignores case, in the case in which the names are stored: however it
 * was typed, a place has one path. @throws the file system's error
 */
export function realPath(typed: string): string {
  if (process.platform === 'win32') {
    // The system itself would also name the share behind a drive letter, which is not what people call the place.
    const resolved = realpathSync(typed);
    return asListed(inStoredCase(resolved, realpathSync.native(resolved)), namesIn);
  }
  return textWithBytes(asByteString(realpathSync.native(filePath(typed), 'latin1')));
}

/** As `realPath`, for a tree path. */
export function realTreePath(path: ByteString): ByteString {
  return treePath(realPath(exactPathText(path)));
}

/**
 * A path of Windows in the case in which its names are stored.
 * @param found the same place as the system names it, which may lie on another drive or share
 */
export function inStoredCase(path: string, found: string): string {
  const [names, stored] = [path, found].map((one) => pathNames(WINDOWS_PATHS.toTree(one)));
  if (names === undefined || stored === undefined) return path;
  const rootLength = names[0] === 'UNC' ? 3 : 1;
  const root = names.slice(0, rootLength);
  const isSameRoot = root.every((name, at) => name === stored[at]);
  const below = names.slice(rootLength);
  const tail = below.length === 0 ? [] : stored.slice(-below.length);
  const isSameBelow = below.every((name, at) => textFold(name) === textFold(tail[at]));
  const chosen = isSameRoot ? stored : isSameBelow ? [...root, ...tail] : names;
  return textOfBytes(WINDOWS_PATHS.written(pathOf(chosen)));
}

/**
 * The path with each name as its directory lists it: file systems of other systems tell it in no other way.
 * @param list undefined for a directory that cannot be listed
 */
export function asListed(path: string, list: (directory: string) => readonly string[] | undefined): string {
  const names = pathNames(WINDOWS_PATHS.toTree(path));
  const rootLength = names[0] === 'UNC' ? 3 : 1;
  let at = pathOf(names.slice(0, rootLength));
  for (const name of names.slice(rootLength)) {
    const listed = list(textOfBytes(WINDOWS_PATHS.written(at)))?.map(bytesOfText) ?? [];
    const alike = listed.includes(name) ? [] : listed.filter((one) => textFold(one) === textFold(name));
    at = joinBytes(at, alike[0] ?? name);
  }
  return textOfBytes(WINDOWS_PATHS.written(at));
}

/**
 * The path of an entry with its last name as its directory lists it, where the system ignores case. A link at its end is
 * not followed.
 */
export function spelledAsStored(path: string, ignoresCase = IGNORES_CASE, list = namesIn): string {
  if (!ignoresCase) return path;
  const name = basename(path);
  const listed = list(dirname(path)) ?? [];
  const fold = (one: string): string => one.normalize('NFC').toUpperCase();
  const stored = listed.includes(name) ? name : listed.find((one) => fold(one) === fold(name));
  return join(dirname(path), stored ?? name);
}

function namesIn(directory: string): readonly string[] | undefined {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}

function textFold(name: ByteString | undefined): string | undefined {
  return name === undefined ? undefined : textOfBytes(name).toUpperCase();
}

/** The tree path of what somebody typed. On Windows it may also be typed as it is in the tree: `/C/Users`, `/home/u`. */
export function typedTreePath(typed: string): ByteString {
  const isInTree = sep !== '/' && /^\/(?!\/)/.test(typed);
  return isInTree ? pathOf(pathNames(treePath(typed))) : treePath(resolveTyped(typed));
}

/** @throws {RequestError} where it was deleted meanwhile */
export function workingDirectory(): string {
  let shown: string;
  try {
    shown = process.cwd();
  } catch (error) {
    throw workingDirectoryGone(error) ?? error;
  }
  return shown.includes('\uFFFD') ? realPath('.') : shown;
}

/** The error to tell for one that Node.js raised because the working directory was deleted; undefined for any other. */
export function workingDirectoryGone(error: unknown): RequestError | undefined {
  const call: unknown = error instanceof Error ? Reflect.get(error, 'syscall') : undefined;
  if ((call !== 'uv_cwd' && call !== 'chdir') || errnoOf(error) !== 'ENOENT') return undefined;
  return new RequestError('USAGE', 'The current directory no longer exists', {
    hint: 'Go to another one (cd) and run the command again.',
  });
}

/**
 * Leaves a working directory that was deleted, in which no thread can be started. From then on whoever asks for the
 * working directory is told that it is gone, as no relative path may lead elsewhere.
 */
export function leaveDeletedDirectory(): void {
  try {
    process.cwd();
  } catch (error) {
    const gone = workingDirectoryGone(error);
    if (gone === undefined) throw error;
    process.chdir('/');
    process.cwd = () => {
      throw gone;
    };
  }
}

/** For what the system itself is to find: that a file below a deleted directory does not exist is not the point. */
export function requireBaseOf(typed: string): void {
  if (!isAbsolute(typed)) workingDirectory();
}

/**
 * Makes a path absolute, without `.` and `..`. As in the system itself, `..` after a link leads to the parent of the
 * link's target, so `link/../x` is next to that target and not next to the link. Where nothing exists, `..` is resolved
 * as text.
 * @param base what a relative path begins at; by default the working directory, which an absolute one does not need
 * @throws {RequestError} where the working directory is needed and was deleted
 */
export function resolveTyped(typed: string, base?: string): string {
  const from = base ?? (sep === '/' && isAbsolute(typed) ? sep : workingDirectory());
  const parts = typed.split(sep === '/' ? '/' : /[\\/]/);
  const last = parts.lastIndexOf('..');
  // A path that only goes up from the working directory contains no link, as the working directory is a real path.
  if (last === -1 || parts.slice(0, last).every((part) => part === '..' || part === '.'))
    return resolve(from, typed);
  const up = parts.slice(0, last + 1).join('/');
  try {
    return join(realPath(isAbsolute(up) ? up : `${from}/${up}`), ...parts.slice(last + 1));
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return resolve(from, typed);
  }
}
