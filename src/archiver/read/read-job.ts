import type { ByteString } from '../../base/byte-path.ts';
import {
  NUMBERS_PER_TASK,
  type BatchMessage,
  type BatchResult,
  type StatFacts,
  type TaskExtras,
} from './messages.ts';
import { putTime, timeColumns } from '../source/stat.ts';

/** A file, or a span of a large one, waiting to be read. */
export interface ReadJob {
  readonly path: ByteString;
  readonly facts: StatFacts;
  readonly device?: number;
  /** Unset for a whole file. */
  readonly span: { readonly offset: number; readonly length: number } | undefined;
  readonly done: (outcome: ReadOutcome) => void;
}

export interface ReadOutcome {
  /** 24 bytes each; a view of a buffer that other files share. */
  readonly ids: Buffer;
  readonly size: number;
  readonly extras: TaskExtras | undefined;
}

export interface Batch {
  readonly jobs: readonly ReadJob[];
  /** Bytes to be read. */
  readonly bytes: number;
}

/** A batch ends at this many bytes or files: about 30 ms of work. */
const BATCH_BYTES = 8 * 1024 * 1024;
const BATCH_FILES = 500;

/** Gathers jobs into batches. */
export class Batcher {
  readonly #submit: (batch: Batch) => void;
  #jobs: ReadJob[] = [];
  #bytes = 0;

  constructor(submit: (batch: Batch) => void) {
    this.#submit = submit;
  }

  add(job: ReadJob): void {
    const bytes = job.span?.length ?? job.facts.size;
    if (this.#jobs.length > 0 && this.#bytes + bytes > BATCH_BYTES) this.flush();
    this.#jobs.push(job);
    this.#bytes += bytes;
    if (this.#bytes >= BATCH_BYTES || this.#jobs.length >= BATCH_FILES) this.flush();
  }

  get isEmpty(): boolean {
    return this.#jobs.length === 0;
  }

  flush(): void {
    if (this.#jobs.length === 0) return;
    const batch = { jobs: this.#jobs, bytes: this.#bytes };
    this.#jobs = [];
    this.#bytes = 0;
    this.#submit(batch);
  }
}

/** A batch in a form that is cheap to post, with the buffers to transfer instead of copying them. */
export function encodeBatch(
  number: number,
  jobs: readonly ReadJob[],
): { message: BatchMessage; transfer: ArrayBuffer[] } {
  const numbers = new Float64Array(jobs.length * NUMBERS_PER_TASK);
  const times = timeColumns(jobs.length * 2);
  const paths: string[] = [];
  for (const [i, { path, span, facts, device }] of jobs.entries()) {
    paths.push(path);
    const { size, inode, blocks, mode, uid, gid } = facts;
    numbers.set(
      [span?.offset ?? 0, span?.length ?? -1, size, inode, blocks, mode, uid, gid, device ?? -1],
      i * NUMBERS_PER_TASK,
    );
    putTime(times, i * 2, facts.mtimeNs);
    putTime(times, i * 2 + 1, facts.ctimeNs);
  }
  return {
    message: { kind: 'batch', batch: number, paths, numbers, times },
    transfer: [numbers.buffer, times.buffer],
  };
}

/** Gives each job of a batch its result. */
export function settleBatch(batch: Batch, result: BatchResult): void {
  const ids = Buffer.from(result.ids.buffer, result.ids.byteOffset, result.ids.byteLength);
  let at = 0;
  for (const [i, job] of batch.jobs.entries()) {
    const count = Math.max(0, result.idCounts[i] ?? 0);
    job.done({
      ids: ids.subarray(at, at + count * 24),
      size: result.sizes[i] ?? 0,
      extras: result.extras.get(i),
    });
    at += count * 24;
  }
}
