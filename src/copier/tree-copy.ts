import type { TreeStore } from '../archiver/tree-store.ts';
import { encodeDirectory } from '../format/tree-split.ts';
import type { Entry } from '../format/tree.ts';
import type { TreeReader } from '../repository/tree-reader.ts';
import type { ChunkCopy } from './chunk-copy.ts';
import { reading } from './source-damage.ts';

/** Copies trees of one namespace. A directory that several snapshots share is read and written once. */
export class TreeCopy {
  readonly #reader: TreeReader;
  readonly #chunks: ChunkCopy;
  readonly #trees: TreeStore;
  readonly #seen = new Set<string>();
  /** Ids in the target by ids in the source, both as hex digits and bytes. */
  readonly #copied = new Map<string, Buffer>();

  constructor(reader: TreeReader, chunks: ChunkCopy, trees: TreeStore) {
    this.#reader = reader;
    this.#chunks = chunks;
    this.#trees = trees;
  }

  /** Notes the chunks of every file below a directory. @throws {RepositoryError} CORRUPT_DATA */
  async need(directory: Buffer, signal: AbortSignal): Promise<void> {
    const key = directory.toString('hex');
    if (this.#seen.has(key)) return;
    signal.throwIfAborted();
    for await (const leaf of this.#reader.leaves(directory, signal)) {
      for (const entry of leaf) {
        if (entry.type === 'file') this.#chunks.need(await this.#reader.contentIds(entry, signal));
        else if (entry.type === 'directory') await this.need(entry.id, signal);
      }
    }
    this.#seen.add(key);
  }

  /** Writes a directory with everything below, whose chunks are copied; returns its id in the target. @throws {SourceDamage} */
  async write(directory: Buffer, signal: AbortSignal): Promise<Buffer> {
    const key = directory.toString('hex');
    const known = this.#copied.get(key);
    if (known !== undefined) return known;
    signal.throwIfAborted();
    await this.#trees.room(signal);
    const entries: Entry[] = [];
    for (const entry of await reading(async () => await this.#reader.directory(directory, signal))) {
      if (entry.type === 'directory') entries.push({ ...entry, id: await this.write(entry.id, signal) });
      else if (entry.type === 'file') {
        const ids = this.#chunks.idsOf(
          await reading(async () => await this.#reader.contentIds(entry, signal)),
        );
        entries.push({ ...entry, ...this.#trees.content(ids) });
      } else entries.push(entry);
    }
    const id = encodeDirectory(entries, this.#trees.put);
    this.#copied.set(key, id);
    return id;
  }
}
