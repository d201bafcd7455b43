import { LEASE_TIMES } from './lease-objects.ts';
import type { Repository } from './repository.ts';

/** The commit window as a part of the grace period. */
const PART = 1 / 6;

/**
 * The most time, in milliseconds of the storage's clock, that may pass between a run's last check that everything it
 * relies on exists and the commit of its snapshot. A snapshot that is stored later is checked again afterwards, and
 * stays only if all of that still exists.
 */
export function commitWindowMs({ config }: Repository): number {
  return config.graceSeconds * 1_000 * PART + LEASE_TIMES.heartbeat;
}
