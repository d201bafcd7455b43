/** Resolves the destination that a request names; without one, the default destination. */
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { RequestError } from '../../base/errors.ts';
import { findDestination } from '../../config/effective-settings.ts';
import type { Agent } from '../../jobs/agent.ts';
import type { JobType } from '../../jobs/job.ts';
import { ApiError } from '../wire/api-error.ts';
import type { ResourceParts } from './resource-parts.ts';

/**
 * The name of a configured destination, or the URL of one that backups were stored in.
 * @throws {ApiError} INVALID_DESTINATION
 */
export function readDestination(given: string | undefined, { agent }: Pick<ResourceParts, 'agent'>): string {
  try {
    return agent.destinationOf(given);
  } catch (error) {
    if (!(error instanceof RequestError) || error.code !== 'INVALID_DESTINATION') throw error;
    const { message, hint } = error;
    throw new ApiError('INVALID_DESTINATION', message, {
      hint,
      details: { field: 'destination' },
      cause: error,
    });
  }
}

/**
 * The destination to filter jobs by, as jobs store it: the name of a destination, also when the request uses an alias
 * of it, or a path or URL in the one spelling that each place has.
 */
export function jobDestination(
  given: string,
  type: JobType,
  { agent, settings }: Pick<ResourceParts, 'agent' | 'settings'>,
): string {
  const current = settings();
  const named = findDestination(current, given);
  if (named !== undefined) return named.name;
  // Finds jobs that were stored before the destination had a name, too.
  if (agent.jobs({ types: [type], destination: given, limit: 1 }).length > 0) return given;
  const known = knownName(given, agent);
  if (known !== undefined) return known;
  const directory = localDirectory(given);
  const same = current.destinations.find(
    ({ url }) => url === given || (directory !== undefined && localDirectory(url) === directory),
  );
  return same?.name ?? (directory === undefined ? given : pathToFileURL(directory).href);
}

function knownName(given: string, agent: Pick<Agent, 'destinationOf'>): string | undefined {
  try {
    return agent.destinationOf(given);
  } catch (error) {
    if (error instanceof RequestError) return undefined;
    throw error;
  }
}

/**
 * Resolves locations to directories of this machine. The directory of an absolute path or a `file:` URL; undefined for
 * a place elsewhere.
 */
export function localDirectory(url: string): string | undefined {
  if (path.isAbsolute(url)) return path.resolve(url);
  if (!/^file:\/\/\//i.test(url) || !URL.canParse(url)) return undefined;
  // An encoded slash would be part of a name, and no file name contains a slash.
  if (/%2f/i.test(url)) return undefined;
  try {
    return path.resolve(fileURLToPath(url));
  } catch (error) {
    // The percent-encoded bytes are not UTF-8, or the URL has no drive and this is Windows.
    if (error instanceof URIError || error instanceof TypeError) return undefined;
    throw error;
  }
}
