/** Counts the size of a source in a separate process, so that a large source neither blocks the agent nor takes its memory. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../../base/clock.ts';
import { RequestError, SourceError, StateError } from '../../base/errors.ts';
import { createTurns, type Turns } from '../../base/turns.ts';
import type { EstimateOrder, FromEstimate, SourceEstimate } from '../../engine/protocol.ts';

/** Milliseconds for the process to start and report, in addition to the time in which it counts. */
const GRACE_MS = 10_000;
/** The most processes at once. */
const MOST = 2;

export interface EstimateParts {
  readonly clock: Clock;
  /** Environment of the process, without secrets. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export class SizeEstimates {
  readonly #parts: EstimateParts;
  readonly #turns: Turns = createTurns(MOST);

  constructor(parts: EstimateParts) {
    this.#parts = parts;
  }

  /**
   * Ends when the time of the order is over, however slow the disk is, with what was counted until then.
   * @throws {SourceError} INVALID_SOURCE
   * @throws {RequestError} for an invalid exclude rule
   * @throws {StateError} when the process could not count
   * @throws the reason of the signal when it aborts, after ending the process
   */
  async count(order: EstimateOrder, signal: AbortSignal): Promise<SourceEstimate> {
    using turn = await this.#turns.take(signal);
    void turn;
    const { clock, environment } = this.#parts;
    const child = fork(entry(), [], {
      serialization: 'advanced',
      execArgv: [...process.execArgv],
      env: { ...environment },
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    const told = { last: undefined as FromEstimate | undefined };
    child.on('message', (message) => {
      told.last = message as FromEstimate;
    });
    const ended = new AbortController();
    const gone = once(child, 'close').finally(() => ended.abort());
    const kill = (): void => void child.kill('SIGKILL');
    signal.addEventListener('abort', kill, { once: true });
    void clock.sleep(order.withinMs + GRACE_MS, ended.signal).then(kill, () => undefined);
    try {
      // If the process has already ended, its exit says why.
      child.send(order, () => undefined);
      await gone;
    } catch (cause) {
      throw unable(cause);
    } finally {
      signal.removeEventListener('abort', kill);
    }
    signal.throwIfAborted();
    return estimateOf(told.last);
  }
}

function entry(): string {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return fileURLToPath(new URL(`../../engine/size-estimate-main.${extension}`, import.meta.url));
}

function estimateOf(told: FromEstimate | undefined): SourceEstimate {
  if (told === undefined) throw unable(undefined);
  if (told.kind === 'counted') return told.isLast ? told.estimate : { ...told.estimate, complete: false };
  const { code, message, hint, details } = told;
  throw code === 'INVALID_SOURCE'
    ? new SourceError(code, message, { hint, details })
    : new RequestError(code, message, { hint, details });
}

function unable(cause: unknown): StateError {
  return new StateError('ESTIMATE_FAILED', 'The source could not be counted', {
    hint: 'Try again later; the backup itself does not need it.',
    cause,
  });
}
