/**
 * Makes a directory and its missing parents, private to the user. It works level by level: Node's recursive call loops
 * for ever on file systems, such as /proc, that report a name as missing although its parent exists.
 */
import { mkdirSync, statSync, type Stats } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errnoOf } from './errors.ts';
import { filePath } from './typed-path.ts';

const PRIVATE = { mode: 0o700 };

/**
 * @returns the topmost directory that was missing; undefined when all existed
 * @throws the file system's error
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
      // Another process may have made it meanwhile.
      if (errnoOf(error) === 'EEXIST' && isDirectory(await stat(filePath(one)).catch(absence))) continue;
      if (errnoOf(error) === 'ENOENT' && isDirectory(await stat(filePath(dirname(one))).catch(absence)))
        throw nothingMadeThere(one);
      throw error;
    }
  }
  return missing[0];
}

/** The synchronous variant. */
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
      if (errnoOf(error) === 'EEXIST' && isDirectory(statOrAbsence(one))) continue;
      if (errnoOf(error) === 'ENOENT' && isDirectory(statOrAbsence(dirname(one))))
        throw nothingMadeThere(one);
      throw error;
    }
  }
  return missing[0];
}

/** /proc and its like say of a new directory that it is missing: nobody should look for a drive then. */
function nothingMadeThere(directory: string): Error {
  const message = `no directory can be made in ${dirname(directory)} (ENOTSUP)`;
  return Object.assign(new Error(message), { code: 'ENOTSUP', path: directory });
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
