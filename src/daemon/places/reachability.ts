/** Whether a destination can be reached, as far as is known without connecting to it. */
import type { JobStore } from '../../db/jobs.ts';
import type { DestinationReach } from '../../jobs/agent.ts';
import { unmountedAt } from '../../system/unmounted.ts';
import type { Destinations, Place } from './destinations.ts';

const UNREACHABLE = 'DESTINATION_UNREACHABLE';

export interface ReachParts {
  readonly destinations: Pick<Destinations, 'isPresent' | 'isSeen'>;
  readonly jobs: Pick<JobStore, 'newest'>;
}

/**
 * On this machine the directory decides; elsewhere the last job there whose end says anything about it. A destination
 * that no job has reached yet is not called reachable.
 */
export function reachability(place: Place, { destinations, jobs }: ReachParts): DestinationReach {
  const newest = (status: 'completed' | 'failed' | 'queued') =>
    jobs.newest({ destination: place.name, status });
  const reachedAt = newest('completed')?.finished_at ?? null;
  const { directory } = place;
  if (directory !== undefined) {
    const isUnmounted = unmountedAt(directory) !== undefined;
    if (!destinations.isPresent(place))
      return { reachable: false, reachedAt, reason: isUnmounted ? 'not_mounted' : 'not_there' };
    const isReached = destinations.isSeen(place) && (reachedAt !== null || !isUnmounted);
    return { reachable: isReached ? true : null, reachedAt, reason: null };
  }
  // A job that is being retried is queued with the error of its last attempt.
  const missed = [newest('failed'), newest('queued')].filter((job) => job?.error?.code === UNREACHABLE);
  const missedAt = Math.max(...missed.map((job) => job?.finished_at ?? job?.started_at ?? 0));
  if (reachedAt !== null && reachedAt > missedAt) return { reachable: true, reachedAt, reason: null };
  return missed.length > 0
    ? { reachable: false, reachedAt, reason: 'no_answer' }
    : { reachable: null, reachedAt, reason: null };
}
