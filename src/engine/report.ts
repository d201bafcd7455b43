/** Sends the reports of a running job to the daemon, at a limited rate. */
import type { Clock } from '../base/clock.ts';
import { createEstimate } from '../base/progress-estimate.ts';
import { NO_PROGRESS, type JobPhase, type JobProblem, type JobProgress } from '../jobs/job.ts';
import type { FromEngine, SnapshotTrial } from './protocol.ts';

/** Milliseconds between two messages about progress. */
export const PROGRESS_EVERY_MS = 500;
/** The most problems and notes that are sent; problems beyond that are only counted. */
const MOST_SENT = 1_000;

/** The counters at one moment. */
export interface Moment {
  /** Regular files captured or restored so far, and their bytes. */
  readonly files: number;
  readonly bytes: number;
  /** Files and bytes that need no more work, whatever their outcome. */
  readonly filesDone: number;
  readonly bytesDone: number;
  /** Undefined while unknown. */
  readonly filesTotal: number | undefined;
  readonly bytesTotal: number | undefined;
  readonly counters?: Counters;
}

/** Missing counters are zero. */
export type Counters = Partial<
  Pick<
    JobProgress,
    | 'files_new'
    | 'files_changed'
    | 'files_unchanged'
    | 'files_failed'
    | 'bytes_uploaded'
    | 'bytes_deduplicated'
    | 'current_path'
  >
>;

const NOTHING_YET: Moment = {
  files: 0,
  bytes: 0,
  filesDone: 0,
  bytesDone: 0,
  filesTotal: undefined,
  bytesTotal: undefined,
};

/** Reads the counters when a message about progress is due, sends phases as they change, and counts problems. */
export class Report {
  readonly #send: (message: FromEngine) => void;
  readonly #clock: Clock;
  readonly #estimate = createEstimate();
  #read: () => Moment = () => NOTHING_YET;
  #phase: JobPhase | undefined;
  #timer: NodeJS.Timeout | undefined;
  #told = '';
  #problems = 0;
  #notes = 0;

  constructor(send: (message: FromEngine) => void, clock: Clock) {
    this.#send = send;
    this.#clock = clock;
  }

  get problems(): number {
    return this.#problems;
  }

  phase(phase: JobPhase): void {
    if (phase === this.#phase) return;
    this.#phase = phase;
    this.#send({ kind: 'phase', phase });
  }

  problem(problem: JobProblem): void {
    this.#problems += 1;
    if (this.#problems <= MOST_SENT) this.#send({ kind: 'problem', problem });
  }

  note(text: string): void {
    this.#notes += 1;
    if (this.#notes <= MOST_SENT) this.#send({ kind: 'note', text });
  }

  tried(trial: SnapshotTrial): void {
    this.#send({ kind: 'tried', trial });
  }

  /** Sets the source of the counters. */
  follow(read: () => Moment): void {
    this.#read = read;
    this.#timer ??= setInterval(() => this.tell(), PROGRESS_EVERY_MS);
    this.#timer.unref();
  }

  /** Sends the counters, unless they are unchanged. */
  tell(): void {
    const moment = this.#read();
    const progress = this.#progressOf(moment);
    const now = JSON.stringify([progress, moment.files, moment.bytes]);
    if (now === this.#told) return;
    this.#told = now;
    const { files, bytes } = moment;
    this.#send({ kind: 'progress', progress, files, bytes, stored: progress.bytes_uploaded });
  }

  /** The final counters of a job: the totals are what was done. */
  finished(moment: Moment): JobProgress {
    const { filesDone: filesTotal, bytesDone: bytesTotal } = moment;
    const progress = this.#progressOf({ ...moment, filesTotal, bytesTotal });
    return { ...progress, percent: 100, current_path: null, eta_seconds: null };
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #progressOf(moment: Moment): JobProgress {
    const { filesDone, bytesDone, filesTotal, bytesTotal } = moment;
    const known = filesTotal !== undefined && bytesTotal !== undefined;
    const totals = {
      files: Math.max(filesTotal ?? 0, filesDone),
      bytes: Math.max(bytesTotal ?? 0, bytesDone),
    };
    this.#estimate.observe(this.#clock.monotonic(), {
      phase: '',
      filesDone,
      filesTotal: known ? totals.files : null,
      bytesDone,
      bytesTotal: known ? totals.bytes : null,
    });
    const etaMs = this.#estimate.etaMs();
    return {
      ...NO_PROGRESS,
      ...moment.counters,
      percent: known ? percentOf({ filesDone, bytesDone }, totals) : null,
      files_total: totals.files,
      bytes_done: bytesDone,
      bytes_total: totals.bytes,
      rate_bytes_per_second: Math.round(this.#estimate.bytesPerSecond() ?? 0),
      eta_seconds: etaMs === null ? null : Math.ceil(etaMs / 1000),
    };
  }
}

/** By bytes, or by files when there are no bytes; with one decimal, and below 100 until the job is over. */
function percentOf(
  done: { readonly filesDone: number; readonly bytesDone: number },
  totals: { readonly files: number; readonly bytes: number },
): number {
  const share = totals.bytes > 0 ? done.bytesDone / totals.bytes : done.filesDone / Math.max(1, totals.files);
  return Math.min(99.9, Math.floor(share * 1000) / 10);
}
