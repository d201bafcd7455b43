/** The destination that a request names, or the default one. */
import { findDestination } from '../config/effective-settings.ts';
import { ApiError } from './api-error.ts';
import { shownDestination } from './presentation/redact.ts';
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
