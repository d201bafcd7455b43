/** Searches the blocks of names. The results are nodes, whether or not a snapshot has them. */
import type { CatalogDatabase } from '../tables/catalog-database.ts';
import { isMarked, mark, noMarks, type Marks } from '../tables/marks.ts';
import { bytesOf, decodeNames, type NameBlock } from '../tables/name-block.ts';
import type { NamePattern } from '../tables/name-pattern.ts';
import { findNames, prepareNameSearch } from './name-search.ts';

/** Bytes of blocks that stay in memory between two searches; others are read each time. Enough for two million names. */
const KEPT = 67_108_864;
/** How many results are remembered, for the next page of a list. */
const REMEMBERED = 8;

interface Stored {
  readonly first: number;
  readonly last: number;
  readonly count: number;
}

interface Known extends Stored {
  loaded: NameBlock | undefined;
}

export class NameIndex {
  readonly #list;
  readonly #block;
  readonly #ofType;
  readonly #kept: number;
  #blocks: readonly Known[] = [];
  #bytes = 0;
  #stale = true;
  readonly #results = new Map<string, Marks>();
  #ways = new WeakMap<Marks, Marks>();

  /** @param kept bytes of blocks to keep in memory */
  constructor(database: CatalogDatabase, kept = KEPT) {
    this.#kept = kept;
    this.#list = database.prepare<[], Stored>('SELECT first, last, count FROM names ORDER BY first');
    this.#block = database.prepare<[number], Buffer>('SELECT block FROM names WHERE first = ?').pluck();
    this.#ofType = database
      .prepare<[number], number>('SELECT DISTINCT node FROM version WHERE type > 1 AND type = ?')
      .pluck();
  }

  /** Called when something was written to the database. */
  outdate(): void {
    this.#stale = true;
  }

  /** Nodes whose name matches. */
  matching(pattern: NamePattern): Marks {
    return this.#remembered(`name ${pattern.folded}`, (marks) => {
      const [first] = this.#blocks;
      const search = prepareNameSearch(pattern, first === undefined ? undefined : this.#load(first));
      for (const block of this.#blocks) findNames(this.#load(block), search, marks);
    });
  }

  /** Nodes that were something other than a file at some time. */
  ofType(type: number): Marks {
    return this.#remembered(`type ${type}`, (marks) => {
      for (const node of this.#ofType.iterate(type)) mark(marks, node);
    });
  }

  /** Nodes directly in a directory. */
  inside(top: number): Marks {
    return this.#remembered(`inside ${top}`, (marks) => {
      this.#downFrom(top, (directory, node) => {
        if (directory === top) mark(marks, node);
      });
    });
  }

  /** Nodes below a directory at all depths. */
  below(top: number): Marks {
    return this.#remembered(`below ${top}`, (marks) => {
      this.#downFrom(top, (directory, node) => {
        if (directory === top || isMarked(marks, directory)) mark(marks, node);
      });
    });
  }

  /** The directories that contain marked nodes, up to the root. */
  waysTo(marks: Marks): Marks {
    this.#refresh();
    const known = this.#ways.get(marks);
    if (known !== undefined) return known;
    const ways = noMarks(this.#highest());
    for (let at = this.#blocks.length - 1; at >= 0; at -= 1) {
      const block = this.#blocks[at];
      if (block === undefined) break;
      const { nodes, directories } = this.#load(block);
      // An entry has a higher number than its directory, so going backwards meets entries first.
      for (let i = nodes.length - 1; i >= 0; i -= 1) {
        const node = nodes[i] ?? 0;
        if (isMarked(marks, node) || isMarked(ways, node)) mark(ways, directories[i] ?? 0);
      }
    }
    this.#ways.set(marks, ways);
    return ways;
  }

  #downFrom(top: number, visit: (directory: number, node: number) => void): void {
    for (const block of this.#blocks) {
      if (block.last <= top) continue;
      const { nodes, directories } = this.#load(block);
      for (let i = 0; i < nodes.length; i += 1) visit(directories[i] ?? 0, nodes[i] ?? 0);
    }
  }

  #remembered(key: string, fill: (marks: Marks) => void): Marks {
    this.#refresh();
    const known = this.#results.get(key);
    const marks = known ?? noMarks(this.#highest());
    if (known === undefined) fill(marks);
    this.#results.delete(key);
    this.#results.set(key, marks);
    for (const oldest of this.#results.keys()) {
      if (this.#results.size <= REMEMBERED) break;
      this.#results.delete(oldest);
    }
    return marks;
  }

  #highest(): number {
    return this.#blocks.at(-1)?.last ?? 0;
  }

  #load(block: Known): NameBlock {
    if (block.loaded !== undefined) return block.loaded;
    const loaded = decodeNames(this.#block.get(block.first) ?? Buffer.alloc(4), block.count);
    const bytes = bytesOf(loaded);
    if (this.#bytes + bytes <= this.#kept) {
      block.loaded = loaded;
      this.#bytes += bytes;
    }
    return loaded;
  }

  /** Node numbers are never reused, so a block with the same ends and the same count is the same block. */
  #refresh(): void {
    if (!this.#stale) return;
    const before = new Map(this.#blocks.map((block) => [block.first, block]));
    this.#blocks = this.#list.all().map((block) => {
      const old = before.get(block.first);
      const isSame = old?.last === block.last && old.count === block.count;
      return { ...block, loaded: isSame ? old.loaded : undefined };
    });
    this.#bytes = this.#blocks.reduce(
      (sum, { loaded }) => sum + (loaded === undefined ? 0 : bytesOf(loaded)),
      0,
    );
    // All results are dropped, since types change without new names.
    this.#results.clear();
    this.#ways = new WeakMap();
    this.#stale = false;
  }
}
