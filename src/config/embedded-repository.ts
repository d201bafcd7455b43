/** The embedded repository: whether it contains backups, and its name in texts for people. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../base/errors.ts';
import { DEFAULT_DESTINATION, EMBEDDED_DESTINATION } from './effective-settings.ts';
import type { Settings } from './settings.ts';

/**
 * Whether the embedded repository contains backups, as far as can be seen without a key. The agent creates the
 * repository at each start, so one without a snapshot does not count. A repository that was created but cannot be read,
 * as on a disconnected drive, is assumed to contain backups.
 */
export function holdsBackups(stateDirectory: string): boolean {
  if (!existsSync(join(stateDirectory, 'repository-id'))) return false;
  const repository = join(stateDirectory, 'repository');
  try {
    return readdirSync(join(repository, 'snapshots')).length > 0;
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') return true;
    return !existsSync(join(repository, 'keys'));
  }
}

/**
 * The name of a destination in texts for people. Each place keeps one name, whichever destination is the default.
 * Programs see the repository in the state directory as `default` while it is the default destination, and jobs from
 * that time keep the name. People see it as `embedded`, unless the settings give one of the two names to another place.
 */
export function shownDestination(
  name: string,
  { destinations, embedded }: Pick<Settings, 'destinations' | 'embedded'>,
): string {
  return shownBeside(
    name,
    destinations.filter(({ url }) => url !== embedded.url),
  );
}

/** As `shownDestination`. @param others the destinations that are not the embedded repository */
export function shownBeside(name: string, others: readonly { readonly name: string }[]): string {
  if (name !== DEFAULT_DESTINATION) return name;
  const isTaken = others.some((one) => [DEFAULT_DESTINATION, EMBEDDED_DESTINATION].includes(one.name));
  return isTaken ? name : EMBEDDED_DESTINATION;
}

/** The names of all destinations as commands take them, for a person who typed another one. */
export function shownNames(settings: Pick<Settings, 'destinations' | 'embedded'>): readonly string[] {
  return settings.destinations.map(({ name }) => shownDestination(name, settings));
}
