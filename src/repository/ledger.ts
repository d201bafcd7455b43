/**
 * A local record of what a machine with a write-only key has stored, since it cannot read that back: which chunks are
 * in which pack, and which chunks make up a file that has not changed since. It holds keyed digests only, no names,
 * sizes or contents. It saves work but proves nothing: the destination decides what exists.
 */
import { ChunkHasher } from '../codec/hash.ts';
import { expand } from '../codec/kdf.ts';
import { CIPHER_GCM } from '../format/header.ts';
import type { ChunkIndex, KnownPack } from './chunk-index.ts';
import { ChunkTable } from './packs/chunk-table.ts';
import { listNamed } from './objects/listing.ts';
import type { Repository } from './repository.ts';

const SHORT_ID = 16;

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

/**
 * An index of the chunks that this machine has stored, limited to packs that the current listing shows; it replaces the
 * index objects.
 * @param without packs to treat as absent, because they are about to be deleted
 */
export async function loadLedger(
  { destination, ledger }: Repository,
  without: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<ChunkIndex> {
  const listed = await listNamed(destination, 'packs/', signal);
  const noted: NotedPack[] = [];
  const gone: string[] = [];
  for (const pack of ledger.packs()) {
    if (listed.get(pack.name)?.size !== pack.length) gone.push(pack.name);
    else if (!without.has(pack.name)) noted.push(pack);
  }
  ledger.dropPacks(gone);
  const chunks = noted.reduce((sum, { ids }) => sum + ids.length / SHORT_ID, 0);
  const table = ChunkTable.create(chunks, noted.length);
  const packs: KnownPack[] = [];
  for (const { name, kind, length, ids } of noted) {
    for (let at = 0; at < ids.length; at += SHORT_ID)
      table.add(ids, at, { pack: packs.length, segment: 0, offset: 0, length: 0 });
    const unread = { generation: 0, salt: Buffer.alloc(0), sealedBy: 0, segments: new Uint32Array() };
    packs.push({ name, kind, cipher: CIPHER_GCM, length, ...unread });
  }
  return {
    packs,
    table,
    chunks,
    damaged: [],
    indexNames: [],
    uncovered: [],
    missing: [],
    leftOut: new Set(),
  };
}

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
