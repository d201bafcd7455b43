import { DestinationError } from '../../base/errors.ts';
import { indexedIds } from '../../format/index-object.ts';
import { IndexWriter } from '../../repository/contents/index-writer.ts';
import type { NotedPack } from '../../repository/ledger.ts';
import { packKey } from '../../repository/objects/listing.ts';
import type { Repository } from '../../repository/repository.ts';

/** A finished pack, ready to be stored. */
export interface StorablePack {
  readonly name: string;
  readonly bytes: Buffer;
  readonly indexEntry: Uint8Array;
}

/** An index object is written at least this often, so that a run that is killed leaves few packs to be read again. */
const INDEX_EVERY_MS = 180_000;
/** Also, an index object is written once this much of it is pending: writing it takes four times its size in memory. */
const INDEX_EVERY_BYTES = 8 * 1024 * 1024;

function notedPack({ name, bytes, indexEntry }: StorablePack): NotedPack {
  const { kind, ids } = indexedIds(indexEntry);
  return { name, kind, length: bytes.length, ids };
}

/** Stores packs, and index objects for them, in an order that keeps the repository sound. */
export class PackStore {
  readonly #repository: Repository;
  readonly #index: IndexWriter;
  readonly #stop = new AbortController();
  readonly #signal: AbortSignal;
  readonly #broken = new AbortController();
  readonly #stored = new Map<string, number>();
  #running = new Set<Promise<void>>();
  #failure: unknown;
  #lastIndexMs: number;
  #flushing: Promise<unknown> = Promise.resolve();
  /** Bytes that were sent to the destination, padding and index objects included. */
  uploadedBytes = 0;
  /** Bytes of packs that were sent or are on their way. */
  handedBytes = 0;

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

  /** Aborts with the first failure, for callers that are waiting for something else. */
  get broken(): AbortSignal {
    return this.#broken.signal;
  }

  get inFlight(): number {
    return this.#running.size;
  }

  /**
   * Starts storing a pack; `done` is called when its buffer is free again. Failures surface in `settle` and `throwIfFailed`.
   */
  store(pack: StorablePack, done: () => void): void {
    const work = this.#put(pack)
      .catch((error: unknown) => {
        this.#failure ??= error;
        this.#broken.abort(error);
      })
      .finally(() => {
        this.#running.delete(work);
        done();
      });
    this.#running.add(work);
    this.handedBytes += pack.bytes.length;
  }

  /** Adds a pack to the next index object that an earlier run stored but did not index. */
  cover(indexEntry: Uint8Array): void {
    this.#index.add(indexEntry);
  }

  throwIfFailed(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Waits until one of the packs on their way is stored or has failed. */
  async oneStored(): Promise<void> {
    await Promise.race(this.#running);
  }

  /** Waits until every pack so far is stored, or the first has failed; disposing then cancels the others. */
  async settle(): Promise<void> {
    while (this.#running.size > 0 && this.#failure === undefined) await Promise.race(this.#running);
    this.throwIfFailed();
    await this.#flushing;
  }

  /** Cancels what a failed run left under way. When this resolves, nothing is on its way. */
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
    await this.#send(pack);
    this.uploadedBytes += pack.bytes.length;
    this.#stored.set(pack.name, pack.bytes.length);
    const { isWriteOnly, ledger } = this.#repository;
    if (isWriteOnly) {
      // A holder of a write-only key writes no index objects: they could claim anything about any pack, and would be
      // believed.
      ledger.notePack(notedPack(pack));
      return;
    }
    this.#index.add(pack.indexEntry);
    const now = this.#repository.clock.monotonic();
    if (now - this.#lastIndexMs < INDEX_EVERY_MS && this.#index.pendingBytes < INDEX_EVERY_BYTES) return;
    this.#lastIndexMs = now;
    await this.#flush();
  }

  async #send({ name, bytes }: StorablePack): Promise<void> {
    const { destination } = this.#repository;
    const key = packKey(name);
    try {
      const { size } = await destination.put(key, bytes, this.#signal);
      if (size !== bytes.length) throw notKept(key, `${size} of the ${bytes.length} bytes`);
    } catch (error) {
      if (!(error instanceof DestinationError) || error.kind !== 'exists') throw error;
      // The name is a digest of the content, so an earlier attempt of this run got through. The object must hold these
      // very bytes. If it does not it stays, as there is no telling whether someone else is about to repair it.
      if (!(await holds(destination, key, bytes, this.#signal)))
        throw notKept(key, 'other bytes than those', error);
    }
  }

  async #flush(): Promise<void> {
    this.uploadedBytes += this.#index.pendingBytes;
    this.#flushing = this.#flushing.then(async () => await this.#index.flush([], this.#signal));
    await this.#flushing;
  }
}

async function holds(
  destination: Repository['destination'],
  key: string,
  bytes: Buffer,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    if ((await destination.stat(key, signal)).size !== bytes.length) return false;
    return bytes.equals(await destination.get(key, undefined, signal));
  } catch (error) {
    if (!(error instanceof DestinationError) || error.kind !== 'not-found') throw error;
    throw new DestinationError('unreachable', `${key} appeared and disappeared again`, {
      op: 'store',
      hint: 'Run it again, and check that nothing else changes the destination.',
      retry: 'now',
      details: { key },
      cause: error,
    });
  }
}

function notKept(key: string, what: string, cause?: unknown): DestinationError {
  return new DestinationError('corrupt-reply', `The destination kept ${what} of ${key}`, {
    op: 'store',
    hint: 'Run it again. If it happens again, the destination loses data.',
    details: { key },
    cause,
  });
}
