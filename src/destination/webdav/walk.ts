/** Every object below a folder: many folders at once, as each costs a round trip. */
import { ListBound, type FolderBound } from '../bounds.ts';
import type { ListedObject } from '../destination.ts';
import { isKeyPart } from '../key.ts';
import { untold, withheld } from './dav-failure.ts';
import type { Folder } from './folder.ts';
import { statOf } from './store.ts';

/** The most folders read at once. */
const mostAtOnce = 24;

interface Found {
  readonly objects: readonly ListedObject[];
  readonly folders: readonly string[];
}

/**
 * Yields the objects whose key begins with `prefix`, one folder after another. A folder that vanishes meanwhile has no
 * objects; any other failure rejects, so that a walk that ends is complete.
 */
export async function* walkObjects(
  folder: Folder,
  prefix: string,
  signal: AbortSignal,
): AsyncGenerator<readonly ListedObject[]> {
  const start = prefix.slice(0, Math.max(0, prefix.lastIndexOf('/')));
  const bound = new ListBound(folder.url);
  const waiting: string[] = [start];
  const asked = new Map<string, Promise<readonly [string, Found]>>();
  const over = new AbortController();
  const wanted = AbortSignal.any([signal, over.signal]);
  try {
    while (waiting.length > 0 || asked.size > 0) {
      signal.throwIfAborted();
      for (const name of waiting.splice(0, mostAtOnce - asked.size))
        asked.set(
          name,
          look(folder, name, prefix, bound, wanted).then((found) => [name, found] as const),
        );
      const [name, { objects, folders }] = await Promise.race(asked.values());
      asked.delete(name);
      waiting.push(...folders);
      if (objects.length > 0) yield objects;
    }
  } finally {
    // A folder that does not come to an end must not be read on when one of the others has failed.
    over.abort();
    await Promise.allSettled(asked.values());
  }
}

async function look(
  folder: Folder,
  name: string,
  prefix: string,
  bound: ListBound,
  signal: AbortSignal,
): Promise<Found> {
  const objects: ListedObject[] = [];
  const folders: string[] = [];
  const children = await childrenOf(folder, name, bound.folder(name), signal);
  const below = name === '' ? '' : `${name}/`;
  for (const [child, entry] of children ?? []) {
    const key = below + child;
    const isWanted = key.startsWith(prefix) || (entry.isFolder && prefix.startsWith(`${key}/`));
    if (!isKeyPart(child) || !isWanted) continue;
    if (entry.refused !== undefined) throw withheld(folder.url, 'list', key, entry.refused);
    const stat = statOf(entry);
    if (entry.isFolder) folders.push(key);
    else if (stat !== undefined) objects.push({ key, ...stat });
    else throw untold(folder.url, key, entry);
  }
  return { objects, folders };
}

/**
 * The longest name on the file systems of servers. Servers answer longer ones in various odd ways, so they are not
 * asked.
 */
const longestName = 255;

async function childrenOf(folder: Folder, name: string, bound: FolderBound, signal: AbortSignal) {
  if (name.split('/').some((part) => part.length > longestName)) return undefined;
  return await folder.children(name, bound, signal);
}
