/**
 * Lists directories of this machine, for choosing what to back up and where to. Symbolic links below the requested path
 * are not followed.
 */
import { constants } from 'node:fs';
import { access, opendir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isUtf8 } from 'node:buffer';
import type { Clock } from '../../base/clock.ts';
import { errnoText } from '../../base/errno-words.ts';
import { RequestError, errnoOf } from '../../base/errors.ts';
import { answersFrom } from '../../system/far-answer.ts';
import { accessHint } from '../../system/mac-mounts.ts';

export interface ListedDirectories {
  readonly path: string;
  readonly parent: string | null;
  readonly items: readonly ListedItem[];
  /** The list is incomplete. */
  readonly isCut: boolean;
}

export interface ListedItem {
  readonly name: string;
  readonly path: string;
  readonly readable: boolean;
  readonly hidden: boolean;
}

const MOST = 2_000;
/** Entries of all kinds that are read at most. A person with a larger directory has to type the path. */
const MOST_ENTRIES = 500_000;
/** Milliseconds for reading one directory. */
const PATIENCE_MS = 5_000;
/** Milliseconds in which a network file system has to answer. */
const ANSWER_MS = 2_000;
const AT_ONCE = 64;

/**
 * The directories in `path`, by name. Symbolic links are left out, and so are names that are not UTF-8, which no
 * setting can hold.
 * @throws {RequestError} INVALID_SOURCE when it is no directory, or cannot be read
 */
export async function listDirectories(
  path: string,
  clock: Pick<Clock, 'monotonic'>,
  signal: AbortSignal,
): Promise<ListedDirectories> {
  const { names, isCut } = await namesIn(path, clock, signal);
  const sorted = names.toSorted();
  const items: ListedItem[] = [];
  for (let from = 0; from < Math.min(sorted.length, MOST); from += AT_ONCE) {
    signal.throwIfAborted();
    const some = sorted.slice(from, Math.min(from + AT_ONCE, MOST));
    items.push(...(await Promise.all(some.map(async (name) => await itemOf(path, name)))));
  }
  const above = dirname(path);
  return { path, parent: above === path ? null : above, items, isCut: isCut || sorted.length > MOST };
}

async function namesIn(
  path: string,
  clock: Pick<Clock, 'monotonic'>,
  signal: AbortSignal,
): Promise<{ readonly names: readonly string[]; readonly isCut: boolean }> {
  const names: string[] = [];
  const endsAt = clock.monotonic() + PATIENCE_MS;
  let seen = 0;
  if (!(await answersFrom(path, signal, PATIENCE_MS))) throw refused(path, 'ETIMEDOUT');
  try {
    // As Latin-1 each byte is one character, so a name that is not UTF-8 is recognised instead of silently repaired.
    for await (const entry of await opendir(path, { encoding: 'latin1', bufferSize: 1_024 })) {
      signal.throwIfAborted();
      seen += 1;
      if (seen > MOST_ENTRIES || clock.monotonic() > endsAt) return { names, isCut: true };
      if (!entry.isDirectory()) continue;
      const bytes = Buffer.from(entry.name, 'latin1');
      if (isUtf8(bytes)) names.push(bytes.toString());
    }
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === undefined || signal.aborted) throw error;
    throw refused(path, errno);
  }
  return { names, isCut: false };
}

async function itemOf(directory: string, name: string): Promise<ListedItem> {
  const path = join(directory, name);
  return { name, path, readable: await isReadable(path), hidden: name.startsWith('.') };
}

/** Whether the names in the directory can be listed, and its entries reached. */
export async function isReadable(path: string): Promise<boolean> {
  if (!(await answersFrom(path, new AbortController().signal, ANSWER_MS))) return false;
  try {
    await access(path, constants.R_OK | constants.X_OK);
    return true;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return false;
  }
}

const REFUSALS: Readonly<Partial<Record<string, readonly [reason: string, what: string, hint: string]>>> = {
  ENOENT: ['not_found', 'does not exist', 'Check the spelling, and that the drive is mounted.'],
  ENOTDIR: ['not_a_directory', 'is not a directory', 'Name a directory.'],
  ETIMEDOUT: [
    'not_readable',
    'does not answer',
    'Check that its server or program is running, or unmount it.',
  ],
  EACCES: ['not_readable', 'cannot be read: permission denied', 'Run the agent as a user who can read it.'],
};

function refused(path: string, errno: string): RequestError {
  const [reason, what, hint] = REFUSALS[errno] ?? [
    'not_readable',
    `cannot be read: ${errnoText(errno)}`,
    accessHint(path, errno) ?? 'Check the disk.',
  ];
  return new RequestError('INVALID_SOURCE', `${path} ${what}`, { hint, details: { path, reason } });
}
