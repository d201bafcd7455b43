import { LEASE_TIMES } from './lease-objects.ts';
import type { Repository } from './repository.ts';

/** A snapshot is committed at most this part of the grace period after all that it relies on was seen to be there. */
const PART = 1 / 6;

/**
 * How long before it was stored, by the storage's clock, a snapshot's run may have looked for the last time at what it
 * relies on, in milliseconds. One that is stored later is looked at again, and stays only when all of that is still there.
 */
export function commitWindowMs({ config }: Repository): number {
  return config.graceSeconds * 1_000 * PART + LEASE_TIMES.heartbeat;
}
