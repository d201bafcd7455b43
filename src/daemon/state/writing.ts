/** Whether the agent can write down what it does. While it cannot, no backup is noted, so somebody has to hear of it. */
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
}

/** Milliseconds until it is told again: of one trouble that stays, and of one that comes back. */
const AGAIN_MS = 20 * 3_600_000;
const BACK_MS = 3_600_000;
/** Written and removed to find out whether there is room by now. */
const TRIAL = 'state trial';

export class StateWriting {
  readonly #parts: StateWritingParts;
  /** Told that it can be written again. None throws. */
  readonly #listeners: (() => void)[] = [];
  #failure: StateFailure | undefined;
  #toldAt: number | null = null;

  constructor(parts: StateWritingParts) {
    this.#parts = parts;
  }

  /** Calls it each time that the state can be written again; it must not throw. */
  whenMended(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Something went wrong; what has nothing to do with the disk of the state is left aside. */
  failed(error: unknown): void {
    const failure = stateFailureOf(causeOf(error));
    if (failure === undefined) return;
    const isNew = this.#failure === undefined;
    this.#failure = failure;
    const { clock, notifier, stateDirectory } = this.#parts;
    const nowMs = clock.now();
    const waitMs = isNew ? BACK_MS : AGAIN_MS;
    // A time in the future was noted under a wrong clock.
    if (this.#toldAt !== null && this.#toldAt <= nowMs && nowMs - this.#toldAt < waitMs) return;
    this.#toldAt = nowMs;
    const text = textOf(this.#failure, stateDirectory);
    notifier.notify(createNotice({ kind: 'state.failed', host: hostname(), text }, clock));
  }

  /** Something was written. */
  done(): void {
    if (this.#failure === undefined) return;
    this.#failure = undefined;
    // Whoever has written goes on first.
    queueMicrotask(() => {
      for (const listener of this.#listeners) listener();
    });
  }

  /** Whether there is room by now: the next job may be a day away. To be called now and then. */
  look(): void {
    if (this.#failure === undefined) return;
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

  /** The same book, of which it is seen here how writing goes. */
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

  /** Without the path: anybody on the machine may read it. */
  checks(): readonly StatusCheck[] {
    if (this.#failure === undefined) return [];
    return [{ name: 'state', status: 'error', message: textOf(this.#failure, 'the state directory') }];
  }
}

function textOf(failure: StateFailure, directory: string): string {
  const { what, hint } = stateFailureText(failure, directory);
  return `The agent cannot write down what it does, so that backups are not made or their ends are not noted: ${what}. ${hint}`;
}

/** A job that could not be noted is refused with words for whoever asked for it. */
function causeOf(error: unknown): unknown {
  return error instanceof RequestError && ['INSUFFICIENT_STORAGE', 'SERVICE_UNAVAILABLE'].includes(error.code)
    ? error.cause
    : error;
}
