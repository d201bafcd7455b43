/** Finds the nodes of paths, and the paths of nodes. A node never moves, so a path that was looked up stays valid. */
import { joinBytes, type ByteString } from '../../base/byte-path.ts';
import type { CatalogDatabase } from '../tables/catalog-database.ts';

/** Directories that are remembered; some 5 MB. */
const REMEMBERED = 20_000;

export class Places {
  readonly #paths = new Map<number, ByteString>();
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

  /** The node of a path of a lineage, if any snapshot ever had it. */
  find(root: number, names: readonly ByteString[]): number | undefined {
    let at: number | undefined = root;
    for (const name of names) {
      at = this.#child.get(at, Buffer.from(name, 'latin1'));
      if (at === undefined) return undefined;
    }
    return at;
  }

  /** The path of a directory's node; the root's is `/`. */
  pathOf(directory: number): ByteString {
    const way: { readonly id: number; readonly name: ByteString }[] = [];
    let path: ByteString | undefined;
    for (let id = directory; path === undefined;) {
      path = this.#paths.get(id);
      if (path !== undefined) break;
      const row = this.#node.get(id);
      if (row === undefined || row.directory === 0) {
        path = '/' as ByteString;
        break;
      }
      way.push({ id, name: row.name.toString('latin1') as ByteString });
      id = row.directory;
    }
    for (const { id, name } of way.toReversed()) {
      path = joinBytes(path, name);
      this.#remember(id, path);
    }
    return path;
  }

  #remember(id: number, path: ByteString): void {
    if (this.#paths.size >= REMEMBERED) this.#paths.clear();
    this.#paths.set(id, path);
  }
}
