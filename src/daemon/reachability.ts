/** Whether a destination can be reached, as far as the agent knows without asking it. */
import type { JobStore } from '../db/jobs.ts';
import type { Destinations, Place } from './destinations.ts';

const UNREACHABLE = 'DESTINATION_UNREACHABLE';

/**
 * On this machine: whether its directory is there. Elsewhere: what the last job there came to that says anything about it,
 * and null before there was one.
 */
export function reachability(
  place: Place,
  {
    destinations,
    jobs,
  }: {
    readonly destinations: Pick<Destinations, 'isPresent'>;
    readonly jobs: Pick<JobStore, 'newest'>;
  },
): boolean | null {
  if (place.directory !== undefined) return destinations.isPresent(place);
  const newest = (status: 'completed' | 'failed' | 'queued') =>
    jobs.newest({ destination: place.name, status });
  const reachedAt = newest('completed')?.finished_at ?? undefined;
  // One that is tried again waits in the queue with what its last attempt came to.
  const missed = [newest('failed'), newest('queued')].filter((job) => job?.error?.code === UNREACHABLE);
  const missedAt = Math.max(...missed.map((job) => job?.finished_at ?? job?.started_at ?? 0));
  if (reachedAt !== undefined && reachedAt > missedAt) return true;
  return missed.length > 0 ? false : null;
}
