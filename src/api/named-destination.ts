/** The destination that a request names, or the default one. */
import { pathToFileURL } from 'node:url';
import { findDestination } from '../config/effective-settings.ts';
import type { JobType } from '../jobs/job.ts';
import { ApiError } from './api-error.ts';
import { shownDestination } from './presentation/redact.ts';
import { localDirectory } from './local-directory.ts';
import type { ResourceParts } from './resource-parts.ts';

/**
 * The name of a destination that is configured, or the URL of one that backups went to.
 * @throws {ApiError} INVALID_DESTINATION
 */
export function readDestination(
  given: string | undefined,
  { agent, settings }: Pick<ResourceParts, 'agent' | 'settings'>,
): string {
  const current = settings();
  const name = given ?? current.defaultDestination;
  const configured =
    findDestination(current, name) ?? current.destinations.find((destination) => destination.url === name);
  if (configured !== undefined) return configured.name;
  if (agent.jobs({ types: ['backup'], destination: name, limit: 1 }).length > 0) return name;
  throw new ApiError('INVALID_DESTINATION', `There is no destination '${shownDestination(name)}'`, {
    hint: `Use the name of one that is configured: ${current.destinations.map((place) => place.name).join(', ')}.`,
    details: { field: 'destination' },
  });
}

/**
 * A destination that jobs are looked for by, as they have it: a name, one that requests understand included, or a path or
 * URL, of which each place has one spelling.
 */
export function jobDestination(
  given: string,
  type: JobType,
  { agent, settings }: Pick<ResourceParts, 'agent' | 'settings'>,
): string {
  const current = settings();
  const named = findDestination(current, given);
  if (named !== undefined) return named.name;
  // Also of jobs from before the place had a name.
  if (agent.jobs({ types: [type], destination: given, limit: 1 }).length > 0) return given;
  const directory = localDirectory(given);
  const same = current.destinations.find(
    ({ url }) => url === given || (directory !== undefined && localDirectory(url) === directory),
  );
  return same?.name ?? (directory === undefined ? given : pathToFileURL(directory).href);
}
