/**
 * Looking again and again at a source on a file system from elsewhere. A process of its own does, and ends: when the other
 * side hangs, it waits, and nobody else does.
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../base/clock.ts';
import { isAbort, StateError } from '../base/errors.ts';
import { FAR_PATIENCE_MS } from '../system/far-answer.ts';
import type { ChangeSink } from './change-log.ts';
import type { FarPoll, FarPollOrder } from './far-poll.ts';
import type { ChangeFeed, WatchState } from './source-watcher.ts';

export interface FarRequest extends FarPollOrder {
  readonly clock: Clock;
  /** Milliseconds between two looks. */
  readonly pollMs: number;
}

/** A look may take one part in so many of all time: large sources are looked at less often. */
const REST = 20;

/** Milliseconds until the next look, after one that took so many. */
export function pauseAfter(tookMs: number, pollMs: number): number {
  return Math.max(pollMs, tookMs * (REST - 1));
}

/** `unanswered`: nothing was heard of the process for a while. */
type Seen = FarPoll | { readonly kind: 'unanswered' };

export class FarSource implements ChangeFeed {
  readonly #request: FarRequest;
  readonly #sink: ChangeSink;
  readonly #ended = new AbortController();
  readonly #looking: Promise<void>;
  #seen: Seen | undefined;
  /** A process that waits for a file system which does not answer; nothing ends it before that does. */
  #stuck = false;

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

  /** Polling has no more to say than a walk finds. */
  check(): void {}

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
        const seen: Seen = this.#stuck ? { kind: 'unanswered' } : await this.#look(signal);
        signal.throwIfAborted();
        this.#compare(seen);
        const tookMs = seen.kind === 'there' ? clock.monotonic() - begunMs : 0;
        await clock.sleep(pauseAfter(tookMs, pollMs), signal);
      }
    } catch (error) {
      if (isAbort(error) || signal.aborted) return;
      this.#seen = { kind: 'absent' };
      this.#sink.problem(
        new StateError('WATCH_FAILED', 'Changes in a source on another machine are not seen', {
          hint: 'Scheduled backups go on and look at every file. Restart the agent to watch again.',
          cause: error,
        }),
      );
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
    const { root, never } = this.#request;
    const child = spawn(process.execPath, [...process.execArgv, entry(), JSON.stringify({ root, never })], {
      stdio: ['ignore', 'pipe', 'ignore'],
      env: {},
    });
    child.unref();
    this.#stuck = true;
    const gone = Promise.withResolvers<Seen>();
    // That it cannot be started says nothing of the source.
    child.once('error', () => gone.resolve(this.#seen ?? { kind: 'absent' }));
    // Its last line may come after it has ended.
    child.once('close', () => gone.resolve(last === '' ? { kind: 'absent' } : (JSON.parse(last) as FarPoll)));
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

const GONE = {
  absent: 'the source is not there any more: it was removed or unmounted',
  unanswered: 'the file system of the source does not answer',
};

function entry(): string {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return fileURLToPath(new URL(`far-poll-main.${extension}`, import.meta.url));
}
