/** Which place the options and the environment name: a path, a URL, or a destination of the configuration. */
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { errnoOf } from '../base/errors.ts';
import type { DestinationSettings } from '../config/settings.ts';
import { directoryOf } from '../destination/location.ts';
import type { OpenOptions } from '../destination/open.ts';
import type { Context } from './context.ts';
import { usage, type RepositoryOptions } from './options.ts';
import { reachOf, reachOfSettings } from './reach.ts';
import { statePaths } from './state-directory.ts';

export interface ChosenPlace {
  /** A path or a URL. */
  readonly location: string;
  /** It is the one in the state directory, which nobody named. */
  readonly embedded: boolean;
  /** When it was named by its name in the configuration. */
  readonly settings: DestinationSettings | undefined;
}

/** Where the repository is that the options and the environment name. @throws {RequestError} {ConfigError} */
export async function choosePlace({ repository }: RepositoryOptions, context: Context): Promise<ChosenPlace> {
  const named = repository ?? context.env['HOLDFAST_REPOSITORY'] ?? '';
  if (named !== '') return await placeNamed(named, context);
  return { location: statePaths(context.env).repository, embedded: true, settings: undefined };
}

/**
 * What somebody typed. A word without slashes that is a destination's name means that one; when there is a directory of
 * that name here, too, nobody can tell which is meant.
 * @throws {RequestError} USAGE when it can mean both
 * @throws {ConfigError} when the configuration, which may have such a name, cannot be read
 */
export async function placeNamed(typed: string, context: Context): Promise<ChosenPlace> {
  const asTyped = { location: typed, embedded: false, settings: undefined };
  if (!isName(typed)) return asTyped;
  // The settings take longer to load than most commands that name a path to run.
  const { settingsOrDefaults } = await import('./settings-file.ts');
  const { destinations } = await settingsOrDefaults(undefined, context);
  const settings = destinations.find(({ name }) => name === typed);
  if (settings === undefined) return asTyped;
  if ((await isDirectory(typed)) && directoryOf(settings.url) !== resolve(typed))
    throw usage(
      `"${typed}" is a destination of the configuration, and a directory here`,
      `For the directory write ./${typed}, for the destination ${settings.url}, or run this elsewhere.`,
    );
  return { location: settings.url, embedded: false, settings };
}

/** What it is reached with. @throws {ConfigError} when a secret cannot be had */
export async function reachOfPlace({ settings }: ChosenPlace, context: Context): Promise<OpenOptions> {
  return settings === undefined ? reachOf(context) : await reachOfSettings(settings, context);
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
