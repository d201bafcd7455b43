/** How many requests without a valid key each address makes. Of this instance alone: it protects it, and bills nobody. */
import type { Clock } from '../../base/clock.ts';
import type { RateVerdict } from '../../db/rate-log.ts';
import { takeFromLog } from '../store/sliding-log.ts';

export interface AddressLog {
  tryAccept(address: string): RateVerdict;
}

/** Addresses that are kept in memory; the one that was silent for longest goes first. */
const MOST_ADDRESSES = 10_000;

export function createAddressLog(limit: number, windowMs: number, clock: Pick<Clock, 'now'>): AddressLog {
  const logs = new Map<string, readonly number[]>();
  return {
    tryAccept(address) {
      const name = address.replace(/^::ffff:/, '');
      const { verdict, times } = takeFromLog(logs.get(name) ?? [], limit, windowMs, clock.now());
      logs.delete(name);
      logs.set(name, times);
      const [oldest] = logs.keys();
      if (logs.size > MOST_ADDRESSES && oldest !== undefined) logs.delete(oldest);
      return verdict;
    },
  };
}
