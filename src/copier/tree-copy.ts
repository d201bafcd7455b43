import type { TreeStore } from '../archiver/store/tree-store.ts';
import { corrupt } from '../base/errors.ts';
import { encodeDirectory } from '../format/tree-split.ts';
import { type DirectoryTotals, type Entry, MAX_DEPTH } from '../format/tree.ts';
import { treeBudget } from '../repository/contents/tree-bounds.ts';
import type { TreeReader } from '../repository/contents/tree-reader.ts';
import { type ChunkCopy, reading } from './chunk-copy.ts';

interface Below {
  readonly id: Buffer;
  /** The totals that the directory's entry claims; undefined for the root. */
  readonly totals: DirectoryTotals | undefined;
}

/** Copies trees of one namespace. A directory that several snapshots share is read and written once. */
export class TreeCopy {
  readonly #reader: TreeReader;
  readonly #chunks: ChunkCopy;
  readonly #trees: TreeStore;
  /** The number of entries below each directory that has been visited. */
  readonly #seen = new Map<string, number>();
  /** Ids in the target by ids in the source. The keys are hex digits, the values bytes. */
  readonly #copied = new Map<string, Buffer>();

  constructor(reader: TreeReader, chunks: ChunkCopy, trees: TreeStore) {
    this.#reader = reader;
    this.#chunks = chunks;
    this.#trees = trees;
  }

  /**
   * Notes the chunks of every file of a snapshot.
   * @throws {RepositoryError} CORRUPT_DATA, LIMIT_EXCEEDED for a tree that could not be read in the target either
   */
  async need(root: Buffer, signal: AbortSignal): Promise<void> {
    await treeBudget(this.#reader, root, undefined, signal);
    await this.#needBelow({ id: root, totals: undefined }, 0, signal);
  }

  /** Notes the chunks below a directory. Returns how many entries there are below it. */
  async #needBelow({ id, totals }: Below, depth: number, signal: AbortSignal): Promise<number> {
    const key = id.toString('hex');
    const known = this.#seen.get(key);
    const entries = known ?? (await this.#needNew({ id, totals }, depth, signal));
    if (totals !== undefined && totals.entries < entries)
      throw corrupt(`tree ${key}`, 'its directory holds more entries than its own entry says');
    this.#seen.set(key, entries);
    return entries;
  }

  async #needNew({ id, totals }: Below, depth: number, signal: AbortSignal): Promise<number> {
    const object = `tree ${id.toString('hex')}`;
    if (depth > MAX_DEPTH) throw corrupt(object, 'it lies deeper than paths can be');
    signal.throwIfAborted();
    let entries = 0;
    for await (const leaf of this.#reader.leaves(id, signal)) {
      for (const entry of leaf) {
        entries += 1;
        if (entry.type === 'directory') entries += await this.#needBelow(entry, depth + 1, signal);
        if (totals !== undefined && totals.entries < entries) return entries;
        if (entry.type !== 'file') continue;
        if (!entry.indirect) this.#chunks.need(entry.content);
        else for await (const ids of this.#reader.lists(entry, signal)) this.#chunks.need(ids);
      }
    }
    return entries;
  }

  /**
   * Writes a directory with everything below it, once its chunks have been copied; returns its id in the target.
   * @throws {SourceDamage}
   */
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
