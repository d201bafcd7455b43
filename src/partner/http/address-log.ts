/**
 * Limits requests without a valid key by address. Counted by each instance alone, since it protects the instance and is
 * not for billing.
 */
import type { Clock } from '../../base/clock.ts';
import type { RateVerdict } from '../../db/rate-log.ts';
import { createCallerLog } from './caller-log.ts';
import { networkOf } from '../request/network.ts';

export interface AddressLog {
  tryAccept(address: string): RateVerdict;
}

export function createAddressLog(limit: number, windowMs: number, clock: Pick<Clock, 'now'>): AddressLog {
  const log = createCallerLog(limit, windowMs, clock);
  return { tryAccept: (address) => log.tryAccept(networkOf(address)) };
}
