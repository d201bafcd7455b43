/** The name of a destination in texts for people. Each place keeps one name, whichever destination is the default. */
import { DEFAULT_DESTINATION, EMBEDDED_DESTINATION } from './effective-settings.ts';
import type { Settings } from './settings.ts';

/**
 * Programs see the repository in the state directory as `default` while it is the default destination, and jobs from
 * that time keep the name. People see it as `embedded`, unless the settings give one of the two names to another place.
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
