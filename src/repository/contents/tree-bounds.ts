/**
 * What a snapshot can hold, for everything that reads its trees.
 *
 * Directories that are the same share their chunks, so a few hundred bytes may unfold to any number of paths. Each entry
 * says how much lies below it, and a directory that holds more is damaged (`DirectoryCursor` looks). What is said
 * truthfully may still be endless. Backups of real files share directories where there are copies: n copies of a tree of
 * m entries are n + m entries that unfold to n times m, which is less than the square of what is stored. Each further
 * level of sharing would be another power, and no file system has that at any size that matters.
 */
import { RepositoryError } from '../../base/errors.ts';
import type { DirectoryTotals, Entry, FileEntry, TreeChunk } from '../../format/tree.ts';
import { isLostObject } from '../objects/lost-object.ts';

/** Entries of all depths in one snapshot: as many as the largest file systems number. */
export const MOST_ENTRIES = 2 ** 32;
/** So many entries may unfold from however little. */
const FEW_ENTRIES = 100_000;

/** Of one entry and all below it, as it says itself. */
export function entriesOf(entry: Entry): number {
  return entry.type === 'directory' ? 1 + entry.totals.entries : 1;
}

/** Where the parts of a tree are read. */
export interface TreeChunks {
  chunk(id: Buffer, signal: AbortSignal): Promise<TreeChunk>;
}

/** How many entries a walk of one tree may still come by. */
export class TreeBudget {
  #left: number;
  #more: (() => Promise<number>) | undefined;

  /** @param more asked once, when these are spent: how many there may be in all */
  constructor(entries: number, more?: () => Promise<number>) {
    this.#left = entries;
    this.#more = more;
  }

