/** Every object below a directory on the server: many directories at once, as each costs round trips. */
import { ListBound, LONGEST_KEY } from '../bounds.ts';
import type { ListedObject } from '../destination.ts';
import { isKeyPart } from '../key.ts';
import { isStatus, STATUS } from './answers.ts';
import type { Lane, NamedFacts } from './lane.ts';

/** The most directories read at once. */
const mostAtOnce = 48;

/** Runs work on a session. */
export type OnLane = <T>(work: (lane: Lane) => Promise<T>) => Promise<T>;

export interface Walk {
  readonly onLane: OnLane;
  /** Absolute, on the server. */
  readonly root: string;
  /** For people. */
  readonly url: string;
  /** The prefix, split into the directory to begin in (relative to the root) and the beginning of the names in it. */
  readonly start: string;
  readonly firstPart: string;
}

interface Found {
  readonly objects: readonly ListedObject[];
  readonly directories: readonly string[];
}

/**
 * Yields the objects of one directory after another. A directory that vanishes meanwhile has no objects; any other
 * failure rejects, so that a walk that ends is complete.
 */
export async function* walkObjects(walk: Walk, signal: AbortSignal): AsyncGenerator<readonly ListedObject[]> {
  const bound = new ListBound(walk.url);
  const waiting: string[] = [walk.start];
  const reading = new Map<string, Promise<readonly [string, Found]>>();
  const over = new AbortController();
  const wanted = AbortSignal.any([signal, over.signal]);
  try {
    while (waiting.length > 0 || reading.size > 0) {
      signal.throwIfAborted();
      for (const directory of waiting.splice(0, mostAtOnce - reading.size))
        reading.set(
          directory,
          look(walk, directory, bound, wanted).then((found) => [directory, found] as const),
        );
      const [directory, { objects, directories }] = await Promise.race(reading.values());
      reading.delete(directory);
      waiting.push(...directories);
      if (objects.length > 0) yield objects;
    }
  } finally {
    // A directory that does not come to an end must not be read on when one of the others has failed.
    over.abort();
    await Promise.allSettled(reading.values());
  }
}

async function look(walk: Walk, directory: string, bound: ListBound, signal: AbortSignal): Promise<Found> {
  const { onLane, root, start, firstPart } = walk;
  const { count } = bound.folder(directory);
  const objects: ListedObject[] = [];
  const directories: string[] = [];
  const path = directory === '' ? root : `${root}/${directory}`;
  const below = directory === '' ? '' : `${directory}/`;
  await onLane(async (lane) => {
    for (const { name, ...facts } of await namesIn(lane, path, directory === start, (one) => {
      signal.throwIfAborted();
      count(one);
    })) {
      if (!isKeyPart(name) || (directory === start && !name.startsWith(firstPart))) continue;
      const { type, size, modifiedMs } =
        facts.type === 'link' ? await followed(lane, `${path}/${name}`, facts) : facts;
      if (type === 'directory') directories.push(below + name);
      else if (type === 'file') objects.push({ key: below + name, size, modifiedMs });
    }
  });
  return { objects, directories };
}

/**
 * The names in a directory; none when it does not exist.
 * @param count called for each name and for each answer
 */
export async function namesIn(
  lane: Lane,
  path: string,
  isFirst: boolean,
  count: (name?: string) => void,
): Promise<readonly NamedFacts[]> {
  let handle: Buffer;
  try {
    handle = await lane.openDirectory(path);
  } catch (error) {
    // A prefix may be longer than any valid name, which servers answer with "bad message".
    const isAbsent = isStatus(error, STATUS.noSuchFile) || (isFirst && isStatus(error, STATUS.badMessage));
    if (isAbsent || (await isNoDirectory(lane, path, error))) return [];
    throw error;
  }
  try {
    const names: NamedFacts[] = [];
    for (;;) {
      // The second answer is nearly always the end, which then costs no round trip of its own.
      const [some, more] = await Promise.all([lane.readDirectory(handle), lane.readDirectory(handle)]);
      count();
      for (const name of [...(some ?? []), ...(more ?? [])]) {
        count(name.name);
        // It is none of a repository's, and some servers tell of names of any length.
        if (name.name.length <= LONGEST_KEY) names.push(name);
      }
      if (some === undefined || more === undefined) return names;
    }
  } finally {
    lane.close(handle).catch(() => undefined);
  }
}

/** Whether the path is a file or does not exist, so that there are no objects below it. */
async function isNoDirectory(lane: Lane, path: string, error: unknown): Promise<boolean> {
  if (!isStatus(error, STATUS.failure)) return false;
  const [seen] = await Promise.allSettled([lane.stat(path)]);
  if (seen.status === 'fulfilled') return seen.value.type !== 'directory';
  return isStatus(seen.reason, STATUS.noSuchFile);
}

/**
 * The attributes of a symbolic link's target; those of the link itself, which is neither file nor directory, when it
 * leads nowhere.
 */
async function followed(
  lane: Lane,
  path: string,
  link: Omit<NamedFacts, 'name'>,
): Promise<Omit<NamedFacts, 'name'>> {
  try {
    return await lane.stat(path);
  } catch (error) {
    if (isStatus(error, STATUS.noSuchFile)) return link;
    throw error;
  }
}
