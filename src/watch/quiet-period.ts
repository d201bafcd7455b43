import type { Clock } from '../base/clock.ts';

export interface QuietRules {
  /** Milliseconds without a change. */
  readonly quietMs: number;
  /** Milliseconds after the first change. */
  readonly patienceMs: number;
  readonly clock: Clock;
}

/** Calls `due` once changes have stopped for a while, or the first of them has waited long enough. */
export class QuietPeriod {
  readonly #rules: QuietRules;
  readonly #due: () => void;
  readonly #ended = new AbortController();
  #firstMs: number | undefined;
  #lastMs = 0;

  constructor(rules: QuietRules, due: () => void) {
    this.#rules = rules;
    this.#due = due;
  }

  /** Something changed. */
  touch(): void {
    if (this.#ended.signal.aborted) return;
    const now = this.#rules.clock.monotonic();
    this.#lastMs = now;
    if (this.#firstMs !== undefined) return;
    this.#firstMs = now;
    void this.#wait(now);
  }

  close(): void {
    this.#ended.abort();
  }

  async #wait(firstMs: number): Promise<void> {
    const { quietMs, patienceMs, clock } = this.#rules;
    const { signal } = this.#ended;
    for (;;) {
      const dueMs = Math.min(this.#lastMs + quietMs, firstMs + patienceMs);
      const restMs = dueMs - clock.monotonic();
      if (restMs <= 0) break;
      // The sleep rejects only when the signal aborts.
      const slept = await clock.sleep(restMs, signal).then(
        () => true,
        () => false,
      );
      if (!slept) return;
    }
    this.#firstMs = undefined;
    this.#due();
  }
}

/** Milliseconds by which the wall clock may drift from the monotonic clock between two calls. */
const MOST_DRIFT_MS = 60_000;

/**
 * Returns a function that says whether the computer has slept since the last call: the wall clock went on while the
 * monotonic clock stopped. A clock that was set looks the same.
 */
export function sleepDetector(clock: Clock): () => boolean {
  let offset = clock.now() - clock.monotonic();
  return () => {
    const now = clock.now() - clock.monotonic();
    const jumped = Math.abs(now - offset) > MOST_DRIFT_MS;
    offset = now;
    return jumped;
  };
}
