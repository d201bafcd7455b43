/** The repositories that the agent knows, and where each of them lies. */
import type { RepositoryStore } from '../../db/repositories.ts';
import { placeOf, type Destinations, type Place } from './destinations.ts';

/**
 * By the ids of the repositories: what lies in the destinations of the settings, the default one first, and what jobs found
 * at other places, which were named by their URLs or have left the settings since.
 */
export function knownPlaces(
  destinations: Pick<Destinations, 'all' | 'find' | 'reachOf' | 'repositoryId' | 'standard'>,
  repositories: Pick<RepositoryStore, 'all'>,
): ReadonlyMap<string, Place> {
  const known = new Map<string, Place>();
  const add = (place: Place | undefined): void => {
    const id = place === undefined ? undefined : destinations.repositoryId(place);
    // A repository that was moved is where the settings say.
    if (place !== undefined && id !== undefined && !known.has(id)) known.set(id, place);
  };
  add(destinations.standard());
  for (const place of destinations.all()) add(place);
  for (const { url } of repositories.all()) add(placeOf(destinations, destinations.reachOf(url)));
  return known;
}
