/** Whose turn it is: a receiver that is slow, or has much to get, does not hold up the others. */
import type { DueEndpoint } from '../store/deliveries.ts';

/** Attempts at once to one endpoint, by one instance. */
export const AT_ONCE_PER_ENDPOINT = 4;

export interface Turns {
  /** Those of `due` that may have one more attempt: fewest running first, then those whose turn was longest ago. */
  order(due: readonly DueEndpoint[]): readonly DueEndpoint[];
  begun(endpointId: string): void;
  ended(endpointId: string): void;
}

export function createTurns(): Turns {
  const running = new Map<string, number>();
  /** The last turn of each, in the order of the turns. Those with nothing due are forgotten. */
  const last = new Map<string, number>();
  let turn = 0;
  const runningTo = (id: string): number => running.get(id) ?? 0;
  return {
    order(due) {
      const waiting = new Set(due.map(({ endpointId }) => endpointId));
      for (const id of last.keys()) if (!waiting.has(id)) last.delete(id);
      return due
        .filter(({ endpointId }) => runningTo(endpointId) < AT_ONCE_PER_ENDPOINT)
        .toSorted(
          ({ endpointId: a }, { endpointId: b }) =>
            runningTo(a) - runningTo(b) || (last.get(a) ?? 0) - (last.get(b) ?? 0),
        );
    },
    begun(id) {
      running.set(id, runningTo(id) + 1);
      turn += 1;
      last.set(id, turn);
    },
    ended(id) {
      const left = runningTo(id) - 1;
      if (left > 0) running.set(id, left);
      else running.delete(id);
    },
  };
}
