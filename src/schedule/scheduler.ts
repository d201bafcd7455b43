/**
 * Calls back when schedules are due. Its timer never sleeps for long, because a timer stops while the machine sleeps:
 * after waking, missed runs are found within one nap.
 */
import { isAbort } from '../base/errors.ts';
import type { Clock } from '../base/clock.ts';
import { inSlices } from '../base/paced-work.ts';
import { afterRun, jitterOf, reconcile, type ScheduleState, type ScheduleStore } from './due-state.ts';
import type { Schedule } from './schedule.ts';

export interface ScheduleEntry {
  /** Identifies the schedule across restarts and changes of the settings. */
  readonly key: string;
  readonly schedule: Schedule;
  /** The longest random delay of a run. */
  readonly jitterSeconds: number;
}

/**
 * Accepts a run and returns at once. If it throws, the error is reported, and the run is offered again a minute later.
 * `dueAt` is without the random delay. `caughtUp`: the run is late, because the machine was off or asleep.
 */
export type OnDue = (key: string, dueAt: number, caughtUp: boolean) => void;

export interface SchedulerOptions {
  readonly clock: Clock;
  readonly store: ScheduleStore;
  /** Differs between machines but is the same after a restart, and so are the random delays. */
  readonly seed: string;
  readonly due: OnDue;
  /** Receives errors of `due` and of the store. */
  readonly onError: (key: string, error: unknown) => void;
  /** Called when the wall clock is ahead of the time that has passed: the machine slept, or the clock was put forward. */
  readonly onWake?: (aheadMs: number) => void;
}

/** Milliseconds. */
const LIMITS = Object.freeze({
  /** The longest sleep between two looks, and so the longest delay of a missed run after waking. */
  nap: 20_000,
  /** A run that is later than this counts as missed. */
  late: 60_000,
  /** Smaller deviations of the clock are normal corrections. */
  step: 1000,
  /** The machine slept if the wall clock is ahead of the monotonic clock by more than this. */
  slept: 60_000,
  retry: 60_000,
});

interface Known {
  readonly entry: ScheduleEntry;
  readonly state: ScheduleState;
  /** When `due` is called, including the random delay. */
  readonly fireAt: number | null;
  /** Monotonic time before which a failed run is not offered again. */
  readonly retryAt: number | null;
}

