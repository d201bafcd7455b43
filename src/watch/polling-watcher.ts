/**
 * Looking again and again, for file systems that do not tell of changes, and for sources that are single files. It says
 * that a backup is worthwhile; what changed is for the walk to find, which looks no further than polling does.
 */
import { watch, type FSWatcher } from 'chokidar';
import { bytesOfText, isUtf8, textOfBytes, type ByteString } from '../base/byte-path.ts';
import { errnoOf, StateError } from '../base/errors.ts';
import type { ChangeSink } from './change-log.ts';
import type { ChangeFeed, WatchState } from './source-watcher.ts';

export interface PollingRequest {
  readonly root: ByteString;
  readonly never: readonly ByteString[];
  /** Milliseconds between two looks. */
  readonly pollMs: number;
}

/** Files that are looked at one by one. In a larger source only directories are: they tell what came and went. */
const MOST_FILES = 20_000;

/** Of a look itself. */
const LAG_MS = 5_000;

export class PollingSource implements ChangeFeed {
  readonly lagMs: number;
  readonly #sink: ChangeSink;
  readonly #root: ByteString;
  readonly #watcher: FSWatcher | undefined;
  #directories = 0;
  #told = false;

  constructor(request: PollingRequest, sink: ChangeSink) {
    const { root, pollMs } = request;
    this.lagMs = pollMs + LAG_MS;
    this.#sink = sink;
    this.#root = root;
    if (!isUtf8(root)) {
      queueMicrotask(() => this.#failed(new Error('its name is not valid UTF-8')));
      return;
    }
    const watcher = watch(textOfBytes(root), {
      backend: 'polling',
      pollingInterval: pollMs,
      pollingBinaryInterval: pollMs,
      ignoreInitial: true,
      ignorePermissionErrors: true,
      followSymlinks: false,
      ignored: leftOut(request),
    });
    watcher.on('ready', () => {
      this.#directories = Object.keys(watcher.getWatched()).length;
    });
    watcher.on('all', (event) => {
      if (event === 'addDir') this.#directories += 1;
      if (event === 'unlinkDir') this.#directories -= 1;
      this.#sink.happened(1);
    });
    watcher.on('error', (error) => this.#failed(error));
    this.#watcher = watcher;
  }

  get state(): WatchState {
    return this.#watcher === undefined ? 'lost' : 'polling';
  }

  get directories(): number {
    return this.#directories;
  }

  /** Polling has no more to say than a walk finds. */
  check(): boolean {
    return true;
  }

  async close(): Promise<void> {
    await this.#watcher?.close();
  }

  #failed(cause: unknown): void {
    // What vanishes while it is looked at is no failure.
    if (errnoOf(cause) === 'ENOENT' || this.#told) return;
    this.#told = true;
    const said = cause instanceof Error ? cause.message : String(cause);
    this.#sink.problem(
      new StateError('WATCH_FAILED', `Changes in ${textOfBytes(this.#root)} are not all seen: ${said}`, {
        hint: 'Scheduled backups go on and look at every file.',
        cause,
      }),
    );
  }
}

function leftOut({ never }: PollingRequest): (path: string, stats?: { isFile(): boolean }) => boolean {
  const files = new Set<string>();
  return (path, stats) => {
    const bytes = bytesOfText(path);
    if (never.some((out) => bytes === out || bytes.startsWith(`${out}/`))) return true;
    if (stats?.isFile() !== true || files.has(path)) return false;
    if (files.size >= MOST_FILES) return true;
    files.add(path);
    return false;
  };
}
