/** Which repository a command works on, and how it is opened. */
import { realpathSync } from 'node:fs';
import type { NeverPath } from '../archiver/exclude.ts';
import { bytesOfText } from '../base/byte-path.ts';
import { DestinationError, RepositoryError, errnoOf } from '../base/errors.ts';
import { openCached } from '../cache/open.ts';
import { testCost } from '../codec/passphrase-cost.ts';
import type { Destination } from '../destination/destination.ts';
import { directoryOf, parseLocation, shownPlace } from '../destination/location.ts';
import { openDestination, type OpenOptions as PlaceOptions } from '../destination/open.ts';
import type { Secret } from '../repository/key-slots.ts';
import { readKeyFiles } from '../repository/key-files.ts';
import { openRepository, type OpenOptions, type Repository } from '../repository/repository.ts';
import type { Context } from './context.ts';
import { usage, type RepositoryOptions } from './options.ts';
import { canPrompt, promptNewPassphrase } from './prompt.ts';
import { reachOf } from './reach.ts';
import {
  givenByOptions,
  promptSecret,
  readGiven,
  secretOf,
  takeFromEnvironment,
  type GivenSecret,
} from './secret.ts';
import { readMachineKey, statePaths } from './state-directory.ts';
import type { Environment } from './terminal.ts';

/** Where the repository is that the options and the environment name. */
export interface ChosenLocation {
  /** As given: a path or a URL. */
  readonly location: string;
  /** It is the one in the state directory, which nobody named. */
  readonly embedded: boolean;
}

export function chooseLocation({ repository }: RepositoryOptions, env: Environment): ChosenLocation {
  const named = repository ?? env['HOLDFAST_REPOSITORY'] ?? '';
  return named === ''
    ? { location: statePaths(env).repository, embedded: true }
    : { location: named, embedded: false };
}

/**
 * Opens the repository that the options and the environment name.
 * @throws {RepositoryError} NO_REPOSITORY, WRONG_PASSPHRASE, …
 */
export async function openChosen(options: RepositoryOptions, context: Context): Promise<Repository> {
  const chosen = chooseLocation(options, context.env);
  const fromEnvironment = takeFromEnvironment(context.env);
  const given = givenByOptions(options) ?? (chosen.embedded ? undefined : fromEnvironment);
  const destination = await openPlace(chosen, reachOf(context));
  try {
    if (given !== undefined)
      return await openWith(destination, secretOf(await readGiven(given, context)), context);
    if (chosen.embedded) {
      const key = await readMachineKey(statePaths(context.env));
      if (key !== undefined) return await openWith(destination, { kind: 'machine', secret: key }, context);
      if (fromEnvironment !== undefined)
        return await openWith(destination, secretOf(await readGiven(fromEnvironment, context)), context);
    }
    // Nobody should type a passphrase only to learn that there is nothing to open.
    const { slots, damaged } = await readKeyFiles(destination, context.signal);
    if (slots.length === 0 && damaged.length === 0) throw noRepository(chosen);
    return await askAndOpen(destination, chosen, context);
  } catch (error) {
    await destination.close();
    throw error;
  }
}

/** Opens the repository at a named place. @throws {RepositoryError} NO_REPOSITORY, WRONG_PASSPHRASE, … */
export async function openAt(
  location: string,
  secret: Secret,
  context: Context,
  reach: PlaceOptions = reachOf(context),
): Promise<Repository> {
  const destination = await openPlace({ location, embedded: false }, reach);
  try {
    return await openWith(destination, secret, context);
  } catch (error) {
    await destination.close();
    throw error;
  }
}

/**
 * Opens a second repository: with what is given for it; else with this machine's key when it is the one in the state
 * directory; else with the passphrase that the first one had, or one that is asked for.
 * @throws {RepositoryError} NO_REPOSITORY, WRONG_PASSPHRASE, …
 */
export async function openOther(
  location: string,
  given: GivenSecret | undefined,
  first: GivenSecret | undefined,
  context: Context,
): Promise<Repository> {
  if (given !== undefined) return await openAt(location, secretOf(await readGiven(given, context)), context);
  const paths = statePaths(context.env);
  if (shownLocation(location) === paths.repository) {
    const key = await readMachineKey(paths);
    if (key !== undefined) return await openAt(location, { kind: 'machine', secret: key }, context);
  }
  if (first !== undefined) {
    try {
      return await openAt(location, secretOf(await readGiven(first, context)), context);
    } catch (error) {
      const wrong = error instanceof RepositoryError && error.code === 'WRONG_PASSPHRASE';
      if (!wrong || !canPrompt(context)) throw error;
    }
  }
  if (!canPrompt(context)) throw noPassphrase();
  return await openAt(location, await promptSecret(shownLocation(location), context), context);
}

