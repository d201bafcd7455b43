/** Which place the options, the environment and the configuration name: a path, a URL, or a destination. */
import { stat } from 'node:fs/promises';
import { resolveTyped } from '../../base/typed-path.ts';
import { BugError, errnoOf } from '../../base/errors.ts';
import { callRepository } from '../../base/holdfast-command.ts';
import { secretInUrl } from '../../base/url-secrets.ts';
import { requireNeverThere } from '../../config/never-there.ts';
import type { DestinationSettings } from '../../config/settings.ts';
import { directoryOf } from '../../destination/location.ts';
import type { OpenOptions } from '../../destination/open/open.ts';
import type { Context } from '../command/context.ts';
import { usage, type RepositoryOptions } from '../command/options.ts';
import { reachOf, reachOfSettings } from './reach.ts';
import { configFile, statePaths } from '../command/state-directory.ts';

export interface ChosenPlace {
  /** A path or a URL. */
  readonly location: string;
  /**
   * `embedded`: the one in the state directory, which nobody named but as a destination; `default`: nobody named any, and
   * the configuration says where backups go; `named`: by a path, a URL or a name.
   */
  readonly how: 'embedded' | 'default' | 'named';
  /** When it is one of the configuration. */
  readonly settings: DestinationSettings | undefined;
}

/**
 * Where the repository is that the options and the environment name, else the default destination.
 * @throws {RequestError}
 * @throws {ConfigError} when the configuration, which may say where backups go, cannot be read
 */
export async function choosePlace({ repository }: RepositoryOptions, context: Context): Promise<ChosenPlace> {
  const named = repository ?? context.env['HOLDFAST_REPOSITORY'] ?? '';
  nameInHints(repository);
  return named === '' ? await defaultPlace(context) : await placeNamed(named, context);
}

/** What was typed for one command is typed again for the next; a variable stays. */
export function nameInHints(typed: string | undefined): void {
  const isKept = typed === undefined || typed === '' || secretInUrl(typed) !== undefined;
  callRepository(
    isKept ? undefined : isName(typed) || /^[a-z][a-z0-9+.-]+:/i.test(typed) ? typed : resolveTyped(typed),
  );
}

/** Never another one than the configuration says: what is missing there must not be looked for elsewhere. */
async function defaultPlace(context: Context): Promise<ChosenPlace> {
  const file = configFile(undefined, context.env);
  if (!(await isThere(file))) {
    await requireNeverThere(file, statePaths(context.env).directory);
    return embeddedPlace(context);
  }
  const { findDestination, settings } = await configuration(context);
  const found = findDestination(settings, settings.defaultDestination);
  if (found === undefined) throw new BugError('The default destination is not among the destinations');
  return configuredPlace(found, 'default', context);
}

function embeddedPlace({ env }: Context): ChosenPlace {
  return { location: statePaths(env).repository, how: 'embedded', settings: undefined };
}

/** One of the settings. `how` it was chosen, if it is not the one in the state directory. */
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
 * What somebody typed. A word without slashes that is a destination's name, `default` or `cloud` means that one; when
 * there is a directory of that name here, too, nobody can tell which is meant.
 * @throws {RequestError} USAGE when it can mean both
 * @throws {ConfigError} when the configuration, which may have such a name, cannot be read
 */
export async function placeNamed(typed: string, context: Context): Promise<ChosenPlace> {
  const asTyped = { location: typed, how: 'named', settings: undefined } as const;
  if (!isName(typed)) return asTyped;
  const { findDestination, settings: all } = await configuration(context);
  const settings = findDestination(all, typed);
  if (settings === undefined) return asTyped;
  if ((await isDirectory(typed)) && directoryOf(settings.url) !== resolveTyped(typed))
    throw usage(
      `"${typed}" is a destination of the configuration, and a directory here`,
      `For the directory write ./${typed}, for the destination ${settings.url}, or run this elsewhere.`,
    );
  return configuredPlace(settings, 'named', context);
}

/** What it is reached with. @throws {ConfigError} when a secret cannot be had */
export async function reachOfPlace({ settings }: ChosenPlace, context: Context): Promise<OpenOptions> {
  return settings === undefined ? reachOf(context) : await reachOfSettings(settings, context);
}

/** Only where it is needed: settings take longer to load than most commands that name a path to run. */
async function configuration(context: Context) {
  const [{ settingsOnce }, { findDestination }] = await Promise.all([
    import('./settings-file.ts'),
    import('../../config/effective-settings.ts'),
  ]);
  return { findDestination, settings: await settingsOnce(context) };
}

function isName(typed: string): boolean {
  return !/[/\\:]/.test(typed) && typed !== '.' && typed !== '..';
}

/** What is there and cannot be looked at is for those to complain of who read it. */
async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return errnoOf(error) !== 'ENOENT';
  }
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return false;
  }
}
