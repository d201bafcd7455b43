/** Progress, thinned out: of what comes too fast, the latest of each job is kept until there is room. */
import type { Clock } from '../../base/clock.ts';
import type { AgentEvent } from '../../jobs/agent.ts';

/** Milliseconds between two of them: a little over half a second, so that two fall into one and never three. */
export const PROGRESS_MS = 550;

export interface EventPace {
  /** Whether it may be sent now; else it is held, in place of an earlier one of the same job. */
  admits(event: AgentEvent): boolean;
  /** Milliseconds until one that is held may be sent; infinite without one. */
  waitMs(): number;
  /** One that is held and may be sent now. */
  release(): AgentEvent | undefined;
  /** Drops what is held of a job of which something later is sent. */
  forget(jobId: string | null): void;
}

export function createEventPace(clock: Clock): EventPace {
  const held = new Map<string | null, AgentEvent>();
  let freeAt = 0;
  return {
    admits: (event) => {
      const now = clock.monotonic();
      if (now < freeAt || held.size > 0) {
        held.set(event.jobId, event);
        return false;
      }
      freeAt = now + PROGRESS_MS;
      return true;
    },
    waitMs: () => (held.size === 0 ? Number.POSITIVE_INFINITY : Math.max(0, freeAt - clock.monotonic())),
    release: () => {
      const [first] = held;
      const now = clock.monotonic();
      if (first === undefined || now < freeAt) return undefined;
      held.delete(first[0]);
      freeAt = now + PROGRESS_MS;
      return first[1];
    },
    forget: (jobId) => {
      held.delete(jobId);
    },
  };
}
