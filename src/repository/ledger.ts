/**
 * A local record of what a machine with a write-only key has stored, since it cannot read that back: which chunks are
 * in which pack, and which chunks make up a file that has not changed since. It holds keyed digests only, no names,
 * sizes or contents. It saves work but proves nothing: the destination decides what exists.
 */
import { ChunkHasher } from '../codec/hash.ts';
import { expand } from '../codec/kdf.ts';

export interface NotedPack {
  /** SHA-256, lower-case hex. */
  readonly name: string;
  readonly kind: 'data' | 'tree';
  readonly length: number;
  /** 16 bytes of each chunk id, one after the other. */
  readonly ids: Buffer;
}

/** The content of a file as it was read. */
export interface NotedContent {
  /** 24 bytes each. */
  readonly ids: Buffer;
  readonly holes: readonly { readonly offset: number; readonly length: number }[];
}

/** Never throws: a ledger that cannot be read is an empty one, and everything is stored again. */
export interface Ledger {
  packs(): Iterable<NotedPack>;
  notePack(pack: NotedPack): void;
  /** Removes the notes of packs that are gone. */
  dropPacks(names: readonly string[]): void;
  /** @param file a digest of path and status */
  content(file: Buffer): NotedContent | undefined;
  noteContent(file: Buffer, content: NotedContent): void;
  /**
   * Call this when a run ended with a snapshot. Notes of files that no run of the last 30 days asked for may then be
   * removed.
   */
  finishRun(): void;
}

export const NO_LEDGER: Ledger = {
  packs: () => [],
  notePack: () => {},
  dropPacks: () => {},
  content: () => undefined,
  noteContent: () => {},
  finishRun: () => {},
};

/** Identifies a file's content by a digest of its path and of the facts that change with it. */
export class FileDigests {
  readonly #hasher: ChunkHasher;

  /** @param idKey key for ids of data chunks in the write-only key's own namespace */
  constructor(idKey: Buffer) {
    this.#hasher = new ChunkHasher(expand(idKey, 'hf1/ledger', 32));
  }

  of(path: string, facts: readonly (number | bigint)[]): Buffer {
    return this.#hasher.id(Buffer.from(`${facts.join('/')}/${path}`, 'latin1'));
  }
}
