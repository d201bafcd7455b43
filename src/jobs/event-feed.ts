/** The feed of events: first those that a listener missed, then new ones as they come. */
import type { Clock } from '../base/clock.ts';
import { redactDeep, redactText } from '../base/redact.ts';
import type { EventStore, NewEvent } from '../db/events.ts';
import type { AgentEvent } from './agent.ts';

/** Events read from the store at once. */
const BATCH = 200;

export interface EventFeed {
  /** Stores an event and wakes all listeners. */
  append(event: Omit<NewEvent, 'at'>): AgentEvent;
  /** Like `append`, but wakes nobody: for use inside a transaction, after which `wake` is called. */
  store(event: Omit<NewEvent, 'at'>): void;
  wake(): void;
  /**
   * The events after the id `after` that are still kept, then new ones, until the signal aborts, which ends the
   * iteration. Without `after` only new events come; an `after` above the latest id yields all that are kept. A slow
   * listener misses only events that are no longer kept.
   */
  listen(
    after: number | undefined,
    jobId: string | undefined,
    signal: AbortSignal,
  ): AsyncIterable<AgentEvent>;
  /** Calls `wake` after every event until the returned function is called. */
  watch(wake: () => void): () => void;
}

/** @param redact removes secrets from the data of appended events; jobs passed to `store` contain none */
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
        // No event can come between the read above and this line, as both are in one turn of the event loop.
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
      // An id above the latest one comes from a state that was lost or set back, so everything kept is new to the listener.
      const from = after === undefined ? latest : after > latest ? 0 : after;
      return follow(from, jobId, signal);
    },
    watch,
  };
}
