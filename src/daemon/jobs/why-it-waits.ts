/** Why a job may not begin yet: the partner's plan, and the conditions of the settings. */
import type { Clock } from '../../base/clock.ts';
import type { Settings } from '../../config/settings.ts';
import type { Membership } from '../../enrollment/membership.ts';
import { waitingReason, type Circumstances } from '../../jobs/conditions.ts';
import type { Job, Wait } from '../../jobs/job.ts';
import type { PassPart } from '../../jobs/pass.ts';
import { isPersons } from '../../jobs/queue.ts';
import { placeOf, type Destinations } from '../places/destinations.ts';
import { isThroughNetwork } from './prepare-pass.ts';

export interface WaitingParts {
  readonly membership: Pick<Membership, 'heldBack'>;
  readonly settings: () => Settings;
  readonly destinations: Destinations;
  readonly circumstances: Circumstances;
  readonly clock: Clock;
}

/** Null when it may run. */
export async function whyItWaits(
  job: Job,
  part: PassPart,
  { membership, settings, destinations, circumstances, clock }: WaitingParts,
): Promise<Wait | null> {
  const held = isPersons(job.trigger) || job.type !== 'backup' ? null : membership.heldBack();
  if (held !== null) return { code: held, params: {} };
  const { conditions, timeZone } = settings();
  const place = placeOf(destinations, job.spec.destination);
  const remote = isThroughNetwork(job, part, destinations);
  const destinationPresent = place === undefined || destinations.isPresent(place);
  const input = { conditions, timeZone, remote, destinationPresent };
  return await waitingReason(job, input, circumstances, clock.now());
}
