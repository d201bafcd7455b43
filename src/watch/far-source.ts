/**
 * Polls a source on a file system that does not report changes, such as a network file system. Each scan runs in a
 * separate process, so that nothing else is blocked when the file system hangs.
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../base/clock.ts';
import { isAbort, StateError } from '../base/errors.ts';
import { pauseAfter } from '../base/paced-work.ts';
import { FAR_PATIENCE_MS } from '../system/far-answer.ts';
import type { FarPoll, FarPollOrder } from './far-poll.ts';
import type { ChangeFeed, WatchState, ChangeSink } from './change-feed.ts';

export interface FarRequest extends FarPollOrder {
  readonly clock: Clock;
  /** Milliseconds between two scans. */
  readonly pollMs: number;
}

/** Milliseconds by which a scan may take longer than the one before. */
const LAG_MS = 5_000;

/** `unanswered`: the process has printed nothing for a while. */
type Seen = FarPoll | { readonly kind: 'unanswered' };

export class FarSource implements ChangeFeed {
  readonly #request: FarRequest;
  readonly #sink: ChangeSink;
  readonly #ended = new AbortController();
  readonly #looking: Promise<void>;
  #seen: Seen | undefined;
  /** A process waits for a file system that does not answer, and cannot be ended before that answers. */
  #stuck = false;
  #hasTold = false;
  /** Duration of the last complete scan. */
  #tookMs = 0;

  constructor(request: FarRequest, sink: ChangeSink) {
    this.#request = request;
    this.#sink = sink;
    this.#looking = this.#lookOften();
  }

  get state(): WatchState {
    if (this.#seen === undefined) return 'starting';
    return this.#seen.kind === 'there' ? 'polling' : 'lost';
  }

  get directories(): number {
    return this.#seen?.kind === 'there' ? this.#seen.directories : 0;
  }

  /** Covers the current scan, the pause after it, and the next scan. */
  get lagMs(): number {
    return LAG_MS + 2 * this.#tookMs + pauseAfter(this.#tookMs, this.#request.pollMs);
  }

  /** Polling knows nothing that a walk would not find. */
  check(): boolean {
    return true;
  }

  async close(): Promise<void> {
    this.#ended.abort();
    await this.#looking;
  }

  async #lookOften(): Promise<void> {
    const { clock, pollMs } = this.#request;
    const { signal } = this.#ended;
    try {
      for (;;) {
        const begunMs = clock.monotonic();
        const seen = this.#stuck ? ({ kind: 'unanswered' } as const) : await this.#lookOrTell(signal);
        signal.throwIfAborted();
        if (seen !== undefined) this.#compare(seen);
        this.#tookMs = seen?.kind === 'there' ? clock.monotonic() - begunMs : 0;
        await clock.sleep(pauseAfter(this.#tookMs, pollMs), signal);
      }
    } catch (error) {
      if (!isAbort(error) && !signal.aborted) throw error;
    }
  }

  /** Undefined when the process failed. That says nothing about the source, so the last result stays. */
  async #lookOrTell(signal: AbortSignal): Promise<Seen | undefined> {
    try {
      const seen = await this.#look(signal);
      this.#hasTold = false;
      return seen;
    } catch (cause) {
      if (!this.#hasTold && !signal.aborted)
        this.#sink.problem(
          new StateError('WATCH_FAILED', 'Holdfast cannot check a source regularly for changes', {
            hint: 'Scheduled backups continue and check every file. Holdfast keeps trying.',
            cause,
          }),
        );
      this.#hasTold = true;
      return undefined;
    }
  }

  #compare(seen: Seen): void {
    const before = this.#seen;
    this.#seen = seen;
    if (before === undefined) return;
    if (seen.kind !== 'there') {
      if (before.kind === 'there') this.#sink.lose(GONE[seen.kind]);
    } else if (before.kind !== 'there') this.#sink.lose('the source has come back');
    else if (before.identity !== seen.identity)
      this.#sink.lose('there is another directory or file system in place of the source');
    else if (before.digest !== seen.digest) this.#sink.happened(1);
  }

  async #look(signal: AbortSignal): Promise<Seen> {
    const { root, never, mostFiles } = this.#request;
    const order = JSON.stringify({ root, never, mostFiles } satisfies FarPollOrder);
    const child = spawn(process.execPath, [...process.execArgv, entry(), order], {
      stdio: ['ignore', 'pipe', 'ignore'],
      env: {},
    });
    child.unref();
    this.#stuck = true;
    const gone = Promise.withResolvers<Seen>();
    child.once('error', gone.reject);
    // On `close` instead of `exit`, as the last line may arrive after the end.
    child.once('close', (code) => {
      try {
        gone.resolve(pollSaid(last, code));
      } catch (error) {
        gone.reject(error);
      }
    });
    // The promise is not awaited any more when the time was over first.
    gone.promise.catch(() => undefined);
    for (const end of ['close', 'error']) child.once(end, () => (this.#stuck = false));
    let last = '';
    const silent = Promise.withResolvers<Seen>();
    const patience = setTimeout(() => silent.resolve({ kind: 'unanswered' }), FAR_PATIENCE_MS);
    createInterface({ input: child.stdout }).on('line', (line) => {
      last = line;
      patience.refresh();
    });
    const abort = (): void => silent.resolve({ kind: 'unanswered' });
    signal.addEventListener('abort', abort, { once: true });
    try {
      return await Promise.race([gone.promise, silent.promise]);
    } finally {
      clearTimeout(patience);
      signal.removeEventListener('abort', abort);
      child.kill('SIGKILL');
    }
  }
}

/** Parses the result of the process. @throws when the process did not complete */
export function pollSaid(line: string, code: number | null): FarPoll {
  if (code !== 0) throw new Error(`the process that checks it ended with ${code ?? 'a signal'}`);
  return JSON.parse(line) as FarPoll;
}

const GONE = {
  absent: 'the source is gone: it was removed or unmounted',
  unanswered: 'the file system of the source does not answer',
};

function entry(): string {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return fileURLToPath(new URL(`far-poll-main.${extension}`, import.meta.url));
}
