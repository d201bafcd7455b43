/** Opens the repository that a command works on. */
import type { NeverPath } from '../../exclude/excluder.ts';
import { DestinationError, RepositoryError, isAbsentPlace } from '../../base/errors.ts';
import { holdfast } from '../../base/holdfast-command.ts';
import { openCached, openLook } from '../../cache/open.ts';
import { testCost } from '../../codec/kdf.ts';
import type { DestinationSettings } from '../../config/settings.ts';
import type { Destination } from '../../destination/destination.ts';
import { UploadLimit, paceOf } from '../../destination/limited.ts';
import { directoryOf, parseLocation, shownPlace } from '../../destination/location.ts';
import { openDestination, type OpenOptions as PlaceOptions } from '../../destination/open/open.ts';
import type { FirstLook, LookExtent } from '../../repository/first-look.ts';
import type { Secret } from '../../repository/slots/key-slots.ts';
import { readKeyFiles } from '../../repository/slots/key-files.ts';
import type { OpenOptions } from '../../repository/in-force.ts';
import { openRepository } from '../../repository/opening.ts';
import type { Repository } from '../../repository/repository.ts';
import { secretOf } from '../../repository/slots/typed-secret.ts';
import { ownPlaces, type NamedPlace } from '../../system/same-place.ts';
import { choosePlace, knownPlace, placeNamed, reachOfPlace, type ChosenPlace } from './chosen-place.ts';
import type { Context } from '../command/context.ts';
import type { RepositoryOptions } from '../command/options.ts';
import { canPrompt } from '../terminal/prompt.ts';
import { secretOfSettings } from './reach.ts';
import {
  givenByOptions,
  noPassphrase,
  promptSecret,
  readGiven,
  takeFromEnvironment,
  type GivenSecret,
} from './secret.ts';
import { readMachineKey, statePaths } from '../command/state-directory.ts';
import { printable } from '../terminal/terminal.ts';

export interface Opening {
  /**
   * How much the first look lists, for commands that only read or add and need no complete list of each kind of object.
   * A backup lists nearly everything anyway.
   */
  readonly look?: LookExtent;
  /** The command reads nothing that a write-only key could not open. */
  readonly adds?: boolean;
  /** The most bytes of packs that are stored per second. */
  readonly limitRate?: number | undefined;
}

/**
 * Opens the repository that the options and the environment name.
 * @throws {RepositoryError} NO_REPOSITORY, WRONG_PASSPHRASE, …
 */
async function openChosen(
  options: RepositoryOptions,
  context: Context,
  opening?: Opening,
): Promise<Repository> {
  return await openThere(await choosePlace(options, context), options, context, opening);
}

/**
 * The same for a place that was chosen already.
 * @throws {RepositoryError} NO_REPOSITORY, WRONG_PASSPHRASE, …
 */
export async function openThere(
  chosen: ChosenPlace,
  options: Pick<RepositoryOptions, 'passwordFile' | 'passwordCommand'>,
  context: Context,
  opening?: Opening,
): Promise<Repository> {
  const fromEnvironment = takeFromEnvironment(context.env);
  const given = givenByOptions(options) ?? (chosen.how === 'embedded' ? undefined : fromEnvironment);
  const seen = await openSeen(chosen, await reachOfPlace(chosen, context), opening, context);
  try {
    if (given !== undefined) return await openWith(seen, secretOf(await readGiven(given, context)), context);
    if (chosen.settings !== undefined) {
      const secret = await secretOfSettings(chosen.settings, context);
      if (secret !== undefined) return await openAsSet(seen, secret, chosen.settings, context);
    }
    const paths = statePaths(context.env);
    // The embedded repository is also recognised by its path: it may be named that way when another destination is the
    // default.
    if (chosen.how === 'embedded' || shownLocation(chosen.location) === paths.repository) {
      const key = await readMachineKey(paths);
      if (key !== undefined) return await openWith(seen, { kind: 'machine', secret: key }, context);
      if (fromEnvironment !== undefined)
        return await openWith(seen, secretOf(await readGiven(fromEnvironment, context)), context);
    }
    // Nobody should type a passphrase only to learn that there is nothing to open.
    const { slots, damaged } = await readKeyFiles(seen.destination, context.signal);
    if (slots.length === 0 && damaged.length === 0) throw noRepository(chosen);
    return await askAndOpen(seen, chosen, context);
  } catch (error) {
    await seen.destination.close();
    const isAbsent = error instanceof RepositoryError && error.code === 'NO_REPOSITORY';
    // The error has to say how the place was chosen: by a path, by the name of a destination, or by the settings.
    throw isAbsent ? noRepository(chosen, error) : error;
  }
}