  /** @throws {RepositoryError} LIMIT_EXCEEDED */
  async spend(entries: number): Promise<void> {
    this.#left -= entries;
    if (this.#left >= 0) return;
    const more = this.#more;
    this.#more = undefined;
    if (more !== undefined) this.#left += (await more()) - FEW_ENTRIES;
    if (this.#left < 0) throw unfoldsWithoutEnd();
  }
}

/**
 * For a walk of everything below a directory. Of the tree as much is read as it takes to see that it may be so large: some
 * thousand entries for ten million, and each chunk once.
 * @param totals what the entry of the directory says; undefined for the root, which has none
 * @throws {RepositoryError} LIMIT_EXCEEDED for a tree that unfolds without end, CORRUPT_DATA when nothing can be read
 */
export async function treeBudget(
  reader: TreeChunks,
  directory: Buffer,
  totals: Pick<DirectoryTotals, 'entries'> | undefined,
  signal: AbortSignal,
): Promise<TreeBudget> {
  return new TreeBudget(await mostBelow(reader, directory, totals, signal));
}

/** The same for a walk that passes over most: nothing is read for it before it has come by many entries. */
export function lateTreeBudget(
  reader: TreeChunks,
  directory: Buffer,
  totals: DirectoryTotals | undefined,
  signal: AbortSignal,
): TreeBudget {
  const most = async (): Promise<number> => await mostBelow(reader, directory, totals, signal);
  return new TreeBudget(FEW_ENTRIES, most);
}

async function mostBelow(
  reader: TreeChunks,
  directory: Buffer,
  totals: Pick<DirectoryTotals, 'entries'> | undefined,
  signal: AbortSignal,
): Promise<number> {
  const look = new TreeLook(reader, signal);
  const entries = totals?.entries ?? (await look.entriesIn(directory));
  if (entries > MOST_ENTRIES) throw unfoldsWithoutEnd();
  if (entries <= FEW_ENTRIES) return entries;
  const most = await look.mostFrom(directory, entries);
  if (most >= entries) return entries;
  // What is lost may have been all that the rest is too small for.
  if (look.hasLost) return most;
  throw unfoldsWithoutEnd();
}

class TreeLook {
  readonly #reader: TreeChunks;
  readonly #signal: AbortSignal;
  hasLost = false;

  constructor(reader: TreeChunks, signal: AbortSignal) {
    this.#reader = reader;
    this.#signal = signal;
  }

  async entriesIn(directory: Buffer): Promise<number> {
    let sum = 0;
    const count = (leaf: readonly Entry[]): void => {
      for (const entry of leaf) sum += entriesOf(entry);
    };
    // Of a root that is damaged in parts the others count.
    await this.#through([directory], count, () => false);
    return sum;
  }

  /** How many entries the chunks below a directory can unfold to; no more are read than show that it is `enough`. */
  async mostFrom(directory: Buffer, enough: number): Promise<number> {
    let stored = 0;
    const most = (): number => FEW_ENTRIES + stored * stored;
    const waiting = [directory];
    const count = (leaf: readonly Entry[]): void => {
      stored += leaf.length;
      for (const entry of leaf) if (entry.type === 'directory') waiting.push(Buffer.from(entry.id));
    };
    await this.#through(waiting, count, () => most() >= enough);
    return most();
  }

  /** Every chunk once, from those that wait on. */
  async #through(
    waiting: Buffer[],
    each: (leaf: readonly Entry[]) => void,
    isEnough: () => boolean,
  ): Promise<void> {
    const seen = new Set<string>();
    let isFirst = true;
    for (let id = waiting.pop(); id !== undefined && !isEnough(); id = waiting.pop()) {
      const key = id.toString('latin1');
      if (seen.has(key)) continue;
      seen.add(key);
      this.#signal.throwIfAborted();
      try {
        const chunk = await this.#reader.chunk(id, this.#signal);
        if (chunk.form === 'leaf') each(chunk.entries);
        else if (chunk.form === 'branch')
          for (const child of chunk.children.toReversed()) waiting.push(Buffer.from(child.id));
      } catch (error) {
        if (isFirst || !isLostObject(error)) throw error;
        this.hasLost = true;
      }
      isFirst = false;
    }
  }
}

/** True of a tree that holds more than it can. */
export function isUnending(error: unknown): error is RepositoryError {
  return error instanceof RepositoryError && error.code === 'LIMIT_EXCEEDED';
}

function unfoldsWithoutEnd(): RepositoryError {
  return new RepositoryError(
    'LIMIT_EXCEEDED',
    'The snapshot claims to hold more entries than its size allows',
    { hint: 'This is no snapshot that a backup wrote. Do not trust whoever stored it.' },
  );
}

/** Chunks of a file that may come from lists which it names more than once: 8 TiB of one chunk over and over. */
const MOST_REPEATED = 2 ** 22;
/** So many chunks a file may have whatever its size. */
const FEW_CHUNKS = 65_536;
/** No writer makes smaller ones, but for the last of each run between holes. */
const SMALLEST_CHUNK = 4_096;

/** How many chunks a file with so many bytes of data between so many holes can have: each hole ends one. */
export function mostChunks(dataBytes: number, holes: number): number {
  return FEW_CHUNKS + holes + dataBytes / SMALLEST_CHUNK;
}

/** Holds the lists of one file to what a file of its size can have. */
export class ContentBudget {
  readonly #most: number;
  readonly #seen = new Set<string>();
  #chunks = 0;
  #repeated = 0;

  constructor({ size, holes = [] }: Pick<FileEntry, 'size' | 'holes'>) {
    const empty = holes.reduce((sum, hole) => sum + hole.length, 0);
    this.#most = mostChunks(size - empty, holes.length);
  }

  /** Whether the file may have another list, which names so many chunks. */
  has(list: Buffer, chunks: number): boolean {
    const key = list.toString('latin1');
    this.#chunks += chunks;
    if (this.#seen.has(key)) this.#repeated += Math.max(1, chunks);
    else this.#seen.add(key);
    return this.#chunks <= this.#most && this.#repeated <= MOST_REPEATED;
  }
}
