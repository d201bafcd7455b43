/** Chooses the destination for a check or prune that names none. */
import { RequestError } from '../../base/errors.ts';
import type { Settings } from '../../config/settings.ts';
import type { Destinations, Place } from './destinations.ts';

/**
 * The default destination, unless it has no backups and none are to go there: then the only destination that the settings
 * send backups to. Checking an unused place would say that all is well about backups that were never looked at.
 * @throws {RequestError} INVALID_DESTINATION when there are several such destinations
 */
export function placeInUse(
  destinations: Pick<Destinations, 'standard' | 'find' | 'repositoryId'>,
  { sources }: Pick<Settings, 'sources'>,
): Place {
  const standard = destinations.standard();
  const names = [...new Set(sources.flatMap((source) => source.destinations))];
  const isUsed = names.includes(standard.name) || destinations.repositoryId(standard) !== undefined;
  const [only, ...others] = names;
  if (isUsed || only === undefined) return standard;
  if (others.length === 0) return destinations.find(only);
  throw new RequestError(
    'INVALID_DESTINATION',
    `No destination was named, and there are no backups in ${standard.shown}, the default one`,
    { hint: `Name one of those that backups go to: ${names.join(', ')}.` },
  );
}
