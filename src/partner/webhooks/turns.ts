/** Decides whose turn it is, so that a slow or busy receiver does not hold up the others. */
import type { DueEndpoint } from '../store/deliveries.ts';

/** Concurrent attempts to one endpoint by one instance. */
export const AT_ONCE_PER_ENDPOINT = 4;

export type TurnOf = Pick<DueEndpoint, 'endpointId' | 'isFailing'>;

export interface Turns {
  /**
   * The endpoints of `due` that may have one more attempt: those with the fewest running attempts first, then those
   * whose last turn was longest ago. Failing endpoints get at most half of all attempts, which leaves the rest for
   * receivers that answer.
   */
  order(due: readonly DueEndpoint[]): readonly DueEndpoint[];
  begun(due: TurnOf): void;
  ended(due: TurnOf): void;
}

/** @param workers concurrent attempts in total */
export function createTurns(workers: number): Turns {
  const mostFailing = Math.max(1, Math.floor(workers / 2));
  let failing = 0;
  const running = new Map<string, number>();
  /** Number of the last turn of each endpoint. Endpoints with nothing due are forgotten. */
  const last = new Map<string, number>();
  let turn = 0;
  const runningTo = (id: string): number => running.get(id) ?? 0;
  return {
    order(due) {
      const waiting = new Set(due.map(({ endpointId }) => endpointId));
      for (const id of last.keys()) if (!waiting.has(id)) last.delete(id);
      let room = mostFailing - failing;
      return due
        .filter(({ endpointId, isTrial }) => runningTo(endpointId) < (isTrial ? 1 : AT_ONCE_PER_ENDPOINT))
        .toSorted(
          ({ endpointId: a }, { endpointId: b }) =>
            runningTo(a) - runningTo(b) || (last.get(a) ?? 0) - (last.get(b) ?? 0),
        )
        .filter(({ isFailing }) => !isFailing || (room -= 1) >= 0);
    },
    begun({ endpointId: id, isFailing }) {
      if (isFailing) failing += 1;
      running.set(id, runningTo(id) + 1);
      turn += 1;
      last.set(id, turn);
    },
    ended({ endpointId: id, isFailing }) {
      if (isFailing) failing -= 1;
      const left = runningTo(id) - 1;
      if (left > 0) running.set(id, left);
      else running.delete(id);
    },
  };
}
