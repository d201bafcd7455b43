/** Runs the recurring chores of the service. Every instance runs them, and whichever comes first does the work. */
import type { Clock } from '../base/clock.ts';
import { periodically } from '../base/periodic.ts';
import { HEARD_MS } from './store/devices.ts';
import type { PartnerStores } from './store/store.ts';

export interface ChoreParts {
  readonly stores: Pick<PartnerStores, 'devices' | 'prune'>;
  readonly clock: Pick<Clock, 'sleep' | 'monotonic'>;
  readonly signal: AbortSignal;
  readonly trouble: (error: unknown) => void;
}

const LATE_CHECK_MS = 60_000;
const PRUNE_MS = 3_600_000;
/** Devices that are marked as late in one batch. */
const LATE_AT_ONCE = 100;

/** Runs until the signal aborts, and then resolves. */
export async function doChores({ stores, ...options }: ChoreParts): Promise<void> {
  const { clock, signal } = options;
  let lookFrom = clock.monotonic() + HEARD_MS;
  const markLate = async (): Promise<void> => {
    if (clock.monotonic() < lookFrom) return;
    try {
      while (!signal.aborted && (await stores.devices.markMissed(LATE_AT_ONCE)) === LATE_AT_ONCE);
    } catch (error) {
      // While the store could not be queried, no reports could be received either: devices get time to catch up.
      lookFrom = clock.monotonic() + HEARD_MS;
      throw error;
    }
  };
  await Promise.all([
    periodically(LATE_CHECK_MS, markLate, options),
    periodically(PRUNE_MS, stores.prune, options),
  ]);
}
