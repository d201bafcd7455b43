/** What is known of destinations without connecting to them. */
import type { DestinationView } from '../../control/calls.ts';
import type { JobStore } from '../../db/jobs.ts';
import type { Agent, DestinationReach } from '../../jobs/agent.ts';
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
  const newest = (status: 'completed' | 'failed') => jobs.newest({ destination: place.name, status });
  const reachedAt = newest('completed')?.finished_at ?? null;
  const { directory } = place;
  if (directory !== undefined) {
    const isUnmounted = unmountedAt(directory) !== undefined;
    if (!destinations.isPresent(place))
      return { reachable: false, reachedAt, reason: isUnmounted ? 'not_mounted' : 'not_there' };
    const isReached = destinations.isSeen(place) && (reachedAt !== null || !isUnmounted);
    return { reachable: isReached ? true : null, reachedAt, reason: null };
  }
  // A job that is being retried is queued with the error of its last attempt. Newer ones may wait for it without one.
  const tried = jobs.newest({ destination: place.name, status: 'queued', hasError: true });
  const missed = [newest('failed'), tried].filter((job) => job?.error?.code === UNREACHABLE);
  const missedAt = Math.max(...missed.map((job) => job?.finished_at ?? job?.started_at ?? 0));
  if (reachedAt !== null && reachedAt > missedAt) return { reachable: true, reachedAt, reason: null };
  return missed.length > 0
    ? { reachable: false, reachedAt, reason: 'no_answer' }
    : { reachable: null, reachedAt, reason: null };
}

/** Number of latest checks among which one that has ended is searched. */
const CHECKS = 20;

/** What is known of each destination without connecting to it. */
export async function destinationViews({
  agent,
  destinations,
}: {
  readonly agent: Pick<Agent, 'fullStatus' | 'jobs'>;
  readonly destinations: Pick<Destinations, 'all' | 'repositoryId'>;
}): Promise<readonly DestinationView[]> {
  const known = new Map((await agent.fullStatus()).destinations.map((one) => [one.name, one]));
  return destinations.all().map((place) => {
    const checks = agent.jobs({ types: ['check'], destination: place.name, limit: CHECKS });
    const [last] = checks.flatMap(({ status, result, finished_at: at }) =>
      at === null || status === 'canceled' ? [] : { status, result, finished_at: at },
    );
    return {
      name: place.name,
      used_bytes: known.get(place.name)?.used_bytes ?? null,
      repository_id: destinations.repositoryId(place) ?? null,
      last_check: last ?? null,
    };
  });
}
