/** The sources and destinations of the metrics, and the figures that are looked up when the metrics are read. */
import type { Settings } from '../../config/settings.ts';
import type { JobStore } from '../../db/jobs.ts';
import type { Metrics, MetricTarget } from '../../notify/metrics.ts';
import type { Destinations } from '../places/destinations.ts';
import { reachability } from '../places/reachability.ts';

/** The pairs of source and destination that have figures. */
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

/** The metrics as they are served. */
export async function figuresNow(
  metrics: Metrics,
  known: Parameters<typeof reachability>[1] & {
    readonly destinations: Pick<Destinations, 'all'>;
    readonly jobs: Pick<JobStore, 'count'>;
  },
): Promise<{ readonly type: string; readonly text: string }> {
  metrics.setQueueLength(known.jobs.count('queued'));
  for (const place of known.destinations.all()) {
    const { reachable } = reachability(place, known);
    if (reachable !== null) metrics.setDestinationUp(place.name, reachable);
  }
  return { type: metrics.contentType, text: await metrics.text() };
}
