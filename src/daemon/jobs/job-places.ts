/** Where a job reads and writes: in each place one job is at work at a time. */
import type { JobSpec } from '../../jobs/job.ts';
import type { JobPlaces } from '../../jobs/queue.ts';
import { isFar, placeOf, type Destinations } from '../places/destinations.ts';

/** By where they lie: two names may mean the same place. */
export function placesOf(destinations: Destinations, spec: JobSpec): JobPlaces {
  const place = placeOf(destinations, spec.destination);
  return {
    source: spec.type === 'backup' ? spec.source : null,
    destination: place?.url ?? spec.destination,
    isFar: place === undefined || isFar(place),
  };
}
