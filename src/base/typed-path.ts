/** Paths as people type them. */
import { realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { errnoOf } from './errors.ts';

/**
 * Absolute, and of no `.` and `..`. As the system goes, `..` leads out of the directory that a link before it leads to, so
 * `link/../x` is a neighbour of that directory and not of the link. Where there is nothing, it is taken off as text.
 */
export function resolveTyped(typed: string, workingDirectory: string = process.cwd()): string {
  const parts = typed.split('/');
  const last = parts.lastIndexOf('..');
  // What only leads up from where one is has no link in it: the working directory is a real one.
  if (last === -1 || parts.slice(0, last).every((part) => part === '..' || part === '.')) {
    return resolve(workingDirectory, typed);
  }
  const up = parts.slice(0, last + 1).join('/');
  try {
    // Not `realpathSync` itself, which takes `..` off as text first.
    const real = realpathSync.native(up.startsWith('/') ? up : `${workingDirectory}/${up}`);
    return join(real, ...parts.slice(last + 1));
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return resolve(workingDirectory, typed);
  }
}
