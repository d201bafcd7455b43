import { joinBytes, type ByteString } from '../base/byte-path.ts';
import { corrupt } from '../base/errors.ts';
import { MAX_DEPTH, type Entry } from '../format/tree.ts';
import type { Snapshot } from '../repository/snapshots.ts';
import { TreeBudget, treeBudget } from '../repository/contents/tree-bounds.ts';
import type { TreeReader } from '../repository/contents/tree-reader.ts';
import { DirectoryCursor } from './directory-cursor.ts';
import { findPath, type Location } from './locate.ts';
import { isDamage, type OnUnreadable } from './snapshot-trees.ts';

export interface PathEntry {
  readonly path: ByteString;
  readonly entry: Entry;
}

export interface ListOptions {
  /** An absolute source path. */
  readonly path: ByteString;
  /** List everything below it, not only its own entries. */
  readonly recursive: boolean;
  /** Without it the first directory that cannot be read ends the listing with an error. */
  readonly onUnreadable?: OnUnreadable;
}

/**
 * The entries of a directory in byte order, each directory before its content; or the entry itself if the path is not a
 * directory.
 * @throws {RepositoryError} PATH_NOT_IN_SNAPSHOT, CORRUPT_DATA, LIMIT_EXCEEDED
 */
export async function* listEntries(
  reader: TreeReader,
  snapshot: Snapshot,
  options: ListOptions,
  signal: AbortSignal,
): AsyncGenerator<PathEntry, void, undefined> {
  const { path, entry, tree } = await findPath(reader, snapshot, options.path, signal);
  if (tree !== undefined) yield* walkTree(reader, { path, entry, tree }, options, signal);
  else if (entry !== undefined) yield { path, entry };
}

/**
 * The entries of a directory.
 * @throws {RepositoryError} CORRUPT_DATA, LIMIT_EXCEEDED
 */
export async function* walkTree(
  reader: TreeReader,
  { path, entry: top, tree }: Location & { readonly tree: Buffer },
  options: Pick<ListOptions, 'recursive' | 'onUnreadable'>,
  signal: AbortSignal,
): AsyncGenerator<PathEntry, void, undefined> {
  const totals = top?.type === 'directory' ? top.totals : undefined;
  const budget = options.recursive
    ? await treeBudget(reader, tree, totals, signal)
    : new TreeBudget(Infinity);
  const open = [{ path, cursor: new DirectoryCursor(reader, tree, { totals, budget }) }];
  for (let level = open.at(-1); level !== undefined; level = open.at(-1)) {
    const { cursor } = level;
    const { entry } = cursor;
    if (entry !== undefined) {
      cursor.skip();
      const entryPath = joinBytes(level.path, entry.name);
      yield { path: entryPath, entry };
      if (!options.recursive || entry.type !== 'directory') continue;
      if (open.length >= MAX_DEPTH) throw tooDeep(entry.id);
      open.push({ path: entryPath, cursor: new DirectoryCursor(reader, entry.id, { ...entry, budget }) });
    } else if (cursor.part === undefined) {
      open.pop();
    } else {
      await readOrReport(cursor, level.path, options.onUnreadable, signal);
    }
  }
}

/**
 * Reads the next part of a directory. If that fails, reports the directory as unreadable and moves past the part.
 * @returns whether the part could be read
 */
export async function readOrReport(
  cursor: DirectoryCursor,
  path: ByteString,
  onUnreadable: OnUnreadable | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  signal.throwIfAborted();
  try {
    await cursor.read(signal);
    return true;
  } catch (error) {
    if (onUnreadable === undefined || !isDamage(error)) throw error;
    onUnreadable(path, error);
    return false;
  }
}

export function tooDeep(tree: Buffer): Error {
  return corrupt(`tree ${tree.toString('hex')}`, `it lies more than ${MAX_DEPTH} directories deep`);
}
