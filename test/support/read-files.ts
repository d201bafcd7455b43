/** The readers of a backup without a repository: files go in, entries and chunks come out. */
import { BatchReader } from '../../src/archiver/read/batch-reader.ts';
import { ChunkSink } from '../../src/archiver/read/chunk-sink.ts';
import { FileReader } from '../../src/archiver/read/file-reader.ts';
import { FileSaver } from '../../src/archiver/read/file-saver.ts';
import { SILENT } from '../../src/archiver/report/observer.ts';
import { Batcher, encodeBatch, settleBatch, type Batch } from '../../src/archiver/read/read-job.ts';
import { statPath } from '../../src/archiver/source/stat.ts';
import { Tally } from '../../src/archiver/report/tally.ts';
import { asByteString, type ByteString } from '../../src/base/byte-path.ts';
import { treePath } from '../../src/base/tree-path.ts';
import { Chunker, DEFAULT_CHUNKER } from '../../src/codec/chunker.ts';
import type { Entry, FileEntry } from '../../src/format/tree.ts';
import { ChunkTable } from '../../src/repository/packs/chunk-table.ts';
import { PackWriter } from '../../src/repository/packs/pack-writer.ts';
import { secretBytes, testKeys } from './test-keys.ts';
import type { EntryStat } from '../../src/system/entry-stat.ts';

const keys = testKeys();
const idKey = keys.idKey('data', { plain: false });

/** Keeps the first bytes of every chunk that comes in, to be looked at. */
class SeenChunks extends ChunkSink {
  readonly seen: string[] = [];

  constructor() {
    const writer = new PackWriter({
      keys,
      kind: 'data',
      cipher: 0,
      idKey,
      packTarget: 1_000_000,
      segmentTarget: 65_536,
      compression: { kind: 'none' },
      take: (capacity) => Buffer.alloc(capacity),
      emit: () => {},
    });
    super(idKey, ChunkTable.create(1, 1), writer);
  }

  override takeReserved(room: Buffer, length: number): Buffer {
    this.seen.push(room.toString('latin1', 0, Math.min(length, 64)));
    return super.takeReserved(room, length);
  }

  override take(chunk: Buffer): Buffer {
    this.seen.push(chunk.toString('latin1', 0, 64));
    return super.take(chunk);
  }
}

/** A backup's way of reading, one step after the other. */
export class Reading {
  readonly #batches: Batch[] = [];
  readonly #batcher = new Batcher((batch) => this.#batches.push(batch));
  readonly #sink = new SeenChunks();
  readonly tally = new Tally(SILENT);
  readonly #saver = new FileSaver(this.#batcher, this.tally, (content) => ({ content, indirect: false }));
  readonly #reader = new BatchReader(
    new FileReader(this.#sink, new Chunker(secretBytes('cdc'), DEFAULT_CHUNKER)),
    this.#sink,
    () => false,
  );
  readonly entries = new Map<string, FileEntry | undefined>();
  jobs = 0;

  /** What the walk does with a file: it looks at it and has it read later. */
  walk(path: string, change: (stat: EntryStat) => EntryStat = (stat) => stat): void {
    const bytes = treePath(path);
    const stat = statPath(bytes);
    if (stat === undefined) throw new Error(`${path} is not there`);
    const file = {
      path: bytes,
      name: nameOf(bytes),
      stat: change(stat),
      directory: undefined,
      old: undefined,
      looks: 0,
    };
    this.#saver.save(file, (entry: Entry | undefined) =>
      this.entries.set(path, entry?.type === 'file' ? entry : undefined),
    );
  }

  /** What the readers do, until there is nothing more to be read. */
  read(): void {
    this.#batcher.flush();
    for (let batch = this.#batches.shift(); batch !== undefined; batch = this.#batches.shift()) {
      this.jobs += batch.jobs.length;
      settleBatch(batch, this.#reader.read(encodeBatch(1, batch.jobs).message));
      this.#batcher.flush();
    }
  }

  /** Beginnings of all chunks that were stored. */
  get stored(): readonly string[] {
    return this.#sink.seen;
  }
}

function nameOf(path: ByteString): ByteString {
  return asByteString(path.slice(path.lastIndexOf('/') + 1));
}
