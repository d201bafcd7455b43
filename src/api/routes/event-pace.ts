/** Thins out progress events: while they come too fast, only the latest of each job is held, until it may be sent. */
import type { Clock } from '../../base/clock.ts';
import type { AgentEvent } from '../../jobs/agent.ts';

/**
 * Milliseconds between two progress events. A little over half a second, so that two updates merge into one, but never
 * three.
 */
export const PROGRESS_MS = 550;

export interface EventPace {
  /** Whether the event may be sent at once. If not, it is held and replaces an earlier one of the same job. */
  admits(event: AgentEvent): boolean;
  /** Milliseconds until a held event may be sent; infinite when none is held. */
  waitMs(): number;
  /** Returns a held event that may be sent, and stops holding it. */
  release(): AgentEvent | undefined;
  /** Drops the held event of a job because a later event of that job is sent. */
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
