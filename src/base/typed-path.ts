/**
 * Paths as users type them. A path is bytes while typed text is Unicode: a byte that is not valid UTF-8 is represented
 * by a lone surrogate (U+DC80 to U+DCFF), as in Python (PEP 383). `bytesOfText` restores the byte; code that passes
 * such a path to the file system must use `filePath`.
 */
import { realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { bytesOfText, asByteString, fsPath, textWithBytes } from './byte-path.ts';
import { errnoOf } from './errors.ts';

/** The path as node:fs accepts it. */
export function filePath(typed: string): string | Buffer {
  return typed.isWellFormed() ? typed : fsPath(bytesOfText(typed));
}

/** The path with links resolved. @throws the file system's error */
export function realPath(typed: string): string {
  if (process.platform === 'win32') return realpathSync(typed);
  return textWithBytes(asByteString(realpathSync.native(filePath(typed), 'latin1')));
}

export function workingDirectory(): string {
  const shown = process.cwd();
  return shown.includes('\uFFFD') ? realPath('.') : shown;
}

/**
 * Makes a path absolute, without `.` and `..`. As in the system itself, `..` after a link leads to the parent of the
 * link's target, so `link/../x` is next to that target and not next to the link. Where nothing exists, `..` is resolved
 * as text.
 */
export function resolveTyped(typed: string, from = workingDirectory()): string {
  const parts = typed.split('/');
  const last = parts.lastIndexOf('..');
  // A path that only goes up from the working directory contains no link, as the working directory is a real path.
  if (last === -1 || parts.slice(0, last).every((part) => part === '..' || part === '.'))
    return resolve(from, typed);
  const up = parts.slice(0, last + 1).join('/');
  try {
    return join(realPath(up.startsWith('/') ? up : `${from}/${up}`), ...parts.slice(last + 1));
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return resolve(from, typed);
  }
}
