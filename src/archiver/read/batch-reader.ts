import { asByteString } from '../../base/byte-path.ts';
import type { ChunkSink } from './chunk-sink.ts';
import type { FileReader } from './file-reader.ts';
import {
  NUMBERS_PER_TASK,
  type BatchMessage,
  type BatchResult,
  type FileRead,
  type FileTask,
  type TaskExtras,
} from './messages.ts';
import { PoolClosed } from './pack-buffers.ts';
import { timeAt } from '../source/stat.ts';

/** Reads the files of a batch, in a worker thread or in the thread of the walk. */
export class BatchReader {
  readonly #reader: FileReader;
  readonly #sink: ChunkSink;
  readonly #closed: () => boolean;
  #patience = PATIENCE_OF_ALL_MS;

  constructor(reader: FileReader, sink: ChunkSink, closed: () => boolean) {
    this.#reader = reader;
    this.#sink = sink;
    this.#closed = closed;
  }

  /** @throws {PoolClosed} once the run is over */
  read(message: BatchMessage): BatchResult {
    const count = message.paths.length;
    const idCounts = new Int32Array(count);
    const sizes = new Float64Array(count);
    const ids: Buffer[] = [];
    const extras = new Map<number, TaskExtras>();
    const before = this.#sink.newBytes;
    for (const [i, read] of this.#readAll(message).entries()) {
      if (read.problem !== undefined) {
        idCounts[i] = -1;
        extras.set(i, {
          ...NO_EXTRAS,
          problem: { code: read.problem, message: read.message },
        });
        continue;
      }
      idCounts[i] = read.content.ids.length;
      sizes[i] = read.size;
      for (const id of read.content.ids) ids.push(id);
      const { holes } = read.content;
      const { changed, stat, xattrs, xattrProblems } = read;
      if (
        changed ||
        stat !== undefined ||
        holes.length > 0 ||
        xattrs !== undefined ||
        xattrProblems.length > 0
      ) {
        extras.set(i, { changed, stat, holes, xattrs, xattrProblems, problem: undefined });
      }
    }
    const joined = Buffer.concat(ids);
    return {
      kind: 'result',
      batch: message.batch,
      idCounts,
      sizes,
      ids: joined,
      extras,
      newBytes: this.#sink.newBytes - before,
    };
  }

  #readAll(message: BatchMessage): FileRead[] {
    const read = (_: unknown, i: number): FileRead => {
      if (this.#closed()) throw new PoolClosed();
      return this.#reader.read(taskOf(message, i));
    };
    const reads = Array.from({ length: message.paths.length }, read);
    if (reads.some(isHeld)) this.#waitForHeld(reads, (i) => read(undefined, i));
    return reads;
  }

  /** Tries held files again for a while: the first attempt to open them made the system ask their holders to let go. */
  #waitForHeld(reads: FileRead[], read: (i: number) => FileRead): void {
    let left = Math.min(PATIENCE_MS, this.#patience);
    while (left > 0 && reads.some(isHeld)) {
      Atomics.wait(NEVER_WOKEN, 0, 0, PAUSE_MS);
      left -= PAUSE_MS;
      this.#patience -= PAUSE_MS;
      for (const [i, one] of reads.entries()) if (isHeld(one)) reads[i] = read(i);
    }
  }
}

/**
 * Whether another program holds a lease on the file, as Samba does for what its clients have open. The system has asked
 * that program to give it up.
 */
function isHeld({ problem }: FileRead): boolean {
  return problem === 'EAGAIN';
}

/** Milliseconds to wait for the held files of one batch, and for those of all batches of a reader. */
const PATIENCE_MS = 5_000;
const PATIENCE_OF_ALL_MS = 60_000;
const PAUSE_MS = 50;
const NEVER_WOKEN = new Int32Array(new SharedArrayBuffer(4));

const NO_EXTRAS: TaskExtras = {
  changed: false,
  stat: undefined,
  holes: [],
  xattrs: undefined,
  xattrProblems: [],
  problem: undefined,
};

/** Decodes task `i` of a batch that `encodeBatch` made. */
export function taskOf(message: BatchMessage, i: number): FileTask {
  const at = i * NUMBERS_PER_TASK;
  const number = (k: number): number => message.numbers[at + k] ?? 0;
  const offset = number(0);
  const span = number(1);
  return {
    path: asByteString(message.paths[i] ?? ''),
    offset,
    whole: span < 0,
    first: offset === 0,
    size: number(2),
    inode: number(3),
    blocks: number(4),
    mode: number(5),
    uid: number(6),
    gid: number(7),
    device: number(8),
    mtimeNs: timeAt(message.times, i * 2),
    ctimeNs: timeAt(message.times, i * 2 + 1),
    spanLength: (size) => (span < 0 ? size : Math.max(0, Math.min(span, size - offset))),
  };
}
