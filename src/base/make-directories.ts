/**
 * A directory with what is missing above it, private to the user. Level by level: the recursive call of Node.js asks
 * without end where a file system says that a name is not there although the directory above it is, as /proc does.
 */
import { mkdirSync, statSync, type Stats } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errnoOf } from './errors.ts';
import { filePath } from './typed-path.ts';

const PRIVATE = { mode: 0o700 };

/**
 * @returns the topmost directory that was missing; undefined when all were there
 * @throws what the file system answers
 */
export async function makeDirectories(directory: string): Promise<string | undefined> {
  const missing: string[] = [];
  for (let at = directory; !isDirectory(await stat(filePath(at)).catch(absence)); at = dirname(at)) {
    missing.unshift(at);
    if (dirname(at) === at) break;
  }
  for (const one of missing) {
    try {
      await mkdir(filePath(one), PRIVATE);
    } catch (error) {
      // Somebody else may have made it meanwhile.
      if (errnoOf(error) !== 'EEXIST' || !isDirectory(await stat(filePath(one)).catch(absence))) throw error;
    }
  }
  return missing[0];
}

/** The same, without giving way to anything. */
export function makeDirectoriesSync(directory: string): string | undefined {
  const missing: string[] = [];
  for (let at = directory; !isDirectory(statOrAbsence(at)); at = dirname(at)) {
    missing.unshift(at);
    if (dirname(at) === at) break;
  }
  for (const one of missing) {
    try {
      mkdirSync(filePath(one), PRIVATE);
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST' || !isDirectory(statOrAbsence(one))) throw error;
    }
  }
  return missing[0];
}

function isDirectory(found: Stats | undefined): boolean {
  return found?.isDirectory() === true;
}

function statOrAbsence(path: string): Stats | undefined {
  try {
    return statSync(filePath(path));
  } catch (error) {
    return absence(error);
  }
}

function absence(error: unknown): undefined {
  if (errnoOf(error) !== 'ENOENT') throw error;
}
