import { DestinationError } from '../base/errors.ts';
import { indexedIds } from '../format/index-object.ts';
import { IndexWriter } from '../repository/index-writer.ts';
import type { NotedPack } from '../repository/ledger.ts';
import { packKey } from '../repository/listing.ts';
import type { Repository } from '../repository/repository.ts';

/** A finished pack as it arrives for storing. */
export interface StorablePack {
  readonly name: string;
  readonly bytes: Buffer;
  readonly indexEntry: Uint8Array;
}

/** An index object is written at least this often, so that a run that is killed leaves little to read again. */
const INDEX_EVERY_MS = 180_000;
/** And once this much of it is pending: writing one holds it in memory four times over. */
const INDEX_EVERY_BYTES = 8 * 1024 * 1024;

function notedPack({ name, bytes, indexEntry }: StorablePack): NotedPack {
  const { kind, ids } = indexedIds(indexEntry);
  return { name, kind, length: bytes.length, ids };
}

/** Stores packs, and index objects for them, in the order that keeps the repository sound. */
export class PackStore {
  readonly #repository: Repository;
  readonly #index: IndexWriter;
  readonly #stop = new AbortController();
  readonly #signal: AbortSignal;
  readonly #stored = new Map<string, number>();
  #running = new Set<Promise<void>>();
  #failure: unknown;
  #lastIndexMs: number;
  #flushing: Promise<unknown> = Promise.resolve();
  /** Bytes that were sent to the destination, padding and index objects included. */
  uploadedBytes = 0;

  constructor(repository: Repository, signal: AbortSignal) {
    this.#repository = repository;
    this.#index = new IndexWriter(repository);
    this.#signal = AbortSignal.any([signal, this.#stop.signal]);
    this.#lastIndexMs = repository.clock.monotonic();
  }

  /** Length of each pack that this run has stored, by name. */
  get stored(): ReadonlyMap<string, number> {
    return this.#stored;
  }

  get inFlight(): number {
    return this.#running.size;
  }

  /** Begins to store a pack; `done` is called when its buffer is free again. Failures surface in `settle` and `throwIfFailed`. */
  store(pack: StorablePack, done: () => void): void {
    const work = this.#put(pack)
      .catch((error: unknown) => {
        this.#failure ??= error;
      })
      .finally(() => {
        this.#running.delete(work);
        done();
      });
    this.#running.add(work);
  }

  /** Has the next index object name a pack that an earlier run stored but did not index. */
  cover(indexEntry: Uint8Array): void {
    this.#index.add(indexEntry);
  }

  throwIfFailed(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Waits until one of the packs that are on their way is stored or has failed. */
  async oneStored(): Promise<void> {
    await Promise.race(this.#running);
  }

  /** Waits until every pack so far is stored, or the first has failed: what is still under way then is broken off at the end. */
  async settle(): Promise<void> {
    while (this.#running.size > 0 && this.#failure === undefined) await Promise.race(this.#running);
    this.throwIfFailed();
    await this.#flushing;
  }

  /** Breaks off what a failed run left under way; nothing is on its way any more when this resolves. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    while (this.#running.size > 0) await Promise.all(this.#running);
    await Promise.allSettled([this.#flushing]);
  }

  /** Stores the last packs and the index objects that name them. */
  async finish(): Promise<void> {
    await this.settle();
    await this.#flush();
  }

  async #put(pack: StorablePack): Promise<void> {
    const key = packKey(pack.name);
    try {
      const stat = await this.#repository.destination.put(key, pack.bytes, this.#signal);
      if (stat.size !== pack.bytes.length) {
        throw new DestinationError(
          'corrupt-reply',
          `The destination kept ${stat.size} of ${pack.bytes.length} bytes of ${key}`,
          {
            hint: 'Run the backup again; if it repeats, the destination loses data.',
          },
        );
      }
    } catch (error) {
      // Same name, same bytes: an earlier try of ours got through.
      if (!(error instanceof DestinationError) || error.kind !== 'exists') throw error;
    }
    this.uploadedBytes += pack.bytes.length;
    this.#stored.set(pack.name, pack.bytes.length);
    const { isWriteOnly, ledger } = this.#repository;
    if (isWriteOnly) {
      // It writes no index objects: they would say of any pack what they like, and be believed.
      ledger.notePack(notedPack(pack));
      return;
    }
    this.#index.add(pack.indexEntry);
    const now = this.#repository.clock.monotonic();
    if (now - this.#lastIndexMs < INDEX_EVERY_MS && this.#index.pendingBytes < INDEX_EVERY_BYTES) return;
    this.#lastIndexMs = now;
    await this.#flush();
  }

  async #flush(): Promise<void> {
    this.uploadedBytes += this.#index.pendingBytes;
    this.#flushing = this.#flushing.then(async () => await this.#index.flush([], this.#signal));
    await this.#flushing;
  }
}