/** An open destination, and the first look at it, which has already begun. */
interface Seen {
  readonly destination: Destination;
  readonly look: FirstLook | undefined;
  /** Starts a new look: the first one is stale after a person took time at the prompt. */
  again(): void;
}

async function openSeen(
  chosen: ChosenPlace,
  reach: PlaceOptions,
  opening: Opening | undefined,
  context: Context,
): Promise<Seen> {
  const pace = paceOf(new UploadLimit(context.clock, opening?.limitRate), (key) => key.startsWith('packs/'));
  const destination = await openPlace(
    chosen,
    opening?.limitRate === undefined ? reach : { ...reach, pace },
    context,
  );
  const extent = opening?.look;
  const look = extent && openLook(destination, chosen.location, extent, statePaths(context.env).directory);
  return {
    destination: look?.destination ?? destination,
    look,
    again: () => look?.begin(opening?.look),
  };
}

/**
 * Opens a repository as a machine would that has never seen it: with this secret and nothing else, and without
 * remembering anything.
 * @throws {RepositoryError} NO_REPOSITORY, WRONG_PASSPHRASE, …
 */
export async function openAsStranger(
  place: ChosenPlace,
  secret: Secret,
  context: Context,
): Promise<Repository> {
  const destination = await openPlace(place, await reachOfPlace(place, context), context);
  const alone = { ...openOptions(context), stateDirectory: undefined };
  try {
    return await openRepository(destination, secret, alone, context.signal);
  } catch (error) {
    await destination.close();
    throw error;
  }
}

/** Opens the repository at a place. @throws {RepositoryError} NO_REPOSITORY, WRONG_PASSPHRASE, … */
export async function openAt(place: ChosenPlace, secret: Secret, context: Context): Promise<Repository> {
  const destination = await openPlace(place, await reachOfPlace(place, context), context);
  try {
    return await openWith({ destination, look: undefined }, secret, context);
  } catch (error) {
    await destination.close();
    const isAbsent = error instanceof RepositoryError && error.code === 'NO_REPOSITORY';
    throw isAbsent ? noRepository(place, error) : error;
  }
}

/**
 * Opens a second repository: with the secret that is given for it; else with what the settings name for it, or the
 * machine key for the embedded repository; else with the passphrase of the first repository, or one that is asked for.
 * @param named a path, a URL, or a destination's name
 * @throws {RepositoryError} NO_REPOSITORY, WRONG_PASSPHRASE, …
 */
export async function openOther(
  named: string,
  given: GivenSecret | undefined,
  first: GivenSecret | undefined,
  context: Context,
): Promise<Repository> {
  const place = await knownPlace(await placeNamed(named, context), context);
  try {
    return await openSecond(place, given, first, context);
  } catch (error) {
    // Two repositories are involved: the message has to say for which one the passphrase is wrong.
    if (!(error instanceof RepositoryError && error.code === 'WRONG_PASSPHRASE')) throw error;
    throw new RepositoryError(error.code, `${shownLocation(place.location)}: ${error.message}`, {
      hint: error.hint,
      cause: error,
    });
  }
}

