/** Reads the files of ssh's configuration as lines, with the files that they include. */
import { glob, readFile } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { looseText } from '../../base/people-text.ts';
import { causeText } from '../../base/errno-words.ts';
import { DestinationError, errnoOf } from '../../base/errors.ts';
import { linesOf, wordsOf, type SshLine } from './ssh-config.ts';

/** The depth to which ssh itself follows includes. */
const DEEPEST = 16;
const SYSTEM = '/etc/ssh/ssh_config';

/**
 * Reads the user's file and then the system's, since the first value of each setting applies. @throws
 * {DestinationError} denied
 */
export async function readSshConfig(home: string): Promise<readonly SshLine[]> {
  const files = [join(home, '.ssh', 'config'), ...(process.platform === 'win32' ? [] : [SYSTEM])];
  const read = await Promise.all(files.map(async (file) => await fileLines(file, home, 0)));
  // As two included files: a Host block at the end of the first must not extend into the second.
  return [{ keyword: 'include', files: read }];
}

async function fileLines(file: string, home: string, depth: number): Promise<readonly SshLine[]> {
  if (depth > DEEPEST) throw unreadable(file, 'includes itself, or is nested too deep');
  const lines: SshLine[] = [];
  for (const line of linesOf((await textOf(file)) ?? '')) {
    if (line.keyword !== 'include') {
      lines.push(line);
      continue;
    }
    const included: (readonly SshLine[])[] = [];
    for (const pattern of wordsOf(line.rest))
      for (const found of await filesOf(pattern, file, home))
        included.push(await fileLines(found, home, depth + 1));
    lines.push({ keyword: 'include', files: included });
  }
  return lines;
}

async function filesOf(pattern: string, within: string, home: string): Promise<readonly string[]> {
  const own = pattern.replace(/^~(?=\/)/, () => home);
  const beside = dirname(within) === dirname(SYSTEM) ? dirname(SYSTEM) : join(home, '.ssh');
  const path = isAbsolute(own) ? own : join(beside, own);
  if (!/[*?[]/.test(path)) return [path];
  const found: string[] = [];
  for await (const name of glob(path)) found.push(name);
  return found.sort();
}

/** The text of the file; undefined when it does not exist. */
export async function textOf(file: string): Promise<string | undefined> {
  try {
    return looseText(await readFile(file));
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT' || errno === 'ENOTDIR') return undefined;
    throw unreadable(file, `cannot be read: ${causeText(error)}`, error);
  }
}

function unreadable(file: string, why: string, cause?: unknown): DestinationError {
  return new DestinationError('denied', `${file} ${why}`, {
    op: 'connect',
    hint: 'Check its permissions. Without it a server cannot be told from an impostor.',
    details: { file },
    cause,
  });
}
