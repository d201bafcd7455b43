/** Events as they come, after those that were missed. */
import type { Clock } from '../base/clock.ts';
import { redactDeep, redactText } from '../base/redact.ts';
import type { EventStore, NewEvent } from '../db/events.ts';
import type { AgentEvent } from './agent.ts';

/** Events read at once. */
const BATCH = 200;

export interface EventFeed {
  /** Stores an event and wakes everybody who listens. */
  append(event: Omit<NewEvent, 'at'>): AgentEvent;
  /** As `append`, but wakes nobody: inside a transaction, after which `wake` is called. */
  store(event: Omit<NewEvent, 'at'>): void;
  wake(): void;
  /**
   * Those after the id `after` that are still kept (undefined: none that was; an id that is still to come: all), then new ones, until the signal aborts,
   * which ends the iteration. A listener that is slow misses only what is no longer kept.
   */
  listen(
    after: number | undefined,
    jobId: string | undefined,
    signal: AbortSignal,
  ): AsyncIterable<AgentEvent>;
  /** Calls `wake` after every event until the returned function is called. */
  watch(wake: () => void): () => void;
}

/** `redact` takes the secrets out of what is said; jobs come without any. */
export function createEventFeed(
  store: EventStore,
  clock: Clock,
  redact: (text: string) => string = redactText,
): EventFeed {
  const watchers = new Set<() => void>();
  const watch = (wake: () => void): (() => void) => {
    watchers.add(wake);
    return () => watchers.delete(wake);
  };

  const wakeAll = (): void => {
    for (const wake of watchers) wake();
  };

  async function* follow(
    from: number,
    jobId: string | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<AgentEvent> {
    let last = from;
    let wake = (): void => undefined;
    const unwatch = watch(() => wake());
    const abort = (): void => wake();
    signal.addEventListener('abort', abort, { once: true });
    try {
      while (!signal.aborted) {
        const events = store.after(last, jobId, BATCH);
        for (const event of events) {
          if (signal.aborted) return;
          yield event;
          last = event.id;
        }
        if (events.length > 0) continue;
        // Nothing can come between the look at the store and this: both are in one turn.
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      unwatch();
      signal.removeEventListener('abort', abort);
    }
  }

  return {
    append(event) {
      const stored = store.append({ ...event, data: redactDeep(event.data, redact), at: clock.now() });
      wakeAll();
      return stored;
    },
    store(event) {
      store.append({ ...event, at: clock.now() });
    },
    wake: wakeAll,
    listen(after, jobId, signal) {
      const latest = store.latestId();
      // An id that is still to come is of a state that was lost, or set back: what is kept is all new to whoever has it.
      const from = after === undefined ? latest : after > latest ? 0 : after;
      return follow(from, jobId, signal);
    },
    watch,
  };
}
