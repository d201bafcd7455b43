import { asByteString, joinBytes, type ByteString } from '../../base/byte-path.ts';
import { ID_BYTES } from '../../codec/hash.ts';
import type { FileEntry, TreeChunk } from '../../format/tree.ts';
import { chunkKey } from './check-index.ts';
import type { FindingDraft } from './check-report.ts';
import { isDamage, type ChunkIndex } from '../chunk-index.ts';
import type { Repository } from '../repository.ts';
import type { Snapshot } from '../snapshots.ts';
import { TreeReader } from '../contents/tree-reader.ts';

/** Collects what cannot be restored, and the finding that says why. */
export class Damage {
  /** Chunks that cannot be read, by chunk key. */
  readonly chunks = new Map<string, FindingDraft>();
  readonly #files = new Map<string, FindingDraft>();

  get isEmpty(): boolean {
    return this.chunks.size === 0 && this.#files.size === 0;
  }

  addFile(tree: Buffer, name: string, draft: FindingDraft): void {
    this.#files.set(`${chunkKey(tree)}/${name}`, draft);
  }

  ofFile(tree: Buffer, name: string): FindingDraft | undefined {
    return this.#files.get(`${chunkKey(tree)}/${name}`);
  }
}

/** Finds the files and directories of the live snapshots that damage makes impossible to restore in full. */
export async function mapAffected(
  repository: Repository,
  index: ChunkIndex,
  snapshots: readonly Snapshot[],
  damage: Damage,
  signal: AbortSignal,
): Promise<void> {
  const search = new AffectedSearch(repository, index, damage, signal);
  for (const snapshot of snapshots) await search.snapshot(snapshot);
}

class AffectedSearch {
  readonly #repository: Repository;
  readonly #index: ChunkIndex;
  readonly #damage: Damage;
  readonly #signal: AbortSignal;
  readonly #readers = new Map<string, TreeReader>();
  /** Whether a tree chunk or anything below it is damaged. */
  readonly #touched = new Map<string, boolean>();
  /** Findings about the chunks of a list; each list is read once. */
  readonly #lists = new Map<string, ReadonlySet<FindingDraft>>();

  constructor(repository: Repository, index: ChunkIndex, damage: Damage, signal: AbortSignal) {
    this.#repository = repository;
    this.#index = index;
    this.#damage = damage;
    this.#signal = signal;
  }

  async snapshot({ id, record }: Snapshot): Promise<void> {
    const { plain, salt } = record;
    const key = `${plain}/${salt?.toString('hex') ?? ''}`;
    const reader = this.#readers.get(key) ?? new TreeReader(this.#repository, this.#index, { plain, salt });
    this.#readers.set(key, reader);
    await this.#list(reader, id, record.root, asByteString('/'));
  }

  /** Records every affected file and directory at and below a directory. */
  async #list(reader: TreeReader, snapshot: string, id: Buffer, path: ByteString): Promise<void> {
    this.#signal.throwIfAborted();
    if (!(await this.#isTouched(reader, id))) return;
    const lost = this.#damage.chunks.get(chunkKey(id));
    if (lost !== undefined) {
      lost.affects(snapshot, path);
      return;
    }
    const chunk = await this.#read(reader, id);
    if (chunk?.form === 'branch') {
      for (const child of chunk.children) await this.#list(reader, snapshot, child.id, path);
    }
    if (chunk?.form !== 'leaf') return;
    for (const entry of chunk.entries) {
      const child = joinBytes(path, entry.name);
      if (entry.type === 'directory') await this.#list(reader, snapshot, entry.id, child);
      if (entry.type !== 'file') continue;
      for (const draft of await this.#ofFile(reader, id, entry)) draft.affects(snapshot, child);
    }
  }

  async #isTouched(reader: TreeReader, id: Buffer): Promise<boolean> {
    const key = chunkKey(id);
    const known = this.#touched.get(key);
    if (known !== undefined) return known;
    const touched = this.#damage.chunks.has(key) || (await this.#isTouchedBelow(reader, id));
    this.#touched.set(key, touched);
    return touched;
  }

  async #isTouchedBelow(reader: TreeReader, id: Buffer): Promise<boolean> {
    const chunk = await this.#read(reader, id);
    if (chunk?.form === 'branch') {
      for (const child of chunk.children) if (await this.#isTouched(reader, child.id)) return true;
    }
    if (chunk?.form !== 'leaf') return false;
    for (const entry of chunk.entries) {
      if (entry.type === 'directory' && (await this.#isTouched(reader, entry.id))) return true;
      if (entry.type === 'file' && (await this.#ofFile(reader, id, entry)).size > 0) return true;
    }
    return false;
  }

  async #ofFile(reader: TreeReader, tree: Buffer, file: FileEntry): Promise<ReadonlySet<FindingDraft>> {
    const drafts = new Set<FindingDraft>();
    const own = this.#damage.ofFile(tree, file.name);
    if (own !== undefined) drafts.add(own);
    this.#collect(file.content, drafts);
    if (!file.indirect) return drafts;
    for (let at = 0; at < file.content.length; at += ID_BYTES) {
      const id = file.content.subarray(at, at + ID_BYTES);
      for (const draft of await this.#ofList(reader, id)) drafts.add(draft);
    }
    return drafts;
  }

  async #ofList(reader: TreeReader, id: Buffer): Promise<ReadonlySet<FindingDraft>> {
    const key = chunkKey(id);
    const known = this.#lists.get(key);
    if (known !== undefined) return known;
    const drafts = new Set<FindingDraft>();
    this.#lists.set(key, drafts);
    const chunk = await this.#read(reader, id);
    if (chunk?.form === 'list') this.#collect(chunk.ids, drafts);
    return drafts;
  }

  #collect(ids: Buffer, drafts: Set<FindingDraft>): void {
    for (let at = 0; at < ids.length; at += ID_BYTES) {
      const draft = this.#damage.chunks.get(chunkKey(ids, at));
      if (draft !== undefined) drafts.add(draft);
    }
  }

  /** Reads a tree chunk; undefined when that is impossible, which is in the damage already. */
  async #read(reader: TreeReader, id: Buffer): Promise<TreeChunk | undefined> {
    if (this.#damage.chunks.has(chunkKey(id))) return undefined;
    try {
      return await reader.chunk(id, this.#signal);
    } catch (error) {
      if (!isDamage(error)) throw error;
      return undefined;
    }
  }
}
