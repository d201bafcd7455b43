/**
 * Paths as they are typed. They are bytes, and what is typed is text: a byte that is no part of UTF-8 stands in it as a
 * half of a surrogate pair that stands nowhere else (U+DC80 to U+DCFF), as Python does it (PEP 383). `bytesOfText` gives
 * the byte back; whatever gives such a text to the file system has to do so by `filePath`.
 */
import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { bytesOfText, asByteString, fsPath, textWithBytes } from './byte-path.ts';

/** For node:fs. */
export function filePath(typed: string): string | Buffer {
  return typed.isWellFormed() ? typed : fsPath(bytesOfText(typed));
}

/** Links resolved. @throws what the file system answers */
export function realPath(typed: string): string {
  if (process.platform === 'win32') return realpathSync(typed);
  return textWithBytes(asByteString(realpathSync.native(filePath(typed), 'latin1')));
}

/** Absolute, from the working directory on. */
export function absolute(typed: string): string {
  return resolve(workingDirectory(), typed);
}

export function workingDirectory(): string {
  const shown = process.cwd();
  return shown.includes('\uFFFD') ? realPath('.') : shown;
}
