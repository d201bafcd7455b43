/** Limits the requests of many callers, each by its name or by its network. Counted in the memory of this instance alone, since it protects the instance and is not for billing. */
import type { Clock } from '../../base/clock.ts';
import type { RateVerdict } from '../../db/rate-log.ts';
import { networkOf } from '../request/network.ts';
import { takeFromLog } from '../store/rate-log.ts';

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

export interface AddressLog {
  tryAccept(address: string): RateVerdict;
}

/**
 * Limits requests without a valid key by address. Counted by each instance alone, since it protects the instance and is
 * not for billing.
 */
export function createAddressLog(limit: number, windowMs: number, clock: Pick<Clock, 'now'>): AddressLog {
  const log = createCallerLog(limit, windowMs, clock);
  return { tryAccept: (address) => log.tryAccept(networkOf(address)) };
}
