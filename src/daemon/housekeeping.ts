/** What the agent does now and then for itself: it tidies, and gives up the memory that only work needed. */
import type { Clock } from '../base/clock.ts';
import { periodically } from '../base/periodic.ts';
import type { AgentState } from '../jobs/open-state.ts';
import { returnSpareMemory } from '../system/spare-memory.ts';
import type { Catalogs } from './snapshots/catalogs.ts';

export interface HouseParts {
  readonly state: AgentState;
  readonly catalogs: Pick<Catalogs, 'rest' | 'lookAgain'>;
  readonly clock: Clock;
  /** What is looked at each minute. */
  readonly looks: readonly (() => void)[];
  /** What people have to be told of by and by. */
  readonly reminders: readonly (() => void)[];
  /** Gives spare memory back to the system, instead of {@link returnSpareMemory}. */
  readonly returnMemory?: (() => void) | undefined;
  readonly trouble: (error: unknown) => void;
}

/** Milliseconds. */
const TIDY_MS = 3_600_000;
const LOOK_MS = 60_000;
const REST_MS = 60_000;
/** Bytes more than after the last time, from which on giving memory back is worth the trouble. */
const WORTHWHILE = 16_000_000;

/** Until it is disposed of. */
export function keepHouse(parts: HouseParts): Disposable {
  const ended = new AbortController();
  const { catalogs, clock, state, looks, reminders, trouble } = parts;
  const options = { clock, signal: ended.signal, trouble };
  const each = (works: readonly (() => void)[]) => (): void => {
    for (const work of works) {
      try {
        work();
      } catch (error) {
        trouble(error);
      }
    }
  };
  const remind = each(reminders);
  remind();
  // Each for itself: where nothing can be tidied any more, people have to be told all the more.
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
  // What is left between two jobs is more than work needs, and no measure of what rest needs.
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
