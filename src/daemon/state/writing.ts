/** Tracks whether the agent can write its state. While it cannot, no backup can be recorded, so a notice is sent. */
import { hostname } from 'node:os';
import type { Clock } from '../../base/clock.ts';
import { RequestError } from '../../base/errors.ts';
import { stateFailureOf, stateFailureText, type StateFailure } from '../../db/state-failure.ts';
import type { SettingStore } from '../../db/settings.ts';
import type { StatusCheck } from '../../jobs/agent.ts';
import type { JobBook } from '../../jobs/job-book.ts';
import { createNotice } from '../../notify/notice.ts';
import type { Notifier } from '../../notify/notifier.ts';

export interface StateWritingParts {
  readonly stateDirectory: string;
  readonly settings: Pick<SettingStore, 'set'>;
  readonly notifier: Pick<Notifier, 'notify'>;
  readonly clock: Clock;
  /** Whether the disk of the state had no room when it was last looked at. */
  readonly isFull?: (() => boolean) | undefined;
  /** Whether the directory of the state is not there. */
  readonly isGone?: (() => boolean) | undefined;
}

/** Milliseconds until the notice is repeated: while the same trouble stays, and when it comes back. */
const AGAIN_MS = 20 * 3_600_000;
const BACK_MS = 3_600_000;
/** Setting that is written and removed to find out whether writing works again. */
const TRIAL = 'state trial';

export class StateWriting {
  readonly #parts: StateWritingParts;
  /** Called when the state can be written again. None throws. */
  readonly #listeners: (() => void)[] = [];
  #failure: StateFailure | undefined;
  #toldAt: number | null = null;

  constructor(parts: StateWritingParts) {
    this.#parts = parts;
  }

  /** Calls the listener each time that the state can be written again; it must not throw. */
  whenMended(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** To be called with an error of a write. Errors that have nothing to do with the disk of the state are ignored. */
  failed(error: unknown): void {
    const failure = stateFailureOf(causeOf(error));
    if (failure === undefined) return;
    const isNew = this.#failure === undefined;
    this.#failure = failure;
    this.#tell(failure, isNew ? BACK_MS : AGAIN_MS);
  }

  #tell(failure: StateFailure, waitMs: number): void {
    const { clock, notifier, stateDirectory } = this.#parts;
    const nowMs = clock.now();
    // A time in the future was stored while the clock was wrong.
    if (this.#toldAt !== null && this.#toldAt <= nowMs && nowMs - this.#toldAt < waitMs) return;
    this.#toldAt = nowMs;
    const text = textOf(failure, stateDirectory);
    notifier.notify(createNotice({ kind: 'state.failed', host: hostname(), text }, clock));
  }

  /** What is known without a write, which may come only hours later: no room at all, or no directory. */
  #seen(): StateFailure | undefined {
    const { isFull, isGone } = this.#parts;
    if (isGone?.() === true) return 'gone';
    return isFull?.() === true ? 'full' : undefined;
  }

  /** To be called after a successful write. */
  done(): void {
    if (this.#failure === undefined) return;
    this.#failure = undefined;
    // Deferred, so that the code that has just written finishes first.
    queueMicrotask(() => {
      for (const listener of this.#listeners) listener();
    });
  }

  /** Tries to write, as the next job may be a day away. To be called periodically. */
  look(): void {
    const seen = this.#seen();
    if (seen !== undefined) this.#tell(seen, AGAIN_MS);
    // A database whose directory was moved away can still be written, and nobody would find what is written.
    if (this.#failure === undefined || seen === 'gone') return;
    const { settings, clock } = this.#parts;
    try {
      settings.set(TRIAL, String(clock.now()));
      settings.set(TRIAL, undefined);
    } catch (error) {
      this.failed(error);
      return;
    }
    this.done();
  }

  /** Wraps the book of jobs to see whether its writes succeed. */
  watched(book: JobBook): JobBook {
    const seen = <T>(write: () => T): T => {
      let written: T;
      try {
        written = write();
      } catch (error) {
        this.failed(error);
        throw error;
      }
      this.done();
      return written;
    };
    return {
      ...book,
      add: (spec, trigger, also) => seen(() => book.add(spec, trigger, also)),
      addAll: (specs, trigger, more) => seen(() => book.addAll(specs, trigger, more)),
      change: (id, step, also) => seen(() => book.change(id, step, also)),
    };
  }

  /** Without the path, as anybody on the machine may read it. */
  checks(): readonly StatusCheck[] {
    const seen = this.#seen();
    if (seen === 'gone')
      return [
        {
          name: 'state_gone',
          status: 'error',
          message:
            'The folder in which Holdfast keeps its state is gone, so no backups are made. Put it back, or mount its disk.',
        },
      ];
    if (seen === 'full' && (this.#failure ?? 'full') === 'full')
      return [
        {
          name: 'state_full',
          status: 'error',
          message:
            'The disk where Holdfast keeps its state is full, so no backups are made. Free up space there.',
        },
      ];
    if (this.#failure === undefined) return [];
    return [{ name: 'state', status: 'error', message: textOf(this.#failure, 'the state directory') }];
  }
}

function textOf(failure: StateFailure, directory: string): string {
  const { what, hint } = stateFailureText(failure, directory);
  return `The agent cannot record what it does, so backups are not made, or their results are lost: ${what}. ${hint}`;
}

/** When a job could not be stored, the error for the caller wraps the real one. */
function causeOf(error: unknown): unknown {
  return error instanceof RequestError && ['INSUFFICIENT_STORAGE', 'SERVICE_UNAVAILABLE'].includes(error.code)
    ? error.cause
    : error;
}
