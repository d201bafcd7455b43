/** Polls a source that is a single file. It only reports that a backup is worthwhile; the walk finds what has changed. */
import { watch, type FSWatcher } from 'chokidar';
import { isUtf8, type ByteString } from '../base/byte-path.ts';
import { pathText } from '../base/tree-path.ts';
import { causeText } from '../base/errno-words.ts';
import { errnoOf, StateError } from '../base/errors.ts';
import type { ChangeFeed, WatchState, ChangeSink } from './change-feed.ts';

export interface PollingRequest {
  readonly root: ByteString;
  readonly never: readonly ByteString[];
  /** Milliseconds between two polls. */
  readonly pollMs: number;
}

/** Milliseconds that a poll itself may take. */
const LAG_MS = 5_000;

export class PollingSource implements ChangeFeed {
  readonly lagMs: number;
  readonly directories = 0;
  readonly #sink: ChangeSink;
  readonly #root: ByteString;
  readonly #watcher: FSWatcher | undefined;
  #told = false;

  constructor({ root, never, pollMs }: PollingRequest, sink: ChangeSink) {
    this.lagMs = pollMs + LAG_MS;
    this.#sink = sink;
    this.#root = root;
    if (!isUtf8(root)) {
      queueMicrotask(() => this.#failed(new Error('its name is not valid UTF-8')));
      return;
    }
    const watcher = watch(pathText(root), {
      backend: 'polling',
      pollingInterval: pollMs,
      pollingBinaryInterval: pollMs,
      ignoreInitial: true,
      ignorePermissionErrors: true,
      followSymlinks: false,
      ignored: () => never.some((out) => root === out || root.startsWith(`${out}/`)),
    });
    watcher.on('all', () => this.#sink.happened(1));
    watcher.on('error', (error) => this.#failed(error));
    this.#watcher = watcher;
  }

  get state(): WatchState {
    return this.#watcher === undefined ? 'lost' : 'polling';
  }

  /** Polling knows nothing that a walk would not find. */
  check(): boolean {
    return true;
  }

  async close(): Promise<void> {
    await this.#watcher?.close();
  }

  #failed(cause: unknown): void {
    // A file that vanishes while it is examined is no failure.
    if (errnoOf(cause) === 'ENOENT' || this.#told) return;
    this.#told = true;
    this.#sink.problem(
      new StateError(
        'WATCH_FAILED',
        `Holdfast does not notice all changes in ${pathText(this.#root)}: ${causeText(cause)}`,
        {
          hint: 'Scheduled backups continue and check every file.',
          cause,
        },
      ),
    );
  }
}
