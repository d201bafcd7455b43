/** Sources and destinations that the metrics have figures of. */
import type { Settings } from '../config/settings.ts';
import type { JobStore } from '../db/jobs.ts';
import type { MetricTarget } from '../notify/metrics.ts';

/** What the figures are about. */
export function targetsOf({ sources }: Settings, jobs: JobStore): readonly MetricTarget[] {
  return sources.flatMap(({ path: source, destinations }) =>
    destinations.map((destination) => ({
      source,
      destination,
      lastSuccessAt:
        jobs.newest({ types: ['backup'], status: 'completed', good: true, source, destination })
          ?.finished_at ?? null,
    })),
  );
}
