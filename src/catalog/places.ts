/** Where nodes lie: paths to nodes and back. A node never moves, so what was once looked up stays. */
import { joinBytes, type ByteString } from '../base/byte-path.ts';
import { walkOrder } from './tree-walk.ts';
import type { CatalogDatabase } from './catalog-database.ts';

interface Place {
  /** 0 for the root of a lineage. */
  readonly above: number;
  readonly path: ByteString;
  /** The path in the form whose order is that of a walk. */
  readonly order: string;
}

/** Directories remembered; some 25 MB. */
const REMEMBERED = 100_000;

export class Places {
  readonly #places = new Map<number, Place>();
  readonly #node;
  readonly #child;

  constructor(database: CatalogDatabase) {
    this.#node = database.prepare<[number], { directory: number; name: Buffer }>(
      'SELECT directory, name FROM node WHERE id = ?',
    );
    this.#child = database
      .prepare<[number, Buffer], number>('SELECT id FROM node WHERE directory = ? AND name = ?')
      .pluck();
  }

  /** The path of a directory's node; the root's is `/`. */
  pathOf(directory: number): ByteString {
    return this.#place(directory).path;
  }

  /** The place of a name in a directory in the order of a walk. */
  orderOf(directory: number, name: ByteString): string {
    return `${this.#place(directory).order}\0${name}`;
  }

  /** Whether a directory is `top` or lies below it. */
  isWithin(directory: number, top: number): boolean {
    for (let at = directory; at !== 0; at = this.#place(at).above) {
      if (at === top) return true;
    }
    return false;
  }

  /** The node of a path of a lineage, if any snapshot ever had it. */
  find(root: number, names: readonly ByteString[]): number | undefined {
    let at: number | undefined = root;
    for (const name of names) {
      at = this.#child.get(at, Buffer.from(name, 'latin1'));
      if (at === undefined) return undefined;
    }
    return at;
  }

  #place(node: number): Place {
    const known = this.#places.get(node);
    if (known !== undefined) return known;
    const way: { id: number; name: ByteString; above: number }[] = [];
    let path = '/' as ByteString;
    for (let id = node; ;) {
      const row = this.#node.get(id);
      if (row === undefined || row.directory === 0) {
        this.#remember(id, { above: 0, path, order: '' });
        break;
      }
      way.push({ id, name: row.name.toString('latin1') as ByteString, above: row.directory });
      const above = this.#places.get(row.directory);
      if (above !== undefined) {
        ({ path } = above);
        break;
      }
      id = row.directory;
    }
    let place: Place = { above: 0, path, order: '' };
    for (const { id, name, above } of way.toReversed()) {
      path = joinBytes(path, name);
      place = { above, path, order: walkOrder(path) };
      this.#remember(id, place);
    }
    return place;
  }

  #remember(id: number, place: Place): void {
    if (this.#places.size >= REMEMBERED) this.#places.clear();
    this.#places.set(id, place);
  }
}
