/** Lists the directories of a tree, and finds those that were added while it was scanned. */
import { lstatSync, readdirSync, type Dirent, type Stats } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { asByteString, joinBytes, type ByteString } from '../base/byte-path.ts';
import { fsPath } from '../base/tree-path.ts';
import { errnoOf } from '../base/errors.ts';

/** Directories that are listed without a pause, which takes some 50 ms. */
export const MOST_LISTED = 5_000;
/** Directories between two pauses of a long scan. */
const SLICE = 100;

/** The path is missing or no directory; the change of its parent directory is reported anyway. */
const GONE = new Set(['ENOENT', 'ENOTDIR', 'ELOOP']);
/** Access is denied, so nothing below it can be seen. */
const CLOSED = new Set(['EACCES', 'EPERM']);

export type Subdirectories =
  | { readonly kind: 'listed'; readonly paths: readonly ByteString[] }
  | { readonly kind: 'gone' }
  /** `code`: the error code of the system. */
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

/** The directory and all below it; undefined when there are more than `most`, or when not all can be listed. */
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

/** Changes when the directory is replaced by another one, or when an entry is added or removed. */
interface DirectoryMark {
  readonly inode: number;
  readonly mtimeMs: number;
}

export interface DirectoryScan {
  readonly marks: ReadonlyMap<ByteString, DirectoryMark>;
  /** Directories in which nothing can be watched. */
  readonly unreadable: readonly ByteString[];
}

/** Finds every directory of a tree except those to `skip`, pausing in between for other work. */
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
    // The mark is taken before the list, so that a change in between shows in a later mark.
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
 * Directories that were added since the scan began, without those below another one.
 * @param seen receives the time of the last addition or removal in each of the other directories, milliseconds since 1970
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

/** Removes the paths that are below another one. */
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

/** Undefined when the path is missing or inaccessible. */
export function statOf(path: ByteString): Stats | undefined {
  try {
    return lstatSync(fsPath(path), { throwIfNoEntry: false });
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}
