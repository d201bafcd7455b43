/** Which directories there are in a tree, and which of them came while it was looked at. */
import { lstatSync, readdirSync, type Dirent, type Stats } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { asByteString, fsPath, joinBytes, type ByteString } from '../base/byte-path.ts';
import { errnoOf } from '../base/errors.ts';

/** Directories that are listed at once while other work waits: some 50 ms. */
export const MOST_LISTED = 5_000;
/** Directories between two pauses of a long scan. */
const SLICE = 100;

/** It is not there, or no directory: its directory tells. */
const GONE = new Set(['ENOENT', 'ENOTDIR', 'ELOOP']);
/** There is nothing to be seen below it. */
const CLOSED = new Set(['EACCES', 'EPERM']);

export type Subdirectories =
  | { readonly kind: 'listed'; readonly paths: readonly ByteString[] }
  | { readonly kind: 'gone' }
  /** `code` of the system. */
  | { readonly kind: 'unreadable'; readonly code: string };

export function subdirectoriesOf(path: ByteString): Subdirectories {
  let entries: readonly Dirent[];
  try {
    entries = readdirSync(fsPath(path), { withFileTypes: true, encoding: 'latin1' });
  } catch (error) {
    const code = errnoOf(error);
    if (code === undefined) throw error;
    return GONE.has(code) ? { kind: 'gone' } : { kind: 'unreadable', code };
  }
  const found = entries.filter((entry) => entry.isDirectory());
  return { kind: 'listed', paths: found.map(({ name }) => joinBytes(path, asByteString(name))) };
}

/** A directory and those below it; undefined when there are more than `most`, or they cannot all be found. */
export function directoriesBelow(top: ByteString, most: number): readonly ByteString[] | undefined {
  const found: ByteString[] = [];
  const waiting = [top];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const listed = subdirectoriesOf(path);
    if (listed.kind === 'gone') continue;
    if (listed.kind === 'unreadable' && !CLOSED.has(listed.code)) return undefined;
    found.push(path);
    if (found.length > most) return undefined;
    if (listed.kind === 'listed') waiting.push(...listed.paths);
  }
  return found;
}

/** What tells that a directory has become another one, or that something in it came or went. */
interface DirectoryMark {
  readonly inode: number;
  readonly mtimeMs: number;
}

export interface DirectoryScan {
  readonly marks: ReadonlyMap<ByteString, DirectoryMark>;
  /** Nothing can be watched in these. */
  readonly unreadable: readonly ByteString[];
}

/** Finds every directory of a tree but those to `skip`, leaving the thread to others in between. */
export async function scanDirectories(
  top: ByteString,
  skip: (path: ByteString) => boolean,
  signal: AbortSignal,
): Promise<DirectoryScan> {
  const marks = new Map<ByteString, DirectoryMark>();
  const unreadable: ByteString[] = [];
  const waiting = [top];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (skip(path)) continue;
    // First the mark, then the list: what comes in between shows in the mark that is taken later.
    const mark = markOf(path);
    const listed = subdirectoriesOf(path);
    if (mark === undefined || listed.kind === 'gone') continue;
    if (listed.kind === 'unreadable') unreadable.push(path);
    else waiting.push(...listed.paths);
    marks.set(path, mark);
    if (marks.size % SLICE === 0) {
      await nextTurn();
      signal.throwIfAborted();
    }
  }
  return { marks, unreadable };
}

/**
 * Directories that came since the scan began, each without those below it.
 * @param seen gets the time at which something last came or went in each of the others, milliseconds since 1970
 */
export async function directoriesSince(
  { marks }: DirectoryScan,
  skip: (path: ByteString) => boolean,
  signal: AbortSignal,
  seen: (changedAt: number) => void = () => undefined,
): Promise<readonly ByteString[]> {
  const found: ByteString[] = [];
  let looked = 0;
  for (const [path, before] of marks) {
    looked += 1;
    if (looked % (10 * SLICE) === 0) {
      await nextTurn();
      signal.throwIfAborted();
    }
    const now = markOf(path);
    if (now === undefined) continue;
    seen(now.mtimeMs);
    if (now.inode !== before.inode) {
      found.push(path);
      continue;
    }
    if (now.mtimeMs === before.mtimeMs) continue;
    const listed = subdirectoriesOf(path);
    if (listed.kind === 'listed')
      found.push(...listed.paths.filter((below) => !marks.has(below) && !skip(below)));
  }
  return topmost(found);
}

/** Without those that lie below another one. */
export function topmost(paths: readonly ByteString[]): readonly ByteString[] {
  const all = new Set(paths);
  return [...all].filter((path) => {
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1))
      if (all.has(asByteString(path.slice(0, end)))) return false;
    return true;
  });
}

function markOf(path: ByteString): DirectoryMark | undefined {
  const stat = statOf(path);
  return stat === undefined ? undefined : { inode: stat.ino, mtimeMs: stat.mtimeMs };
}

/** Undefined when there is nothing, or nothing that can be seen. */
export function statOf(path: ByteString): Stats | undefined {
  try {
    return lstatSync(fsPath(path), { throwIfNoEntry: false });
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}
