/**
 * Limits what a snapshot can hold, for everything that reads its trees.
 *
 * Identical directories share their chunks, so a few hundred bytes may unfold to any number of paths. Each entry states
 * how much lies below it, and a directory that holds more is damaged (`DirectoryCursor` checks this). But even
 * correctly stated totals may be endless. Backups of real files share directories where there are copies: n copies of a
 * tree of m entries are n + m entries that unfold to n times m, which is less than the square of what is stored. Each
 * further level of sharing would add another power, and no file system has that at any size that matters.
 */
import { RepositoryError } from '../../base/errors.ts';
import type { DirectoryTotals, Entry, FileEntry, TreeChunk } from '../../format/tree.ts';
import { isLostObject } from '../objects/lost-object.ts';

/** Most entries of all depths in one snapshot: as many as the largest file systems can number. */
export const MOST_ENTRIES = 2 ** 32;
/** This many entries are allowed however little is stored. */
const FEW_ENTRIES = 100_000;

/** The number of entries that an entry stands for, itself included, as it states. */
export function entriesOf(entry: Entry): number {
  return entry.type === 'directory' ? 1 + entry.totals.entries : 1;
}

/** Reads the chunks of a tree. */
export interface TreeChunks {
  chunk(id: Buffer, signal: AbortSignal): Promise<TreeChunk>;
}

/** The number of entries that a walk of one tree may still visit. */
export class TreeBudget {
  #left: number;
  #more: (() => Promise<number>) | undefined;

  /** @param more called once, when `entries` are spent; returns how many there may be in all */
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
 * The budget for a walk of everything below a directory. Only as much of the tree is read as proves that it may be that
 * large: some thousand entries for ten million, and each chunk once.
 * @param totals what the directory's entry states; undefined for the root, which has none
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

/** The budget for a walk that skips most of the tree: nothing is read for it until the walk has visited many entries. */
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
  // Chunks that are lost may account for the difference.
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
    // Where parts of the root are damaged, the others are counted.
    await this.#through([directory], count, () => false);
    return sum;
  }

  /** How many entries the chunks below a directory can unfold to. Reading stops once the result is at least `enough`. */
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

  /** Reads every chunk that is reachable from `waiting` once. */
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

/** True for the error about a tree that unfolds without end. */
export function isUnending(error: unknown): error is RepositoryError {
  return error instanceof RepositoryError && error.code === 'LIMIT_EXCEEDED';
}

function unfoldsWithoutEnd(): RepositoryError {
  return new RepositoryError(
    'LIMIT_EXCEEDED',
    'The snapshot claims to hold more entries than its size allows',
    { hint: 'No backup wrote this snapshot. Do not trust whoever stored it.' },
  );
}

/** Most chunks of a file that may come from lists which it names more than once: 8 TiB of one repeated chunk. */
const MOST_REPEATED = 2 ** 22;
/** A file may have this many chunks whatever its size. */
const FEW_CHUNKS = 65_536;
/** The smallest chunk that writers make, except at the end of each run between holes. */
const SMALLEST_CHUNK = 4_096;

/** How many chunks a file with this many bytes of data and this many holes can have: each hole ends a chunk. */
export function mostChunks(dataBytes: number, holes: number): number {
  return FEW_CHUNKS + holes + dataBytes / SMALLEST_CHUNK;
}

/** Limits the lists of one file to what a file of its size can have. */
export class ContentBudget {
  readonly #most: number;
  readonly #seen = new Set<string>();
  #chunks = 0;
  #repeated = 0;

  constructor({ size, holes = [] }: Pick<FileEntry, 'size' | 'holes'>) {
    const empty = holes.reduce((sum, hole) => sum + hole.length, 0);
    this.#most = mostChunks(size - empty, holes.length);
  }

  /** Whether the file may have one more list, which names `chunks` chunks. */
  has(list: Buffer, chunks: number): boolean {
    const key = list.toString('latin1');
    this.#chunks += chunks;
    if (this.#seen.has(key)) this.#repeated += Math.max(1, chunks);
    else this.#seen.add(key);
    return this.#chunks <= this.#most && this.#repeated <= MOST_REPEATED;
  }
}
