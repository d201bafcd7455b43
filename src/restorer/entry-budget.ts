import { RepositoryError, corrupt } from '../base/errors.ts';
import type { Entry } from '../format/tree.ts';
import type { ChunkIndex } from '../repository/chunk-index.ts';

/**
 * A bomb is a small tree that unfolds into an endless one: directories that many entries share. These bound what a tree
 * can hold by the bytes it is made of. Hard-linked copies of a tree do share their lowest directories.
 */
const LIMIT = { fewEntries: 100_000, smallestEntryBytes: 24, sharedAtMost: 1_000 } as const;

/** Entries of all depths that a snapshot of this repository can have. */
export function mostEntries({ packs }: ChunkIndex): number {
  let treeBytes = 0;
  for (const { kind, segments } of packs) {
    if (kind !== 'tree') continue;
    for (let i = 2; i < segments.length; i += 3) treeBytes += (segments[i] ?? 0) & 0x7fff_ffff;
  }
  return LIMIT.fewEntries + (treeBytes / LIMIT.smallestEntryBytes) * LIMIT.sharedAtMost;
}

/** Holds a directory to the number of entries, of all depths, that it may have: the root to what is possible at all. */
export class EntryBudget {
  #left: number;
  readonly #isRoot: boolean;

  constructor(entries: number, isRoot: boolean) {
    this.#left = entries;
    this.#isRoot = isRoot;
  }

  /** @throws {RepositoryError} CORRUPT_DATA when it is exceeded, LIMIT_EXCEEDED for the root */
  count(entry: Entry): void {
    this.#left -= entry.type === 'directory' ? 1 + entry.totals.entries : 1;
    if (this.#left >= 0) return;
    if (!this.#isRoot) throw corrupt('A directory', 'it holds more entries than its own entry says');
    throw new RepositoryError(
      'LIMIT_EXCEEDED',
      'The snapshot claims to hold more entries than its size allows',
      {
        hint: 'This is no snapshot that a backup wrote. Do not trust this repository.',
      },
    );
  }
}
