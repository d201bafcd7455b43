/** What a destination is called where people read: one name for one place, whichever destination is the default one. */
import { DEFAULT_DESTINATION, EMBEDDED_DESTINATION } from './effective-settings.ts';
import type { Settings } from './settings.ts';

/**
 * The repository in the state directory is `default` to programs while it is the default destination, and jobs of that time
 * keep the name. To people it is `embedded`, unless the settings give one of the two names to another place.
 */
export function shownDestination(
  name: string,
  { destinations, embedded }: Pick<Settings, 'destinations' | 'embedded'>,
): string {
  if (name !== DEFAULT_DESTINATION) return name;
  const isOther = destinations.some(
    (one) => one.url !== embedded.url && [DEFAULT_DESTINATION, EMBEDDED_DESTINATION].includes(one.name),
  );
  return isOther ? name : EMBEDDED_DESTINATION;
}
