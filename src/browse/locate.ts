import { type ByteString, joinBytes, pathNames, pathOf, textOfBytes } from '../base/byte-path.ts';
import { pathIn } from '../base/source-names.ts';
import { pathText } from '../base/tree-path.ts';
import { corrupt, RepositoryError } from '../base/errors.ts';
import { holdfastThere } from '../base/holdfast-command.ts';
import type { Entry } from '../format/tree.ts';
import type { Snapshot } from '../repository/snapshots.ts';
import type { TreeReader } from '../repository/contents/tree-reader.ts';

/** The place of a path in a snapshot. */
export interface Location {
  /** Absolute, without `.`, `..` and superfluous slashes. */
  readonly path: ByteString;
  /** Undefined for the root, which has no metadata of its own. */
  readonly entry: Entry | undefined;
  /** Id of the directory's tree; undefined when it is not a directory. */
  readonly tree: Buffer | undefined;
}

/** The result for a path that does not exist: the last place on the way that does. */
export interface Nowhere {
  readonly nearest: Location;
}

/**
 * The place of `path`, an absolute source path. The name of a source that was stored under another path works, too.
 * @throws {RepositoryError} PATH_NOT_IN_SNAPSHOT, CORRUPT_DATA
 */
export async function findPath(
  reader: TreeReader,
  snapshot: Snapshot,
  path: ByteString,
  signal: AbortSignal,
): Promise<Location> {
  const found = await lookUpPath(reader, snapshot, path, signal);
  if (!('nearest' in found)) return found;
  throw notInSnapshot(snapshot, path, found.nearest);
}

/** As `findPath`, but a path that does not exist is not an error. */
export async function lookUpPath(
  reader: TreeReader,
  snapshot: Snapshot,
  path: ByteString,
  signal: AbortSignal,
): Promise<Location | Nowhere> {
  let at = rootOf(snapshot);
  for (const name of pathNames(pathIn(snapshot.record, pathOf(pathNames(path))))) {
    const next = await childOf(reader, at, name, signal);
    if (next === undefined) return { nearest: at };
    at = next;
  }
  return at;
}

export function rootOf(snapshot: Snapshot): Location {
  return { path: '/' as ByteString, entry: undefined, tree: snapshot.record.root };
}

/** The entry of that name in a directory; undefined when there is none or `parent` is not a directory. */
export async function childOf(
  reader: TreeReader,
  parent: Location,
  name: ByteString,
  signal: AbortSignal,
): Promise<Location | undefined> {
  if (parent.tree === undefined) return undefined;
  const entry = await findEntry(reader, parent.tree, name, signal);
  if (entry === undefined) return undefined;
  return {
    path: joinBytes(parent.path, name),
    entry,
    tree: entry.type === 'directory' ? entry.id : undefined,
  };
}

export function notInSnapshot(snapshot: Snapshot, path: ByteString, nearest: Location): RepositoryError {
  const id = snapshot.id.slice(0, 8);
  const there = textOfBytes(nearest.path);
  const hint =
    nearest.tree === undefined
      ? `${pathText(nearest.path)} is in it, but is not a directory.`
      : `The nearest directory in it is ${pathText(nearest.path)}. To see whether other snapshots have it, run: ${holdfastThere`versions ${pathText(path)}`}`;
  return new RepositoryError('PATH_NOT_IN_SNAPSHOT', `${pathText(path)} is not in snapshot ${id}`, {
    hint,
    details: { path: textOfBytes(path), nearest: there, snapshot: snapshot.id },
  });
}

async function findEntry(
  reader: TreeReader,
  tree: Buffer,
  name: ByteString,
  signal: AbortSignal,
): Promise<Entry | undefined> {
  let id = tree;
  let level = Number.POSITIVE_INFINITY;
  for (;;) {
    const chunk = await reader.chunk(id, signal);
    if (chunk.form === 'leaf') {
      const entry = lastUpTo(chunk.entries, (one) => one.name, name);
      return entry?.name === name ? entry : undefined;
    }
    if (chunk.form === 'list' || chunk.level >= level) {
      throw corrupt(`tree ${id.toString('hex')}`, 'it is not a part of a directory');
    }
    const child = lastUpTo(chunk.children, (one) => one.firstName, name);
    if (child === undefined) return undefined;
    ({ id } = child);
    ({ level } = chunk);
  }
}

/** The last of the sorted items whose name does not come after `name`. */
function lastUpTo<T>(items: readonly T[], nameOf: (item: T) => ByteString, name: ByteString): T | undefined {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = items[middle];
    if (item !== undefined && nameOf(item) <= name) low = middle + 1;
    else high = middle;
  }
  return items[low - 1];
}
