import { asByteString, type ByteString } from '../../base/byte-path.ts';
import type { Clock } from '../../base/clock.ts';
import { Omissions } from './omissions.ts';
import type { RestoreCounters, RestoreObserver, RestoreProblem, RestoreSummary } from './request.ts';

const LISTED = 10_000;
/** Between two calls of the observer. */
const PROGRESS_EVERY_MS = 100;

/** Everything that a restore counts and lists. */
export class RestoreTally {
  readonly omissions = new Omissions();
  filesRestored = 0;
  filesUnchanged = 0;
  filesSkipped = 0;
  filesFailed = 0;
  filesTotal = 0;
  directories = 0;
  /** Directories of which not all could be read: what else was in them is unknown. */
  directoriesUnread = 0;
  links = 0;
  others = 0;
  bytesRestored = 0;
  /** Bytes of files that need no more work, written or not. */
  bytesDone = 0;
  bytesTotal = 0;
  readonly #observer: RestoreObserver;
  readonly #clock: Clock;
  readonly #started: number;
  readonly #errors: RestoreProblem[] = [];
  #errorsMore = 0;
  readonly #deleted: ByteString[] = [];
  #deletedMore = 0;
  #toldAt = Number.NEGATIVE_INFINITY;

  readonly #base: ByteString;

  /** @param base the directory of the snapshot that stands at the target */
  constructor(observer: RestoreObserver, clock: Clock, base: ByteString) {
    this.#base = base;
    this.#observer = observer;
    this.#clock = clock;
    this.#started = clock.monotonic();
  }

  /** Where in the snapshot a path below the target is. */
  inSnapshot(path: ByteString): ByteString {
    return this.#base === '/' ? path : asByteString(`${this.#base}${path}`);
  }

  get problems(): number {
    return this.#errors.length + this.#errorsMore;
  }

  /** @param path below the target */
  problem(path: ByteString, code: string, message: string): void {
    const problem: RestoreProblem = { path: this.inSnapshot(path), code, message };
    if (this.#errors.length < LISTED) this.#errors.push(problem);
    else this.#errorsMore += 1;
    this.#observer.problem(problem);
  }

  /** A file that fails with the directory it is in, which is the one listed. */
  fileLost(size: number): void {
    this.filesFailed += 1;
    this.bytesDone += size;
  }

  fileFailed(path: ByteString, size: number, code: string, message: string): void {
    this.fileLost(size);
    this.problem(path, code, message);
  }

  /** A file that was counted as restored and fails at its last step. */
  fileFailedLate(path: ByteString, code: string, message: string): void {
    this.filesRestored -= 1;
    this.filesFailed += 1;
    this.problem(path, code, message);
  }

  deleted(path: ByteString): void {
    if (this.#deleted.length < LISTED) this.#deleted.push(path);
    else this.#deletedMore += 1;
  }

  progress(path: () => ByteString): void {
    const now = this.#clock.monotonic();
    if (now - this.#toldAt < PROGRESS_EVERY_MS) return;
    this.#toldAt = now;
    this.#observer.progress(this.counters(), path());
  }

  /** Tells the final numbers. */
  finish(): void {
    this.#observer.progress(this.counters(), asByteString('/'));
  }

  counters(): RestoreCounters {
    const { filesRestored, filesUnchanged, filesSkipped, filesFailed, filesTotal, bytesDone, bytesTotal } =
      this;
    const filesDone = filesRestored + filesUnchanged + filesSkipped + filesFailed;
    return { filesDone, filesTotal, bytesDone, bytesTotal };
  }

  summary(): RestoreSummary {
    return {
      status: this.#errors.length === 0 ? 'complete' : 'partial',
      filesRestored: this.filesRestored,
      filesUnchanged: this.filesUnchanged,
      filesSkipped: this.filesSkipped,
      filesFailed: this.filesFailed,
      directories: this.directories,
      directoriesUnread: this.directoriesUnread,
      links: this.links,
      others: this.others,
      bytesRestored: this.bytesRestored,
      bytesTotal: this.bytesTotal,
      omissions: this.omissions.list(),
      errors: this.#errors,
      errorsMore: this.#errorsMore,
      deleted: this.#deleted,
      deletedMore: this.#deletedMore,
      durationMs: this.#clock.monotonic() - this.#started,
    };
  }
}
