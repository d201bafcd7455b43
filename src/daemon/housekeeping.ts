/** Periodic work of the agent for itself: tidying, reminders, and giving up memory that only jobs needed. */
import type { Clock } from '../base/clock.ts';
import { periodically } from '../base/paced-work.ts';
import type { AgentState } from '../jobs/open-state.ts';
import { returnSpareMemory } from '../system/spare-memory.ts';
import type { Catalogs } from './snapshots/catalogs.ts';

export interface HouseParts {
  readonly state: AgentState;
  readonly catalogs: Pick<Catalogs, 'rest' | 'lookAgain'>;
  readonly clock: Clock;
  /** Called every minute. */
  readonly looks: readonly (() => void | Promise<void>)[];
  /** Called at the start and every hour, one after the other: reminders for people. The signal aborts when the agent stops. */
  readonly reminders: readonly ((signal: AbortSignal) => void | Promise<void>)[];
  /** Overrides {@link returnSpareMemory}. */
  readonly returnMemory?: (() => void) | undefined;
  readonly trouble: (error: unknown) => void;
}

/** Milliseconds. */
const TIDY_MS = 3_600_000;
const LOOK_MS = 60_000;
const REST_MS = 60_000;
/** Growth in bytes since the last time from which on returning memory is worth the effort. */
const WORTHWHILE = 16_000_000;

/** Runs until it is disposed of. */
export function keepHouse(parts: HouseParts): Disposable {
  const ended = new AbortController();
  const { catalogs, clock, state, looks, reminders, trouble } = parts;
  const options = { clock, signal: ended.signal, trouble };
  const each = (works: HouseParts['reminders']) => async (): Promise<void> => {
    for (const work of works) {
      try {
        await work(ended.signal);
      } catch (error) {
        trouble(error);
      }
    }
  };
  const remind = each(reminders);
  void remind();
  // In separate timers: when tidying fails, reminders matter all the more.
  void periodically(TIDY_MS, () => state.tidy(), options);
  void periodically(TIDY_MS, remind, options);
  void periodically(LOOK_MS, each(looks), options);
  void periodically(TIDY_MS, () => catalogs.lookAgain(), options);
  void periodically(REST_MS, resting(parts), options);
  return { [Symbol.dispose]: () => ended.abort() };
}

function resting({ state, catalogs, returnMemory = returnSpareMemory }: HouseParts): () => Promise<void> {
  const { jobs } = state.database;
  const lastJob = (): string | undefined => jobs.lastEnded(1)[0]?.id;
  let seen = lastJob();
  let after = 0;
  // Memory left between two jobs is no measure of what the idle agent needs, so it is returned once more at the first rest.
  let worked = true;
  return async () => {
    if (jobs.count('running') > 0) return;
    const atRest = await catalogs.rest();
    const last = lastJob();
    const isQuiet = atRest && last === seen;
    seen = last;
    worked ||= !isQuiet;
    if (!(isQuiet && worked) && process.memoryUsage.rss() < after + WORTHWHILE) return;
    state.database.rest();
    returnMemory();
    after = process.memoryUsage.rss();
    worked = !isQuiet;
  };
}