async function openSecond(
  place: ChosenPlace,
  given: GivenSecret | undefined,
  first: GivenSecret | undefined,
  context: Context,
): Promise<Repository> {
  const { location, settings } = place;
  if (given !== undefined) return await openAt(place, secretOf(await readGiven(given, context)), context);
  if (settings !== undefined) {
    const secret = await secretOfSettings(settings, context);
    if (secret !== undefined) return await openAt(place, secret, context);
  }
  const paths = statePaths(context.env);
  if (place.how === 'embedded' || shownLocation(location) === paths.repository) {
    const key = await readMachineKey(paths);
    if (key !== undefined) return await openAt(place, { kind: 'machine', secret: key }, context);
  }
  if (first !== undefined) {
    try {
      return await openAt(place, secretOf(await readGiven(first, context)), context);
    } catch (error) {
      const wrong = error instanceof RepositoryError && error.code === 'WRONG_PASSPHRASE';
      if (!wrong || !canPrompt(context)) throw error;
    }
  }
  if (!canPrompt(context)) throw noPassphrase(shownLocation(location));
  return await openAt(place, await promptSecret(shownLocation(location), context), context);
}

/** Runs `work` with the repository and closes it in any case. */
export async function withRepository<T>(
  options: RepositoryOptions,
  context: Context,
  work: (repository: Repository) => Promise<T>,
  opening?: Opening,
): Promise<T> {
  const repository = await openChosen(options, context, opening);
  const isTold = tellUnkept(repository, context);
  try {
    if (opening?.adds !== true) repository.requireReading();
    return await work(repository);
  } finally {
    if (!isTold) tellUnkept(repository, context);
    await repository.close();
  }
}

/** Warns where the state directory takes no writes; commands that only read go on. Returns whether it warned. */
function tellUnkept({ writer }: Repository, { env, stderr }: Context): boolean {
  if (writer.unkept === undefined) return false;
  const { directory } = statePaths(env);
  stderr.write(
    `Warning: the state directory ${printable(directory)} is not writable, so this machine cannot notice if somebody replaces the repository with an older copy of it. Make it writable, or set HOLDFAST_STATE_DIR to another directory.\n`,
  );
  return true;
}

/** Like `withRepository`, for commands that read or add: it uses this machine's copies of a remote repository's metadata. */
export async function withCachedRepository<T>(
  options: RepositoryOptions,
  context: Context,
  work: (repository: Repository) => Promise<T>,
  opening: Opening = { look: 'page' },
): Promise<T> {
  const cached = async (repository: Repository): Promise<T> => {
    const own = openCached(repository, statePaths(context.env).directory, context.clock);
    try {
      return await work(own.repository);
    } finally {
      own.close();
    }
  };
  return await withRepository(options, context, cached, opening);
}

/** How often the prompt asks, as `sudo` and `ssh` do. */
const ATTEMPTS = 3;

async function askAndOpen(seen: Seen, chosen: ChosenPlace, context: Context): Promise<Repository> {
  if (!canPrompt(context)) throw noPassphrase();
  for (let attempt = 1; ; attempt += 1) {
    try {
      const secret = await promptSecret(shownLocation(chosen.location), context);
      seen.again();
      return await openWith(seen, secret, context);
    } catch (error) {
      const wrong = error instanceof RepositoryError && error.code === 'WRONG_PASSPHRASE';
      if (!wrong || attempt === ATTEMPTS) throw error;
      context.stderr.write(`${error.message}. Try again.\n`);
    }
  }
}

/** Nobody typed this passphrase: where it does not open the repository, another disk may be in the place of the right one. */
async function openAsSet(
  seen: Seen,
  secret: Secret,
  { name, url }: DestinationSettings,
  context: Context,
): Promise<Repository> {
  try {
    return await openWith(seen, secret, context);
  } catch (error) {
    const isWrong = error instanceof RepositoryError && error.code === 'WRONG_PASSPHRASE';
    if (!isWrong || secret.kind !== 'passphrase') throw error;
    throw new RepositoryError(
      error.code,
      `The passphrase of the destination ${name} does not open the repository at ${shownLocation(url)}`,
      {
        hint: 'Check that the right disk is mounted there. If the passphrase was changed, set the new one in the settings of the destination.',
      },
    );
  }
}

async function openWith(
  { destination, look }: Pick<Seen, 'destination' | 'look'>,
  secret: Secret,
  context: Context,
): Promise<Repository> {
  return await openRepository(destination, secret, { ...openOptions(context), look }, context.signal);
}

