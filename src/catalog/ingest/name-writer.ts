/** Writes the names of new nodes into blocks, in the same transaction as the nodes. */
import type { ByteString } from '../../base/byte-path.ts';
import type { CatalogDatabase } from '../tables/catalog-database.ts';
import {
  NAMES_PER_BLOCK,
  decodeNames,
  encodeNames,
  foldedBytes,
  namesIn,
  type Named,
} from '../tables/name-block.ts';

interface BlockRow {
  readonly count: number;
  readonly block: Buffer;
}

export class NameWriter {
  readonly #last;
  readonly #write;
  /** The names of the last block, which is not full; undefined until it is read. */
  #names: Named[] | undefined;
  #isNew = false;

  constructor(database: CatalogDatabase) {
    this.#last = database.prepare<[], BlockRow>('SELECT count, block FROM names ORDER BY first DESC LIMIT 1');
    this.#write = prepareBlockWrite(database);
  }

  /** @param node higher than every earlier one */
  add(node: number, directory: number, name: ByteString): void {
    this.#names ??= this.#readLast();
    this.#names.push({ node, directory, folded: foldedBytes(name) });
    this.#isNew = true;
    if (this.#names.length < NAMES_PER_BLOCK) return;
    this.flush();
    this.#names = [];
  }

  /** Writes the block. To be called before each commit. */
  flush(): void {
    if (this.#isNew) this.#write(this.#names ?? []);
    this.#isNew = false;
  }

  /** Forgets the names that are not written, as the transaction was rolled back. */
  drop(): void {
    this.#names = undefined;
    this.#isNew = false;
  }

  #readLast(): Named[] {
    const last = this.#last.get();
    if (last === undefined || last.count >= NAMES_PER_BLOCK) return [];
    return namesIn(decodeNames(last.block, last.count));
  }
}

/** Writes names, at least one, in place of the block that begins with the same node. */
export function prepareBlockWrite(database: CatalogDatabase): (names: readonly Named[]) => void {
  const insert = database.prepare<[number, number, number, Buffer]>(
    'INSERT OR REPLACE INTO names (first, last, count, block) VALUES (?, ?, ?, ?)',
  );
  return (names) => {
    const [first, last] = [names[0], names.at(-1)];
    if (first === undefined || last === undefined) return;
    insert.run(first.node, last.node, names.length, encodeNames(names));
  };
}