/** Runs `work` with the repository and closes it in any case. */
export async function withRepository<T>(
  options: RepositoryOptions,
  context: Context,
  work: (repository: Repository) => Promise<T>,
): Promise<T> {
  const repository = await openChosen(options, context);
  try {
    return await work(repository);
  } finally {
    await repository.close();
  }
}

/** The same for commands that read, or add: they use this machine's copies of a far repository's metadata. */
export async function withCachedRepository<T>(
  options: RepositoryOptions,
  context: Context,
  work: (repository: Repository) => Promise<T>,
): Promise<T> {
  return await withRepository(options, context, async (repository) => {
    const cached = openCached(repository, statePaths(context.env).directory, context.clock);
    try {
      return await work(cached.repository);
    } finally {
      cached.close();
    }
  });
}

/** Tries at the prompt, as `sudo` and `ssh` give. */
const ATTEMPTS = 3;

async function askAndOpen(
  destination: Destination,
  chosen: ChosenLocation,
  context: Context,
): Promise<Repository> {
  if (!canPrompt(context)) throw noPassphrase();
  for (let attempt = 1; ; attempt += 1) {
    try {
      const secret = await promptSecret(shownLocation(chosen.location), context);
      return await openWith(destination, secret, context);
    } catch (error) {
      const wrong = error instanceof RepositoryError && error.code === 'WRONG_PASSPHRASE';
      if (!wrong || attempt === ATTEMPTS) throw error;
      context.stderr.write(`${error.message}. Try again.\n`);
    }
  }
}

function noPassphrase(): Error {
  return usage(
    'No passphrase was given, and there is no terminal to ask on',
    'Give --password-file or --password-command, or set HOLDFAST_PASSWORD, HOLDFAST_PASSWORD_FILE or HOLDFAST_PASSWORD_COMMAND.',
  );
}

async function openWith(destination: Destination, secret: Secret, context: Context): Promise<Repository> {
  return await openRepository(destination, secret, openOptions(context), context.signal);
}

export function openOptions({ env, clock }: Pick<Context, 'env' | 'clock'>): OpenOptions {
  return {
    clock,
    stateDirectory: statePaths(env).directory,
    allowWeakCost: testCost(env) !== undefined,
  };
}

async function openPlace(chosen: ChosenLocation, reach: PlaceOptions): Promise<Destination> {
  try {
    return await openDestination(chosen.location, reach);
  } catch (error) {
    if (error instanceof DestinationError && error.kind === 'not-found') throw noRepository(chosen, error);
    throw error;
  }
}

function noRepository({ location, embedded }: ChosenLocation, cause?: unknown): RepositoryError {
  return embedded
    ? new RepositoryError('NO_REPOSITORY', 'There is no repository yet, and none was named', {
        hint: 'Make one and back up with: holdfast start --source DIR. Or name one with -r DIR.',
      })
    : new RepositoryError('NO_REPOSITORY', `There is no repository at ${shownLocation(location)}`, {
        hint: 'Check the path and that the drive is mounted, or create a repository there with: holdfast init -r DIR',
        ...(cause instanceof DestinationError && cause.kind === 'not-found' ? {} : { cause }),
      });
}

/** For people: a directory as its path. */
export function shownLocation(location: string): string {
  return shownPlace(parseLocation(location));
}

/** The passphrase for something new: as given, or typed twice. */
export async function newPassphrase(options: RepositoryOptions, context: Context): Promise<string> {
  const fromEnvironment = takeFromEnvironment(context.env);
  const given = givenByOptions(options) ?? fromEnvironment;
  if (given !== undefined) return await readGiven(given, context);
  if (!canPrompt(context)) throw noPassphrase();
  return await promptNewPassphrase(context);
}

/** What no backup takes in: the repository, and the state directory with its keys. */
export function neverBackedUp(options: RepositoryOptions, env: Environment): readonly NeverPath[] {
  const never = [{ path: statePaths(env).directory, reason: "Holdfast's own state directory" }];
  const { location } = chooseLocation(options, env);
  const directory = directoryOf(location);
  if (directory !== undefined) never.push({ path: directory, reason: 'the repository itself' });
  return never.flatMap(({ path, reason }) => {
    const real = realPath(path);
    return real === undefined ? [] : [{ path: bytesOfText(real), reason }];
  });
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