export function openOptions({ env, clock }: Pick<Context, 'env' | 'clock'>): OpenOptions {
  return {
    clock,
    stateDirectory: statePaths(env).directory,
    allowWeakCost: testCost(env) !== undefined,
  };
}

async function openPlace(
  chosen: ChosenPlace,
  reach: PlaceOptions,
  { signal }: Context,
): Promise<Destination> {
  try {
    return await openDestination(chosen.location, reach, signal);
  } catch (error) {
    if (isAbsentPlace(error)) throw noRepository(chosen, error);
    throw error;
  }
}

function noRepository({ location, how, settings, names }: ChosenPlace, cause?: unknown): RepositoryError {
  if (how === 'embedded')
    return new RepositoryError('NO_REPOSITORY', 'There is no repository yet', {
      hint: `Create one and back up with: ${holdfast`start --source DIR`}. To use an existing one, add -r DIR.`,
    });
  const saysNoMore =
    cause instanceof RepositoryError || (cause instanceof DestinationError && cause.kind === 'not-found');
  const facts = saysNoMore ? {} : { cause };
  const place = shownLocation(location);
  if (how === 'default' && settings !== undefined && cause instanceof RepositoryError)
    return new RepositoryError(
      'NO_REPOSITORY',
      `There are no backups at ${place}, the default destination (${settings.name})`,
      {
        hint: `If there should be backups, check that the right disk is mounted. If the destination is new, the first backup of the agent creates the repository, or create it now with "${holdfast`init -r ${settings.name}`}". To use another repository, add -r.`,
      },
    );
  if (how === 'default' && settings !== undefined)
    return new RepositoryError(
      'NO_REPOSITORY',
      `There is no repository at ${place}, the default destination (${settings.name})`,
      {
        hint: `Check that its drive is mounted. If the destination is new, the first backup of the agent creates the repository, or create it now with "${holdfast`init -r ${settings.name}`}". To use another repository, add -r.`,
        ...facts,
      },
    );
  if (settings !== undefined)
    return new RepositoryError(
      'NO_REPOSITORY',
      `There is no repository at ${place}, the destination ${settings.name}`,
      {
        hint: 'If it holds backups, connect or mount its disk, and try again. If it is new, the first backup of the agent creates the repository.',
        ...facts,
      },
    );
  if (names !== undefined && isAbsentPlace(cause))
    return new RepositoryError(
      'NO_REPOSITORY',
      `No destination is called ${location}, and there is no directory of that name here`,
      {
        hint: `Destinations are: ${names.join(', ')}. You can also use a path or a URL.`,
        ...facts,
      },
    );
  return new RepositoryError('NO_REPOSITORY', `There is no repository at ${place}`, {
    hint: `Check the path, and that the drive is mounted. To create a repository there: ${holdfast`init -r DIR`}`,
    ...facts,
  });
}

/** A location as shown to people: a directory by its path. */
export function shownLocation(location: string): string {
  return shownPlace(parseLocation(location));
}

/** The paths that no backup takes in: the repository, and the state directory with its keys. */
export async function neverBackedUp(
  options: RepositoryOptions,
  context: Context,
): Promise<readonly NeverPath[]> {
  return await neverBackedUpTo(await choosePlace(options, context), context);
}

export async function neverBackedUpTo(
  { location }: ChosenPlace,
  context: Context,
): Promise<readonly NeverPath[]> {
  const never: NamedPlace[] = [
    { path: statePaths(context.env).directory, reason: "Holdfast's own state directory" },
  ];
  const directory = directoryOf(location);
  if (directory !== undefined) never.push({ path: directory, reason: 'the repository itself' });
  return await ownPlaces(never, context.signal);
}

/** The local directories of the settings' destinations. @throws {ConfigError} when the settings cannot be read */
export async function configuredDirectories(context: Context): Promise<readonly NeverPath[]> {
  const { settingsOrDefaults } = await import('./settings-file.ts');
  const { destinations } = await settingsOrDefaults(undefined, context);
  const named = destinations.flatMap(({ name, url }): NamedPlace[] => {
    const path = directoryOf(url);
    return path === undefined ? [] : [{ path, reason: `the destination "${name}" of the settings` }];
  });
  return await ownPlaces(named, context.signal);
}
