import type { ByteString } from '../base/byte-path.ts';
import { DestinationError, RepositoryError } from '../base/errors.ts';
import type { IndexSource } from '../repository/chunk-index.ts';
import type { Repository } from '../repository/repository.ts';
import type { Snapshot } from '../repository/snapshots.ts';
import { TreeReader } from '../repository/contents/tree-reader.ts';

/** The most readers kept. Each keeps up to 32 MiB of segments, and every snapshot with its own salt needs one. */
const READERS_KEPT = 3;

/** Readers for the trees of many snapshots. Snapshots of one namespace share a reader, and with it recently read segments. */
export class SnapshotTrees {
  readonly #repository: Repository;
  readonly #index: IndexSource;
  readonly #readers = new Map<string, TreeReader>();

  constructor(repository: Repository, index: IndexSource) {
    this.#repository = repository;
    this.#index = index;
  }

  reader(snapshot: Snapshot): TreeReader {
    const key = namespaceKey(snapshot);
    const { plain, salt } = snapshot.record;
    const reader = this.#readers.get(key) ?? new TreeReader(this.#repository, this.#index, { plain, salt });
    this.#readers.delete(key);
    this.#readers.set(key, reader);
    for (const oldest of this.#readers.keys()) {
      if (this.#readers.size <= READERS_KEPT) break;
      this.#readers.delete(oldest);
    }
    return reader;
  }
}

/** True when equal content has equal ids in both snapshots. */
export function shareNamespace(a: Snapshot, b: Snapshot): boolean {
  return namespaceKey(a) === namespaceKey(b);
}

function namespaceKey({ record }: Snapshot): string {
  return `${record.plain ? 'plain' : 'sealed'}/${record.salt?.toString('hex') ?? ''}`;
}

/** Called for a directory, or a part of one, that cannot be read; the rest is read anyway. */
export type OnUnreadable = (path: ByteString, error: Error) => void;

/** Whether the error concerns one stored object only, so that others may still be readable. */
export function isDamage(error: unknown): error is Error {
  if (error instanceof RepositoryError) return error.code === 'CORRUPT_DATA';
  return error instanceof DestinationError && (error.kind === 'not-found' || error.kind === 'corrupt-reply');
}
