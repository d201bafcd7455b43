/** The repositories that the agent knows, and the place of each. */
import type { RepositoryStore } from '../../db/repositories.ts';
import { placeOf, type Destinations, type Place } from './destinations.ts';

/**
 * Places by repository id: the destinations of the settings, the default one first, then other places where jobs found
 * a repository. The latter were named by their URLs or have been removed from the settings since.
 */
export function knownPlaces(
  destinations: Pick<Destinations, 'all' | 'find' | 'reachOf' | 'repositoryId' | 'standard'>,
  repositories: Pick<RepositoryStore, 'all'>,
): ReadonlyMap<string, Place> {
  const known = new Map<string, Place>();
  const add = (place: Place | undefined): void => {
    const id = place === undefined ? undefined : destinations.repositoryId(place);
    // A repository that was moved counts as being where the settings say.
    if (place !== undefined && id !== undefined && !known.has(id)) known.set(id, place);
  };
  add(destinations.standard());
  for (const place of destinations.all()) add(place);
  for (const { url } of repositories.all()) add(placeOf(destinations, destinations.reachOf(url)));
  return known;
}
