import { asByteString, type ByteString } from '../../base/byte-path.ts';
import type { Clock } from '../../base/clock.ts';
import type {
  Omission,
  OmissionKind,
  RestoreCounters,
  RestoreObserver,
  RestoreProblem,
  RestoreSummary,
} from './request.ts';

/** How many paths are listed for each kind of omission. */
const SHOWN_PATHS = 10;

interface Counted {
  readonly kind: OmissionKind;
  readonly reason: string;
  count: number;
  readonly paths: ByteString[];
}

/** Counts, by kind, what was left out of entries that were restored. */
export class Omissions {
  readonly #kinds = new Map<string, Counted>();

  /** @param path called only while few paths are known */
  note(kind: OmissionKind, reason: string, path: () => ByteString): void {
    const known = this.#of(kind, reason);
    known.count += 1;
    if (known.paths.length < SHOWN_PATHS) known.paths.push(path());
  }

  add(others: readonly Omission[]): void {
    for (const { kind, count, reason, paths } of others) {
      const known = this.#of(kind, reason);
      known.count += count;
      known.paths.push(...paths.slice(0, SHOWN_PATHS - known.paths.length));
    }
  }

  list(): Omission[] {
    return [...this.#kinds.values()].map((counted) => ({ ...counted }));
  }

  /** Returns the omissions since the last call, and clears them. */
  take(): Omission[] {
    if (this.#kinds.size === 0) return [];
    const list = this.list();
    this.#kinds.clear();
    return list;
  }

  /** There are few reasons for not deleting, each worth reporting. Of other kinds only the first reason is kept. */
  #of(kind: OmissionKind, reason: string): Counted {
    const key = kind === 'deletion' ? `${kind}: ${reason}` : kind;
    let known = this.#kinds.get(key);
    if (known === undefined) {
      known = { kind, reason, count: 0, paths: [] };
      this.#kinds.set(key, known);
    }
    return known;
  }
}

const LISTED = 10_000;
/** The least time between two progress calls. */
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
  /** Directories that could not be read in full, so that some of their names are unknown. */
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

  /** @param base the directory of the snapshot that corresponds to the target */
  constructor(observer: RestoreObserver, clock: Clock, base: ByteString) {
    this.#base = base;
    this.#observer = observer;
    this.#clock = clock;
    this.#started = clock.monotonic();
  }

  /** The path in the snapshot of a path below the target. */
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

  /** Counts a file that fails because its directory does; only the directory is listed. */
  fileLost(size: number): void {
    this.filesFailed += 1;
    this.bytesDone += size;
  }

  fileFailed(path: ByteString, size: number, code: string, message: string): void {
    this.fileLost(size);
    this.problem(path, code, message);
  }

  /** Lists a file that was counted as restored but failed at its last step. */
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

  /** Reports the final numbers. */
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
