/** Whose turn it is: a receiver that is slow, or has much to get, does not hold up the others. */
import type { DueEndpoint } from '../store/deliveries.ts';

/** Attempts at once to one endpoint, by one instance. */
export const AT_ONCE_PER_ENDPOINT = 4;

export type TurnOf = Pick<DueEndpoint, 'endpointId' | 'isFailing'>;

export interface Turns {
  /**
   * Those of `due` that may have one more attempt: fewest running first, then those whose turn was longest ago. Those that
   * fail have half of all attempts at most: the rest is for receivers that answer.
   */
  order(due: readonly DueEndpoint[]): readonly DueEndpoint[];
  begun(due: TurnOf): void;
  ended(due: TurnOf): void;
}

/** `workers`: attempts at once in all. */
export function createTurns(workers: number): Turns {
  const mostFailing = Math.max(1, Math.floor(workers / 2));
  let failing = 0;
  const running = new Map<string, number>();
  /** The last turn of each, in the order of the turns. Those with nothing due are forgotten. */
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
