/** What is known of each destination without connecting to it. */
import type { DestinationView } from '../../control/calls.ts';
import type { Agent } from '../../jobs/agent.ts';
import type { Destinations } from './destinations.ts';

/** Number of latest checks among which one that has ended is searched. */
const CHECKS = 20;

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
