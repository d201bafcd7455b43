/**
 * Says when things are due. Its one timer is short, because a timer does not run while the machine sleeps: after
 * waking, everything that was missed is found within one nap.
 */
import { isAbort } from '../base/errors.ts';
import type { Clock } from '../base/clock.ts';
import { afterRun, jitterOf, reconcile, type ScheduleState, type ScheduleStore } from './due-state.ts';
import type { Schedule } from './schedule.ts';

export interface ScheduleEntry {
  /** Names it across restarts and changes of the settings. */
  readonly key: string;
  readonly schedule: Schedule;
  /** The longest random delay of a run. */
  readonly jitterSeconds: number;
}

/**
 * Takes a run on and returns at once. What it throws is reported, and the run is offered again a minute later.
 * `dueAt` is without the random delay. `caughtUp`: it is late, because the machine was off or asleep.
 */
export type OnDue = (key: string, dueAt: number, caughtUp: boolean) => void;

export interface SchedulerOptions {
  readonly clock: Clock;
  readonly store: ScheduleStore;
  /** Different on each machine and the same after a restart, so that random delays are both. */
  readonly seed: string;
  readonly due: OnDue;
  /** Told of failures of `due` and of the store. */
  readonly onError: (key: string, error: unknown) => void;
  /** Told when the wall clock has gone ahead of the time that passed: sleep, or a clock put forward. */
  readonly onWake?: (aheadMs: number) => void;
}

/** Milliseconds. */
const LIMITS = Object.freeze({
  /** What may remain of a nap after waking from sleep, and so the longest delay of a missed run. */
  nap: 20_000,
  /** A run that is later than this was missed. */
  late: 60_000,
  /** Smaller steps of the clock are corrections of its speed. */
  step: 1000,
  /** Wall clock ahead of the monotonic one by more than this: the machine slept. */
  slept: 60_000,
  retry: 60_000,
});

interface Known {
  readonly entry: ScheduleEntry;
  readonly state: ScheduleState;
  /** When `due` is called, random delay included. */
  readonly fireAt: number | null;
  /** On the monotonic clock: not before, after a failure. */
  readonly retryAt: number | null;
}

export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #known = new Map<string, Known>();
  readonly #end = new AbortController();
  #zone = 'UTC';
  /** Wall clock minus monotonic clock, when the states were last put right. */
  #skew: number;
  #nap = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#skew = options.clock.now() - options.clock.monotonic();
  }

  /**
   * Sets what is scheduled, in which zone. What is known of a key stays: a run that it missed is caught up, and no
   * change of a schedule makes one due at once. An interval that is new has its first run when it has passed.
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
    for (const { kept, known } of next) {
      this.#known.set(known.entry.key, known);
      this.#keep(known, kept);
    }
    this.#nap.abort();
  }

  /** Begins to call `due`. */
  start(): void {
    this.#running ??= this.#run();
  }

  /** When `due` will be called, random delay included; null for never and for what is not scheduled. */
  nextRun(key: string): number | null {
    return this.#known.get(key)?.fireAt ?? null;
  }

  /** When the last run that was started had been due; null for none. */
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
      const waitMs = this.#look();
      await this.#sleep(waitMs);
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

  /** Starts what is due; gives the milliseconds until the next look. */
  #look(): number {
    this.#followClock();
    const { clock } = this.#options;
    const now = clock.now();
    const due = [...this.#known.values()]
      .filter(
        ({ fireAt, retryAt }) => fireAt !== null && fireAt <= now && (retryAt ?? 0) <= clock.monotonic(),
      )
      .sort((a, b) => (a.fireAt ?? 0) - (b.fireAt ?? 0));
    for (const { entry } of due) this.#fire(entry.key, now);
    const waits = [...this.#known.values()].map(({ fireAt, retryAt }) =>
      fireAt === null ? LIMITS.nap : Math.max(fireAt - now, (retryAt ?? 0) - clock.monotonic()),
    );
    return Math.max(1, Math.min(LIMITS.nap, ...waits));
  }

  /** Puts the states right when the wall clock did not go as time did. */
  #followClock(): void {
    const { clock, onWake } = this.#options;
    const now = clock.now();
    const skew = now - clock.monotonic();
    const aheadMs = skew - this.#skew;
    if (Math.abs(aheadMs) <= LIMITS.step) return;
    this.#skew = skew;
    for (const { entry, state, retryAt } of this.#known.values()) {
      const known = this.#withState(
        entry,
        reconcile(entry.schedule, state, now, this.#zone),
        retryAt,
        this.#zone,
      );
      this.#known.set(entry.key, known);
      this.#keep(known, state);
    }
    if (aheadMs > LIMITS.slept) onWake?.(aheadMs);
  }

  #fire(key: string, now: number): void {
    const { clock, due, onError } = this.#options;
    const known = this.#known.get(key);
    const dueAt = known?.state.nextRun ?? null;
    // An earlier call of `due` may have replaced the entries.
    if (known === undefined || known.fireAt === null || dueAt === null) return;
    try {
      due(key, dueAt, now - known.fireAt > LIMITS.late);
    } catch (error) {
      this.#known.set(key, { ...known, retryAt: clock.monotonic() + LIMITS.retry });
      onError(key, error);
      return;
    }
    // Only now: a crash in between offers the run again rather than losing it.
    const { entry } = this.#known.get(key) ?? known;
    const ran = this.#withState(entry, afterRun(entry.schedule, dueAt, now, this.#zone), null, this.#zone);
    if (this.#known.has(key)) this.#known.set(key, ran);
    this.#keep(ran, known.state);
  }

  #withState(entry: ScheduleEntry, state: ScheduleState, retryAt: number | null, zone: string): Known {
    const { nextRun } = state;
    const fireAt = nextRun === null ? null : nextRun + jitterOf(entry, nextRun, zone, this.#options.seed);
    return { entry, state, fireAt, retryAt };
  }

  #keep({ entry, state }: Known, before: ScheduleState | undefined): void {
    if (before?.lastRun === state.lastRun && before.nextRun === state.nextRun) return;
    try {
      this.#options.store.put(entry.key, state);
    } catch (error) {
      // What is in memory holds until the end of the process.
      this.#options.onError(entry.key, error);
    }
  }
}
