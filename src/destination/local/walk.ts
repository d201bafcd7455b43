/** Walks the files below a destination's directory, by key. */
import type { Dirent, Stats } from 'node:fs';
import { opendir, readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { DestinationError, errnoOf } from '../../base/errors.ts';
import { ListBound } from '../bounds.ts';

export interface FoundFile {
  /** Path relative to the root, `/`-separated. */
  readonly key: string;
  readonly stats: Stats;
}

/** How many files are looked at together, which also bounds the number of promises at work. */
const sliceLength = 1000;

/** Errors of the file system for a name that does not exist, or cannot exist. */
export const absentErrnos: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG']);

/**
 * Yields slices of the regular files at and below the directory `start` (a key, or '' for the root) among the entries
 * that `wanted` accepts; symbolic links are followed, as by `get`. Yields nothing when `start` does not exist, and
 * nothing from a directory that is removed meanwhile; any other failure rejects. When a file is replaced by another one
 * during the walk, at least one of the two is found.
 */
export async function* walkFiles(
  root: string,
  start: string,
  wanted: (entry: Dirent, directory: string) => boolean,
  signal: AbortSignal,
): AsyncGenerator<readonly FoundFile[]> {
  const bound = new ListBound(root);
  const directories = [start];
  for (let directory = directories.pop(); directory !== undefined; directory = directories.pop()) {
    const seen = new Set<string>();
    // A writer that replaces a file stores the new one first. When a file vanished after the names were read, its
    // successor may have been added since: the names are read once more.
    for (let isWhole = false; !isWhole;) {
      signal.throwIfAborted();
      const mayBeAbsent = directory === start || seen.size > 0;
      const names = await readNames({ root, directory, wanted, bound }, mayBeAbsent, signal);
      const fresh = names.filter((name) => !seen.has(name));
      isWhole = true;
      for (let from = 0; from < fresh.length; from += sliceLength) {
        const slice = fresh.slice(from, from + sliceLength);
        const found = await findAll(root, directory, slice);
        isWhole &&= found.length === slice.length;
        for (const name of slice) seen.add(name);
        for (const { key, stats } of found) {
          bound.count(key);
          if (stats.isDirectory()) directories.push(key);
        }
        const files = found.filter(({ stats }) => stats.isFile());
        if (files.length > 0) yield files;
      }
    }
  }
}

interface Reading {
  readonly root: string;
  readonly directory: string;
  readonly wanted: (entry: Dirent, directory: string) => boolean;
  readonly bound: ListBound;
}

// A directory is read to its end before any of its files is yielded: on some file systems deleting files from a
// half-read directory makes the rest of the read skip others.
async function readNames(
  { root, directory, wanted, bound }: Reading,
  mayBeAbsent: boolean,
  signal: AbortSignal,
): Promise<string[]> {
  const { count } = bound.folder(directory);
  try {
    const names: string[] = [];
    for await (const entry of await opendir(join(root, directory), { bufferSize: 1_024 })) {
      signal.throwIfAborted();
      count();
      if (wanted(entry, directory)) names.push(entry.name);
    }
    return names;
  } catch (error) {
    const isAbsent = absentErrnos.has(errnoOf(error) ?? '');
    if (!isAbsent) throw error;
    if (mayBeAbsent || (await isRemoved(root, directory))) return [];
    throw new DestinationError('unreachable', `${join(root, directory)} vanished while it was being listed`, {
      op: 'list',
      hint: 'Try again, and check that nothing else changes the destination.',
      retry: 'now',
      cause: error,
    });
  }
}

/**
 * Whether the directory above no longer lists it, as prune removes directories that were empty for long. One that is
 * listed but cannot be read is hidden by a mount that went away, as is everything when the root itself is gone.
 */
async function isRemoved(root: string, directory: string): Promise<boolean> {
  if (directory === '') return false;
  const above = directory.slice(0, Math.max(0, directory.lastIndexOf('/')));
  try {
    return !(await readdir(join(root, above))).includes(basename(directory));
  } catch (error) {
    if (!absentErrnos.has(errnoOf(error) ?? '')) throw error;
    return await isRemoved(root, above);
  }
}

async function findAll(root: string, directory: string, names: readonly string[]): Promise<FoundFile[]> {
  const found = await Promise.all(
    names.map(async (name): Promise<FoundFile | undefined> => {
      const key = directory === '' ? name : `${directory}/${name}`;
      try {
        return { key, stats: await stat(join(root, key)) };
      } catch (error) {
        // The file was deleted after the directory was read.
        if (errnoOf(error) === 'ENOENT') return undefined;
        throw error;
      }
    }),
  );
  return found.filter((file) => file !== undefined);
}
