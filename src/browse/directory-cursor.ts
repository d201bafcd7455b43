import type { ByteString } from '../base/byte-path.ts';
import { corrupt } from '../base/errors.ts';
import { MAX_LEVEL, type DirectoryTotals, type Entry } from '../format/tree.ts';
import { MOST_ENTRIES, entriesOf, type TreeBudget } from '../repository/contents/tree-bounds.ts';
import type { TreeReader } from '../repository/contents/tree-reader.ts';

/** A part of a directory that has not been read: its entries begin with `firstName` and end before the next part. */
export interface UnreadPart {
  /** Empty for the whole directory. */
  readonly firstName: ByteString;
  readonly id: Buffer;
  /** Level of the branch that names it; its own level must be lower. */
  readonly below: number;
}

/** Limits on the entries of a directory: what its own entry claims, and what the whole walk may still read. */
export interface DirectoryBounds {
  readonly totals: DirectoryTotals | undefined;
  readonly budget: TreeBudget;
}

/**
 * Goes through the entries of a directory in order of their names, with one leaf in memory at a time. It is either at
 * an entry or before an unread part; such a part can be skipped without reading it.
 */
export class DirectoryCursor {
  readonly #reader: TreeReader;
  readonly #budget: TreeBudget | undefined;
  /** Entries, of all depths, that the unread parts may still contain. */
  #left: number;
  /** A stack: the next part is the last. */
  readonly #unread: UnreadPart[];
  #entries: readonly Entry[] = [];
  #at = 0;
  #last: ByteString | undefined;

  /** @param bounds given when the walk covers more than one directory */
  constructor(reader: TreeReader, id: Buffer, bounds?: DirectoryBounds) {
    this.#reader = reader;
    this.#budget = bounds?.budget;
    this.#left = bounds?.totals?.entries ?? MOST_ENTRIES;
    this.#unread = [{ firstName: '' as ByteString, id, below: MAX_LEVEL + 1 }];
  }

  /** The entry at the cursor; undefined before an unread part and at the end. */
  get entry(): Entry | undefined {
    return this.#entries[this.#at];
  }

  /** The unread part that comes next; undefined at an entry and at the end. */
  get part(): UnreadPart | undefined {
    return this.entry === undefined ? this.#unread.at(-1) : undefined;
  }

  /** Moves past the entry, or past the unread part without reading it. */
  skip(): void {
    if (this.#entries.length > this.#at) this.#at += 1;
    else this.#unread.pop();
  }

  /**
   * Reads the next part. If that fails the cursor is past the part, so that the others can still be read.
   * @throws {RepositoryError} CORRUPT_DATA; LIMIT_EXCEEDED when the walk has read as much as it may
   */
  async read(signal: AbortSignal): Promise<void> {
    const part = this.part;
    if (part === undefined) return;
    this.#unread.pop();
    const object = `tree ${part.id.toString('hex')}`;
    const chunk = await this.#reader.chunk(part.id, signal);
    if (chunk.form === 'list' || (chunk.form === 'branch' && chunk.level >= part.below)) {
      throw corrupt(object, 'it is not a part of a directory');
    }
    const first = chunk.form === 'leaf' ? chunk.entries[0]?.name : chunk.children[0]?.firstName;
    const inOrder = part.firstName === '' || first === part.firstName;
    if (!inOrder || (first !== undefined && this.#last !== undefined && first <= this.#last)) {
      throw corrupt(object, 'its parts are out of order');
    }
    if (chunk.form === 'leaf') {
      await this.#budget?.spend(chunk.entries.length);
      for (const entry of chunk.entries) this.#left -= entriesOf(entry);
      if (this.#left < 0) throw corrupt(object, 'its directory holds more entries than its own entry says');
      this.#entries = chunk.entries;
      this.#at = 0;
      this.#last = chunk.entries.at(-1)?.name ?? this.#last;
      return;
    }
    for (const { firstName, id } of chunk.children.toReversed()) {
      this.#unread.push({ firstName, id, below: chunk.level });
    }
  }

  /** Returns the next entry and moves past it; undefined at the end. */
  async next(signal: AbortSignal): Promise<Entry | undefined> {
    while (this.part !== undefined) await this.read(signal);
    const { entry } = this;
    if (entry !== undefined) this.skip();
    return entry;
  }
}
