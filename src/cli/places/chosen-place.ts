/** Finds the place that the options, the environment and the configuration name: a path, a URL, or a destination. */
import { stat } from 'node:fs/promises';
import { resolveTyped } from '../../base/typed-path.ts';
import { BugError, errnoOf } from '../../base/errors.ts';
import { callRepository } from '../../base/holdfast-command.ts';
import { secretInUrl } from '../../base/redact.ts';
import { ConfigError } from '../../config/config-error.ts';
import { requireNeverThere } from '../../config/load.ts';
import type { DestinationSettings } from '../../config/settings.ts';
import { directoryOf, findPlace, parseLocation, placeUrl } from '../../destination/location.ts';
import type { OpenOptions } from '../../destination/open/open.ts';
import type { Context } from '../command/context.ts';
import { usage, type RepositoryOptions } from '../command/options.ts';
import { reachOf, reachOfSettings } from './reach.ts';
import { configFile, statePaths } from '../command/state-directory.ts';
import { mayBeThere } from '../../system/where-it-lies.ts';

export interface ChosenPlace {
  /** A path or a URL. */
  readonly location: string;
  /**
   * `embedded`: the repository in the state directory, by default or as a destination of the settings; `default`: no
   * place was named, so this is the default destination of the configuration; `named`: a path, a URL or a name was
   * given.
   */
  readonly how: 'embedded' | 'default' | 'named';
  /** The destination of the configuration that is at this place, if it was chosen as one. */
  readonly settings: DestinationSettings | undefined;
  /** The names of all destinations, where one word was given that is none of them. */
  readonly names?: readonly string[];
}

/**
 * The place that the options or the environment name, else the default destination.
 * @throws {RequestError}
 * @throws {ConfigError} when the configuration, which may say where backups go, cannot be read
 */
export async function choosePlace({ repository }: RepositoryOptions, context: Context): Promise<ChosenPlace> {
  const named = repository ?? context.env['HOLDFAST_REPOSITORY'] ?? '';
  nameInHints(repository);
  return named === '' ? await defaultPlace(context) : await placeNamed(named, context);
}

/**
 * Makes hints repeat a typed `-r`, which the next command needs as well. A variable of the environment stays set, and
 * is not repeated.
 */
export function nameInHints(typed: string | undefined): void {
  const isKept = typed === undefined || typed === '' || secretInUrl(typed) !== undefined;
  callRepository(
    isKept ? undefined : isName(typed) || /^[a-z][a-z0-9+.-]+:/i.test(typed) ? typed : resolveTyped(typed),
  );
}

/** The default destination and never another place: if it is missing, the command must not fall back to another repository. */
async function defaultPlace(context: Context): Promise<ChosenPlace> {
  const file = configFile(undefined, context.env);
  if (!(await mayBeThere(file))) {
    await requireNeverThere(file, statePaths(context.env).directory);
    return embeddedPlace(context);
  }
  const { findDestination, settings } = await configuration(context);
  const found = findDestination(settings, settings.defaultDestination);
  if (found === undefined)
    throw new BugError('The default destination is not one of the configured destinations');
  return configuredPlace(found, 'default', context);
}

function embeddedPlace({ env }: Context): ChosenPlace {
  return { location: statePaths(env).repository, how: 'embedded', settings: undefined };
}

/** The place of a destination of the settings. `how` says how it was chosen; the embedded repository is always `embedded`. */
export function configuredPlace(
  settings: DestinationSettings,
  how: ChosenPlace['how'],
  context: Context,
): ChosenPlace {
  const embedded = embeddedPlace(context);
  const isEmbedded = settings.passphrase === null && directoryOf(settings.url) === embedded.location;
  return isEmbedded ? embedded : { location: settings.url, how, settings };
}

/**
 * The place that was typed. A word without slashes that is the name of a destination, `default` or `cloud` means that
 * destination. If there is also a directory of that name here, the word is ambiguous.
 * @throws {RequestError} USAGE when the word is ambiguous
 * @throws {ConfigError} when the configuration, which may have such a name, cannot be read
 */
export async function placeNamed(typed: string, context: Context): Promise<ChosenPlace> {
  const asTyped = { location: typed, how: 'named', settings: undefined } as const;
  if (!isName(typed)) return asTyped;
  const { findDestination, shownNames, settings: all } = await configuration(context);
  const settings = findDestination(all, typed);
  if (settings === undefined) return { ...asTyped, names: shownNames(all) };
  if ((await isDirectory(typed)) && directoryOf(settings.url) !== resolveTyped(typed))
    throw usage(
      `"${typed}" is both a configured destination and a directory here`,
      `For the directory use ./${typed}, for the destination ${settings.url}, or run the command in another directory.`,
    );
  return configuredPlace(settings, 'named', context);
}

/**
 * The destination of the settings that is at a place which was named by its path or URL: nobody should have to type a
 * passphrase that this computer has. The place as it is, if the settings cannot be read or do not have it.
 */
export async function knownPlace(place: ChosenPlace, context: Context): Promise<ChosenPlace> {
  if (place.how !== 'named' || place.settings !== undefined || place.names !== undefined) return place;
  try {
    const { destinations } = (await configuration(context)).settings;
    const found = findPlace(placeUrl(parseLocation(place.location)), destinations, ({ url }) =>
      placeUrl(parseLocation(url)),
    );
    return found === undefined ? place : configuredPlace(found, 'named', context);
  } catch (error) {
    if (error instanceof ConfigError) return place;
    throw error;
  }
}

/** How to reach a place. @throws {ConfigError} when a secret is unavailable */
export async function reachOfPlace({ settings }: ChosenPlace, context: Context): Promise<OpenOptions> {
  return settings === undefined ? reachOf(context) : await reachOfSettings(settings, context);
}

/** Loaded only when needed: loading settings takes longer than most commands with a path take to run. */
async function configuration(context: Context) {
  const [{ settingsOnce }, { findDestination }, { shownNames }] = await Promise.all([
    import('./settings-file.ts'),
    import('../../config/effective-settings.ts'),
    import('../../config/embedded-repository.ts'),
  ]);
  return { findDestination, shownNames, settings: await settingsOnce(context) };
}

function isName(typed: string): boolean {
  return !/[/\\:]/.test(typed) && typed !== '.' && typed !== '..';
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return false;
  }
}
