/** What stands in the directory of a local repository, seen from outside. */
import {
  closeSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  readdirSync,
  rmSync,
  utimesSync,
} from 'node:fs';
import { join, relative } from 'node:path';

export interface StoredObject {
  readonly key: string;
  readonly size: number;
}

/** Finished objects by key, and what broken-off writes left. */
export interface Listing {
  readonly objects: ReadonlyMap<string, StoredObject>;
  readonly leftovers: readonly string[];
}

export function listRepository(directory: string): Listing {
  const objects = new Map<string, StoredObject>();
  const leftovers: string[] = [];
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const key = relative(directory, path);
    const size = lstatSync(path, { throwIfNoEntry: false })?.size;
    if (size === undefined) continue;
    if (entry.name.startsWith('.tmp-')) leftovers.push(key);
    else objects.set(key, { key, size });
  }
  return { objects, leftovers };
}

/** Keys that `after` has and `before` has not, below `prefix`. */
export function added(before: Listing, after: Listing, prefix: string): readonly StoredObject[] {
  return [...after.objects.values()].filter(({ key }) => key.startsWith(prefix) && !before.objects.has(key));
}

export function bytesOf(objects: readonly StoredObject[]): number {
  return objects.reduce((sum, { size }) => sum + size, 0);
}

/** Whether the object is a pack of tree chunks: the type stands in the clear in the header. */
export function isTreePack(directory: string, { key }: StoredObject): boolean {
  const file = openSync(join(directory, key), 'r');
  try {
    const start = Buffer.alloc(6);
    readSync(file, start, 0, start.length, 0);
    return start[5] === 2;
  } finally {
    closeSync(file);
  }
}

/** A copy whose files are the same inodes: objects are never changed, only added and removed. */
export function linkedCopy(from: string, to: string): void {
  mkdirSync(to, { recursive: true, mode: 0o700 });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) linkedCopy(source, target);
    else linkSync(source, target);
  }
}

/** Sets the times of everything in a directory that `chosen` picks back, as if so much time had passed since. */
export function ageFiles(directory: string, byMs: number, chosen: (name: string) => boolean): number {
  let aged = 0;
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !chosen(entry.name)) continue;
    const path = join(entry.parentPath, entry.name);
    const seconds = (lstatSync(path).mtimeMs - byMs) / 1_000;
    utimesSync(path, seconds, seconds);
    aged += 1;
  }
  return aged;
}

const FIVE_MINUTES = 5 * 60_000;

/** Lets the leases of processes that were killed run out, as they do by themselves after five minutes. */
export function expireLeases(repository: string): void {
  const leases = join(repository, 'leases');
  if (lstatSync(leases, { throwIfNoEntry: false }) !== undefined)
    ageFiles(leases, FIVE_MINUTES * 2, () => true);
}

export function removeAll(...directories: readonly string[]): void {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
}