export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #known = new Map<string, Known>();
  readonly #end = new AbortController();
  #zone = 'UTC';
  /** Wall clock minus monotonic clock when the states were last corrected. */
  #skew: number;
  #nap = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#skew = options.clock.now() - options.clock.monotonic();
  }

  /**
   * Sets the entries and the zone. The state of a known key is kept: a missed run is caught up, and changing a schedule
   * makes nothing due at once. A new interval has its first run after one interval.
   * @throws {RequestError} for an unknown zone; then nothing changes
   */
  replace(entries: readonly ScheduleEntry[], zone: string): void {
    const { clock, store } = this.#options;
    const now = clock.now();
    const next = entries.map((entry) => {
      const known = this.#known.get(entry.key);
      const kept = known?.state ?? store.get(entry.key);
      const state = reconcile(entry.schedule, kept, now, zone);
      return { kept, known: this.#withState(entry, state, known?.retryAt ?? null, zone) };
    });
    this.#zone = zone;
    this.#known.clear();
    for (const { known } of next) this.#known.set(known.entry.key, known);
    this.#keepAll(next);
    this.#nap.abort();
  }

  /** Begins to call `due`. */
  start(): void {
    this.#running ??= this.#run();
  }

  /** When `due` will be called, including the random delay; null for never, and for an unknown key. */
  nextRun(key: string): number | null {
    return this.#known.get(key)?.fireAt ?? null;
  }

  /** When the last run that was started was due; null when none was started. */
  lastRun(key: string): number | null {
    return this.#known.get(key)?.state.lastRun ?? null;
  }

  async close(): Promise<void> {
    this.#end.abort();
    this.#nap.abort();
    await this.#running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #run(): Promise<void> {
    while (!this.#end.signal.aborted) {
      this.#nap = new AbortController();
      this.#followClock();
      const now = this.#options.clock.now();
      const due = this.#due(now);
      // After a night of sleep a thousand sources may be due at once.
      if (due.length > 0) await inSlices(due, (key) => this.#fire(key, now), this.#end.signal);
      await this.#sleep(this.#untilNext(now));
    }
  }

  async #sleep(ms: number): Promise<void> {
    try {
      await this.#options.clock.sleep(ms, this.#nap.signal);
    } catch (error) {
      // Woken by a change of the entries, or by the end.
      if (!isAbort(error)) throw error;
    }
  }

  /** The keys of what is due, the longest due first. */
  #due(now: number): readonly string[] {
    const { clock } = this.#options;
    return [...this.#known.values()]
      .filter(
        ({ fireAt, retryAt }) => fireAt !== null && fireAt <= now && (retryAt ?? 0) <= clock.monotonic(),
      )
      .sort((a, b) => (a.fireAt ?? 0) - (b.fireAt ?? 0))
      .map(({ entry }) => entry.key);
  }

  /** Milliseconds until the next look. */
  #untilNext(now: number): number {
    const { clock } = this.#options;
    const waits = [...this.#known.values()].map(({ fireAt, retryAt }) =>
      fireAt === null ? LIMITS.nap : Math.max(fireAt - now, (retryAt ?? 0) - clock.monotonic()),
    );
    return Math.max(1, Math.min(LIMITS.nap, ...waits));
  }

  /** Corrects the states when the wall clock has deviated from the time that passed. */
  #followClock(): void {
    const { clock, onWake } = this.#options;
    const now = clock.now();
    const skew = now - clock.monotonic();
    const aheadMs = skew - this.#skew;
    if (Math.abs(aheadMs) <= LIMITS.step) return;
    this.#skew = skew;
    const moved: { readonly known: Known; readonly kept: ScheduleState }[] = [];
    for (const { entry, state, retryAt } of this.#known.values()) {
      const known = this.#withState(
        entry,
        reconcile(entry.schedule, state, now, this.#zone),
        retryAt,
        this.#zone,
      );
      this.#known.set(entry.key, known);
      moved.push({ known, kept: state });
    }
    this.#keepAll(moved);
    if (aheadMs > LIMITS.slept) onWake?.(aheadMs);
  }

  #fire(key: string, now: number): void {
    const { clock, due, onError } = this.#options;
    const known = this.#known.get(key);
    const dueAt = known?.state.nextRun ?? null;
    // An earlier call of `due` may have replaced the entries.
    if (known === undefined || known.fireAt === null || known.fireAt > now || dueAt === null) return;
    try {
      due(key, dueAt, now - known.fireAt > LIMITS.late);
    } catch (error) {
      this.#known.set(key, { ...known, retryAt: clock.monotonic() + LIMITS.retry });
      onError(key, error);
      return;
    }
    // Stored after the call: a crash in between offers the run again instead of losing it.
    const { entry } = this.#known.get(key) ?? known;
    const ran = this.#withState(entry, afterRun(entry.schedule, dueAt, now, this.#zone), null, this.#zone);
    if (this.#known.has(key)) this.#known.set(key, ran);
    this.#keepAll([{ known: ran, kept: known.state }]);
  }

  #withState(entry: ScheduleEntry, state: ScheduleState, retryAt: number | null, zone: string): Known {
    const { nextRun } = state;
    const fireAt = nextRun === null ? null : nextRun + jitterOf(entry, nextRun, zone, this.#options.seed);
    return { entry, state, fireAt, retryAt };
  }

  /** Stores the states that differ from `kept`. */
  #keepAll(states: readonly { readonly known: Known; readonly kept: ScheduleState | undefined }[]): void {
    const changed = states
      .filter(({ known: { state }, kept }) => !isSame(state, kept))
      .map(({ known: { entry, state } }): [string, ScheduleState] => [entry.key, state]);
    const [first] = changed;
    if (first === undefined) return;
    try {
      this.#options.store.putAll(changed);
    } catch (error) {
      // The states in memory apply until the process ends.
      this.#options.onError(first[0], error);
    }
  }
}

function isSame(state: ScheduleState, before: ScheduleState | undefined): boolean {
  return before?.lastRun === state.lastRun && before.nextRun === state.nextRun;
}
