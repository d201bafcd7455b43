/**
 * The names of all nodes, in memory: a search for a part of one goes through a million of them in some milliseconds,
 * however short the part is. (An index of three-letter pieces would be several times the size of the names, would slow
 * down every ingest, and could not find "漢字".)
 */
import type { CatalogDatabase } from './catalog-database.ts';
import { foldText, type NamePattern } from './name-pattern.ts';

/** Names in one block of memory: some milliseconds' work to take in. */
const BLOCK = 10_000;

interface Block {
  readonly nodes: Float64Array;
  /** Folded names in UTF-8, each with a zero byte behind it. */
  readonly folded: Buffer;
  /** Where each begins in `folded`, and then the end. */
  readonly starts: Uint32Array;
}

export class NameMemory {
  readonly #page;
  readonly #blocks: Block[] = [];
  /** The newest node whose name is in. */
  #newest = 0;
  #stale = true;

  constructor(database: CatalogDatabase) {
    this.#page = database
      .prepare<[number, number], readonly [node: number, name: string]>(
        'SELECT id, CAST(name AS TEXT) FROM node WHERE id > ? AND directory <> 0 ORDER BY id LIMIT ?',
      )
      .raw();
  }

  /** There may be names that are not in yet. */
  outdate(): void {
    this.#stale = true;
  }

  /** Takes in some of the names that came since the last time; false when there are no more. */
  load(): boolean {
    if (!this.#stale) return false;
    const rows = this.#page.all(this.#newest, BLOCK);
    if (rows.length > 0) this.#blocks.push(blockOf(rows));
    this.#newest = rows.at(-1)?.[0] ?? this.#newest;
    this.#stale = rows.length === BLOCK;
    return this.#stale;
  }

  /**
   * The nodes whose names match and hold the pattern's literal, which must not be empty; undefined as soon as there are
   * more than `limit`.
   */
  find(pattern: NamePattern, limit: number): readonly number[] | undefined {
    while (this.load());
    const needle = Buffer.from(pattern.literal, 'utf8');
    const found: number[] = [];
    for (const { nodes, folded, starts } of this.#blocks) {
      for (let at = folded.indexOf(needle); at !== -1;) {
        const i = indexOfName(starts, at);
        const [start = 0, end = 0] = [starts[i], starts[i + 1]];
        if (pattern.matches(folded.toString('utf8', start, end - 1))) {
          if (found.length >= limit) return undefined;
          found.push(nodes[i] ?? 0);
        }
        at = folded.indexOf(needle, end);
      }
    }
    return found;
  }
}

function blockOf(rows: readonly (readonly [node: number, name: string])[]): Block {
  const names = rows.map(([, name]) => foldText(name));
  const starts = new Uint32Array(names.length + 1);
  let end = 0;
  for (const [i, name] of names.entries()) {
    end += Buffer.byteLength(name) + 1;
    starts[i + 1] = end;
  }
  return {
    nodes: Float64Array.from(rows, ([node]) => node),
    folded: Buffer.from(`${names.join('\0')}\0`, 'utf8'),
    starts,
  };
}

/** The name that the byte at `at` belongs to. */
function indexOfName(starts: Uint32Array, at: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if ((starts[middle] ?? 0) <= at) low = middle;
    else high = middle;
  }
  return low;
}
