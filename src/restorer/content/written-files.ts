import type { RecordHandle } from '../target/entry-records.ts';
import type { JobResult } from './messages.ts';

/**
 * This many files are completed together. That is rare enough that waiting for the disk costs little, and often enough
 * that the disk is kept busy meanwhile and a restore that is killed leaves few unfinished files.
 */
const ENOUGH = { files: 8_192, bytes: 256 * 1024 * 1024 } as const;

/** Keeps the files that have their content but are not complete yet. */
export class WrittenFiles {
  #waiting: RecordHandle[] = [];
  #bytes = 0;
  /** Files that are being completed, by job. */
  readonly #underWay = new Map<number, Uint32Array>();
  /** Files of jobs that found the target full, so that not all of them may be complete. */
  readonly #left: Uint32Array[] = [];

  /** Takes in the result of a job. */
  settle({ job, written, bytes, full }: JobResult): void {
    const asked = this.#underWay.get(job);
    this.#underWay.delete(job);
    if (full !== undefined && asked !== undefined) this.#left.push(asked);
    for (const file of written) this.#waiting.push(file);
    this.#bytes += bytes;
  }

  get isEnough(): boolean {
    return this.#waiting.length > 0 && (this.#waiting.length >= ENOUGH.files || this.#bytes >= ENOUGH.bytes);
  }

  get isUnderWay(): boolean {
    return this.#underWay.size > 0;
  }

  /** Hands out all waiting files, to be completed by this job. */
  take(job: number): Uint32Array {
    const files = Uint32Array.from(this.#waiting);
    this.#waiting = [];
    this.#bytes = 0;
    if (files.length > 0) this.#underWay.set(job, files);
    return files;
  }

  *[Symbol.iterator](): Generator<RecordHandle> {
    yield* this.#waiting;
    for (const files of this.#underWay.values()) yield* files;
    for (const files of this.#left) yield* files;
  }
}
