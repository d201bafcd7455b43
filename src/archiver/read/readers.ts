import { Chunker } from '../../codec/chunker.ts';
import type { Compression } from '../../codec/compress.ts';
import type { Namespace } from '../../codec/keys.ts';
import { CIPHER_GCM, CIPHER_PLAIN } from '../../format/header.ts';
import type { ChunkTable } from '../../repository/packs/chunk-table.ts';
import { PackWriter } from '../../repository/packs/pack-writer.ts';
import type { Repository } from '../../repository/repository.ts';
import { BatchReader } from './batch-reader.ts';
import { ChunkSink } from './chunk-sink.ts';
import { FileReader } from './file-reader.ts';
import type { PackStore } from '../store/pack-store.ts';
import { encodeBatch, settleBatch, type Batch } from './read-job.ts';
import { ReadPool } from './read-pool.ts';

/**
 * Limits for reading in the thread of the walk, some 20 ms of work. Beyond them threads are worth the 150 ms it takes
 * to start them.
 */
const DIRECT_FILES = 100;
const DIRECT_BYTES = 4 * 1024 * 1024;

export interface ReaderOptions {
  readonly namespace: Namespace;
  readonly compression: Compression;
  readonly workers?: number | undefined;
}

/**
 * Has the files read: nothing is started for an unchanged source, a few files are read in the thread of the walk, and
 * more by worker threads.
 */
export class Readers implements AsyncDisposable {
  readonly #startPool: () => ReadPool;
  readonly #openDirect: () => DirectReader;
  #pool: ReadPool | undefined;
  #direct: DirectReader | undefined;
  #directFiles = 0;
  #directBytes = 0;

  constructor(repository: Repository, table: ChunkTable, store: PackStore, options: ReaderOptions) {
    this.#startPool = () => new ReadPool(repository, table, store, options);
    this.#openDirect = () => new DirectReader(repository, table, store, options);
  }

  /** Bytes of chunks that were new. */
  get newBytes(): number {
    return (this.#pool?.newBytes ?? 0) + (this.#direct?.newBytes ?? 0);
  }

  /** Has a batch read, at once or later; waits while too much is waiting to be read. */
  async submit(batch: Batch, signal: AbortSignal): Promise<void> {
    if (this.#pool === undefined && this.#isSmall(batch)) {
      this.#directFiles += batch.jobs.length;
      this.#directBytes += batch.bytes;
      this.#direct ??= this.#openDirect();
      this.#direct.read(batch);
      return;
    }
    this.#pool ??= this.#startPool();
    await this.#pool.room(signal);
    this.#pool.submit(batch);
  }

  /** Waits for every result so far. */
  async drain(signal: AbortSignal): Promise<void> {
    await this.#pool?.drain(signal);
  }

  /** Waits for every result, and until every pack is stored. */
  async finish(signal: AbortSignal): Promise<void> {
    this.#direct?.finish();
    await this.#pool?.finish(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool?.[Symbol.asyncDispose]();
  }

  #isSmall({ jobs, bytes }: Batch): boolean {
    return this.#directFiles + jobs.length <= DIRECT_FILES && this.#directBytes + bytes <= DIRECT_BYTES;
  }
}

/** Reads synchronously, in the calling thread. */
class DirectReader {
  readonly #sink: ChunkSink;
  readonly #reader: BatchReader;
  #next = 1;

  constructor(repository: Repository, table: ChunkTable, store: PackStore, options: ReaderOptions) {
    const { keys, config } = repository;
    const { namespace, compression } = options;
    const idKey = keys.idKey('data', namespace);
    const writer = new PackWriter({
      keys,
      kind: 'data',
      cipher: namespace.plain ? CIPHER_PLAIN : CIPHER_GCM,
      idKey,
      packTarget: config.packTarget,
      segmentTarget: config.segmentTarget,
      compression,
      take: (capacity) => Buffer.allocUnsafeSlow(capacity),
      emit: ({ name, bytes, indexEntry }) => store.store({ name, bytes, indexEntry }, () => {}),
    });
    this.#sink = new ChunkSink(idKey, table, writer);
    const chunker = new Chunker(keys.chunkerKey, config.chunker);
    this.#reader = new BatchReader(new FileReader(this.#sink, chunker), this.#sink, () => false);
  }

  get newBytes(): number {
    return this.#sink.newBytes;
  }

  read(batch: Batch): void {
    settleBatch(batch, this.#reader.read(encodeBatch(this.#next, batch.jobs).message));
    this.#next += 1;
  }

  finish(): void {
    this.#sink.finish();
  }
}
