/**
 * Paths as they are typed. They are bytes, and what is typed is text: a byte that is no part of UTF-8 stands in it as a
 * half of a surrogate pair that stands nowhere else (U+DC80 to U+DCFF), as Python does it (PEP 383). `bytesOfText` gives
 * the byte back; whatever gives such a text to the file system has to do so by `filePath`.
 */
import { realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { bytesOfText, asByteString, fsPath, textWithBytes } from './byte-path.ts';
import { errnoOf } from './errors.ts';

/** For node:fs. */
export function filePath(typed: string): string | Buffer {
  return typed.isWellFormed() ? typed : fsPath(bytesOfText(typed));
}

/** Links resolved. @throws what the file system answers */
export function realPath(typed: string): string {
  if (process.platform === 'win32') return realpathSync(typed);
  return textWithBytes(asByteString(realpathSync.native(filePath(typed), 'latin1')));
}

export function workingDirectory(): string {
  const shown = process.cwd();
  return shown.includes('\uFFFD') ? realPath('.') : shown;
}

/**
 * Absolute, and of no `.` and `..`. As the system goes, `..` leads out of the directory that a link before it leads to, so
 * `link/../x` is a neighbour of that directory and not of the link. Where there is nothing, it is taken off as text.
 */
export function resolveTyped(typed: string, from = workingDirectory()): string {
  const parts = typed.split('/');
  const last = parts.lastIndexOf('..');
  // What only leads up from where one is has no link in it: the working directory is a real one.
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
