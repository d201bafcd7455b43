/** What a run learned about the tree it stored. With this the next run with a change set passes over clean directories. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pathAbove, type ByteString } from '../../base/byte-path.ts';
import { errnoOf } from '../../base/errors.ts';
import type { ChunkIndex } from '../../repository/chunk-index.ts';
import type { ChangeSet } from './change-set.ts';
import type { Parent } from './parent.ts';
import { statPath } from '../source/stat.ts';
import type { EntryStat } from '../../system/entry-stat.ts';

type DirectoryTimes = Pick<EntryStat, 'ino' | 'mtimeNs' | 'ctimeNs'>;

export interface KnownTree {
  /** Id of the snapshot. */
  readonly snapshot: string;
  /** Lengths, by name, of the packs in which the whole tree was found. */
  readonly packs: ReadonlyMap<string, number>;
  readonly notes: TreeNotes;
}

/** The most directories to note, at some 200 bytes each. If there are more, nothing is passed over. */
const MOST_DIRECTORIES = 200_000;
/** Looks between two turns of the event loop: about 10 ms. */
const LOOKS_AT_ONCE = 2_000;

/** Gathered by the walk. */
export class TreeNotes {
  /**
   * Directories with files that have several names. Such a file may change under another name, without any sign of it
   * in this directory.
   */
  readonly linked = new Set<ByteString>();
  /** Rule files were in force that are themselves left out of the snapshot. */
  hiddenRules = false;
  readonly #directories = new Map<ByteString, DirectoryTimes>();
  #isWhole = true;

  get isWhole(): boolean {
    return this.#isWhole;
  }

  get directories(): ReadonlyMap<ByteString, DirectoryTimes> {
    return this.#directories;
  }

  directory(path: ByteString, { ino, mtimeNs, ctimeNs }: DirectoryTimes): void {
    if (this.#directories.size < MOST_DIRECTORIES) this.#directories.set(path, { ino, mtimeNs, ctimeNs });
    else this.#isWhole = false;
  }
}

/** Whether a directory and everything below it is as the parent snapshot has it, in the source and in the repository. */
export type CleanTest = (directory: ByteString) => boolean;

/**
 * Looks at every directory once, since no watcher reports what comes and goes between two of its messages. Undefined
 * when nothing may be passed over: there is no change set, or it is not certain that the repository still has all of
 * the parent's content. A pack of the same name has the same chunks, so comparing names is enough for that.
 *
 * @param notes of this run; the notes on clean directories are copied into it
 */
export async function cleanTest(
  parent: Parent | undefined,
  changes: ChangeSet | undefined,
  known: KnownTree | undefined,
  notes: TreeNotes,
): Promise<CleanTest | undefined> {
  if (parent === undefined || changes === undefined || known?.notes.isWhole !== true) return undefined;
  if (known.snapshot !== parent.snapshot.id || !hasPacks(parent.index, known.packs)) return undefined;
  const near = new Set<ByteString>();
  const mark = (directory: ByteString): void => {
    for (let path = directory; !near.has(path); path = pathAbove(path)) near.add(path);
  };
  for (const directory of [...changes.directories, ...known.notes.linked]) mark(directory);
  let looks = 0;
  for (const [path, before] of known.notes.directories) {
    if (near.has(path)) continue;
    looks += 1;
    if (looks % LOOKS_AT_ONCE === 0) await nextTurn();
    if (!isSame(path, before)) mark(path);
  }
  for (const [path, times] of known.notes.directories) if (!near.has(path)) notes.directory(path, times);
  return (directory) => !near.has(directory);
}

function hasPacks(index: ChunkIndex, wanted: KnownTree['packs']): boolean {
  if (index.damaged.length > 0 || index.missing.length > 0) return false;
  const usable = new Map(index.packs.map(({ name, length }) => [name, length]));
  return [...wanted].every(([name, length]) => usable.get(name) === length);
}

function isSame(path: ByteString, before: DirectoryTimes): boolean {
  try {
    const now = statPath(path);
    return (
      now !== undefined &&
      now.ino === before.ino &&
      now.mtimeNs === before.mtimeNs &&
      now.ctimeNs === before.ctimeNs
    );
  } catch (error) {
    // The walk looks again, and reports the error.
    if (errnoOf(error) === undefined) throw error;
    return false;
  }
}
