import type { ByteString } from '../base/byte-path.ts';
import type { StatFacts, TaskExtras } from './messages.ts';

/** A file, or a span of a large one, waiting to be read. */
export interface ReadJob {
  readonly path: ByteString;
  readonly facts: StatFacts;
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
  /** To be read. */
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
