import type { RecordHandle } from '../target/entry-records.ts';
import type { JobResult } from './messages.ts';

/**
 * As many files are completed together: seldom enough that waiting for the disk costs little, and often enough that it
 * has something to do meanwhile and that a restore which is killed leaves few files to go on with.
 */
const ENOUGH = { files: 8_192, bytes: 256 * 1024 * 1024 } as const;

/** Files that have their content and are not complete yet. */
export class WrittenFiles {
  #waiting: RecordHandle[] = [];
  #bytes = 0;
  /** By job. */
  readonly #underWay = new Map<number, Uint32Array>();
  /** There was no room to complete all of these. */
  readonly #left: Uint32Array[] = [];

  /** Takes over what a job did. */
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

  /** All that wait, for this job. */
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
