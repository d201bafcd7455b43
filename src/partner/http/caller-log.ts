/** Limits the requests of many callers, counted in the memory of this instance alone. */
import type { Clock } from '../../base/clock.ts';
import type { RateVerdict } from '../../db/rate-log.ts';
import { takeFromLog } from '../store/sliding-log.ts';

export interface CallerLog {
  tryAccept(name: string): RateVerdict;
}

/** Callers that are kept in memory; when there are more, the one silent for longest is dropped. */
const MOST_CALLERS = 10_000;

export function createCallerLog(limit: number, windowMs: number, clock: Pick<Clock, 'now'>): CallerLog {
  const logs = new Map<string, readonly number[]>();
  return {
    tryAccept(name) {
      const { verdict, times } = takeFromLog(logs.get(name) ?? [], limit, windowMs, clock.now());
      logs.delete(name);
      logs.set(name, times);
      const [oldest] = logs.keys();
      if (logs.size > MOST_CALLERS && oldest !== undefined) logs.delete(oldest);
      return verdict;
    },
  };
}
