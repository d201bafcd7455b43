import { BugError } from '../../base/errors.ts';
import { encodeDirectory } from '../../format/tree-split.ts';
import { totalsOf, type DirectoryTotals, type Entry } from '../../format/tree.ts';
import type { EntryStat } from '../../system/entry-stat.ts';

/** A stored directory: what its entry in the parent needs. */
export interface StoredDirectory {
  readonly id: Buffer;
  readonly totals: DirectoryTotals;
  /** The directory as it was when it was opened; undefined where that was not needed. */
  readonly opened?: EntryStat | undefined;
}

/** Receives the outcome of looking at an entry. */
export interface EntryPlace {
  /** The entry is known already; `same` when it equals the parent's. */
  add(entry: Entry, same: boolean): void;
  /** The entry will be settled later. */
  expect(): PendingEntry;
  /** There is no entry to store. `differs` when the parent may have one. */
  nothing(differs: boolean): void;
}

/** An `EntryPlace` that settles an entry which was expected and is looked at again. */
export function placeExpected(done: PendingEntry): EntryPlace {
  return {
    add: (entry) => done(entry, false),
    expect: () => done,
    nothing: () => done(undefined, false),
  };
}

/**
 * A directory whose entries arrive in any order, as files are read and subdirectories completed. Once all have arrived
 * the directory is stored and `completed` is called.
 */
export class PendingDirectory implements EntryPlace {
  readonly #store: (chunk: Buffer) => Buffer;
  readonly #completed: (stored: StoredDirectory) => void;
  readonly #reuse: Buffer | undefined;
  #entries: (Entry | undefined)[] = [];
  /** The walker itself holds one share until it has listed everything. */
  #waiting = 1;
  #same = true;

  /** @param reuse id of the parent snapshot's version, kept when every entry turns out to be the same */
  constructor(
    store: (chunk: Buffer) => Buffer,
    reuse: Buffer | undefined,
    completed: (stored: StoredDirectory) => void,
  ) {
    this.#store = store;
    this.#reuse = reuse;
    this.#completed = completed;
  }

  /** Adds an entry that is known already. */
  add(entry: Entry, same: boolean): void {
    this.#entries.push(entry);
    if (!same) this.#same = false;
  }

  /** Keeps a place, in order, for an entry that comes later. */
  expect(): PendingEntry {
    const at = this.#entries.length;
    this.#entries.push(undefined);
    this.#waiting += 1;
    let open = true;
    return (entry, same) => {
      if (!open) throw new BugError('A directory entry was settled twice');
      open = false;
      this.#entries[at] = entry;
      if (!same) this.#same = false;
      this.#settleOne();
    };
  }

  nothing(differs: boolean): void {
    if (differs) this.#same = false;
  }

  /** The directory is not the same as the parent's, because an entry is gone or the listing is incomplete. */
  differs(): void {
    this.#same = false;
  }

  /** Everything has been listed. */
  listed(): void {
    this.#settleOne();
  }

  #settleOne(): void {
    this.#waiting -= 1;
    if (this.#waiting === 0) completeInTurn(() => this.#complete());
  }

  #complete(): void {
    const entries = this.#entries.filter((entry) => entry !== undefined);
    this.#entries = [];
    const totals = totalsOf(entries);
    const id = this.#same && this.#reuse !== undefined ? this.#reuse : encodeDirectory(entries, this.#store);
    this.#completed({ id, totals });
  }
}

let turns: (() => void)[] | undefined;

/**
 * One completed directory may complete thousands above it. They are completed one after the other, to avoid deep recursion.
 */
function completeInTurn(complete: () => void): void {
  if (turns !== undefined) {
    turns.push(complete);
    return;
  }
  turns = [complete];
  try {
    for (let next = turns.shift(); next !== undefined; next = turns.shift()) next();
  } finally {
    turns = undefined;
  }
}

/** Settles an expected entry: the entry, or undefined when there is none; `same` when it equals the parent's. */
export type PendingEntry = (entry: Entry | undefined, same: boolean) => void;
