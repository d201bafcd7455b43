/** What the service does by itself now and then, in each instance: whoever comes first does it. */
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
/** Devices that are marked as late before others have a turn. */
const LATE_AT_ONCE = 100;

/** Resolves once the signal has ended it. */
export async function doChores({ stores, ...options }: ChoreParts): Promise<void> {
  const { clock, signal } = options;
  let lookFrom = clock.monotonic() + HEARD_MS;
  const markLate = async (): Promise<void> => {
    if (clock.monotonic() < lookFrom) return;
    try {
      while (!signal.aborted && (await stores.devices.markMissed(LATE_AT_ONCE)) === LATE_AT_ONCE);
    } catch (error) {
      // Who could not look could not listen either.
      lookFrom = clock.monotonic() + HEARD_MS;
      throw error;
    }
  };
  await Promise.all([
    periodically(LATE_CHECK_MS, markLate, options),
    periodically(PRUNE_MS, stores.prune, options),
  ]);
}
