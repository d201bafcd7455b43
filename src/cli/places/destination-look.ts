/** Finds out what is at a destination, by looking at it and by trying it out. */
import { statfs } from 'node:fs/promises';
import { homedir } from 'node:os';
import { DestinationError, HoldfastError, StateError, errnoOf } from '../../base/errors.ts';
import type { DestinationSettings } from '../../config/settings.ts';
import type { DestinationView } from '../../control/calls.ts';
import { ok, problem, warning, type Finding } from '../../daemon/doctor/finding.ts';
import { tryDestination } from '../../daemon/doctor/try-destination.ts';
import type { Destination } from '../../destination/destination.ts';
import { directoryOf, parseLocation, shownPlace } from '../../destination/location.ts';
import { openDestination } from '../../destination/open/open.ts';
import { requireFree } from '../../repository/new-objects.ts';
import { readKeyFiles } from '../../repository/slots/key-files.ts';
import type { Secret } from '../../repository/slots/key-slots.ts';
import { holdfast } from '../../base/holdfast-command.ts';
import type { Context } from '../command/context.ts';
import { settingsOrDefaults } from './settings-file.ts';
import { reachOfSettings, secretOfSettings } from './reach.ts';
import { openAt } from './open.ts';
import { knownRepositoryId, statePaths } from '../command/state-directory.ts';
import { shortId } from '../terminal/wording.ts';

export interface Look {
  /** `empty`: no repository yet; `missing`: there was one, and the place is gone; `broken`: it cannot be read. */
  readonly state: 'ready' | 'empty' | 'missing' | 'broken';
  /** What is wrong, and what to do. */
  readonly problem: string | null;
  readonly usedBytes: number | null;
  readonly freeBytes: number | null;
  readonly repositoryId: string | null;
}

/** @param known what the agent remembers about the destination */
export async function lookAt(
  settings: DestinationSettings,
  known: DestinationView | undefined,
  context: Context,
): Promise<Look> {
  const directory = directoryOf(settings.url);
  const isEmbedded = directory === statePaths(context.env).repository;
  const repositoryId =
    known?.repository_id ??
    (isEmbedded ? await knownRepositoryId(statePaths(context.env)) : undefined) ??
    null;
  const seen = await look(settings, known?.used_bytes ?? null, context);
  // The next start makes the embedded repository, so it is not missing.
  const isNew = repositoryId === null && isEmbedded;
  const state = seen.state === 'missing' && isNew ? 'empty' : seen.state;
  return { ...seen, state, problem: state === 'empty' ? null : seen.problem, repositoryId };
}

async function look(
  settings: DestinationSettings,
  usedBytes: number | null,
  context: Context,
): Promise<Omit<Look, 'repositoryId'>> {
  const { url } = settings;
  const { signal } = context;
  const directory = directoryOf(url);
  let destination: Destination | undefined;
  try {
    destination = await openDestination(url, await reachOfSettings(settings, context), signal);
    const { slots, damaged } = await readKeyFiles(destination, signal);
    const isUsed = slots.length + damaged.length > 0;
    return {
      state: isUsed ? 'ready' : 'empty',
      problem: null,
      usedBytes: isUsed ? (usedBytes ?? (await sizeOf(destination, signal))) : 0,
      freeBytes: directory === undefined ? null : await freeBytes(directory),
    };
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    const isGone = error instanceof DestinationError && error.kind === 'not-found';
    return {
      state: isGone ? 'missing' : 'broken',
      problem: `${error.message}. ${error.hint}`,
      usedBytes,
      freeBytes: null,
    };
  } finally {
    await destination?.close();
  }
}

/** The bytes stored at a destination. Null for a remote one, where each object would have to be asked for. */
async function sizeOf(destination: Destination, signal: AbortSignal): Promise<number | null> {
  if (destination.properties.remote) return null;
  let bytes = 0;
  for await (const page of destination.list('', signal)) for (const { size } of page) bytes += size;
  return bytes;
}

async function freeBytes(directory: string): Promise<number | null> {
  try {
    const { bavail, bsize } = await statfs(directory);
    return bavail * bsize;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return null;
  }
}

export interface TryOut {
  /** The settings name its key, so a repository there should open. */
  readonly configured: boolean;
  /**
   * The destination is about to be added: directories that the first backup would make are made, but none where a disk
   * is not mounted.
   */
  readonly isNew?: boolean;
  /** The id of the repository there, as the running agent remembers it. */
  readonly remembered?: string | undefined;
}

/** The paths of the sources; the home directory while there are none, as most people back that up. */
async function sourcePaths(context: Context): Promise<readonly string[]> {
  const { sources } = await settingsOrDefaults(undefined, context);
  return sources.length === 0 ? [homedir()] : sources.map(({ path }) => path);
}

/** Tries a destination out and returns the outcome of every step. */
export async function tryOut(
  settings: DestinationSettings,
  { configured, isNew = false, remembered }: TryOut,
  context: Context,
): Promise<readonly Finding[]> {
  const { url } = settings;
  const { clock, signal } = context;
  const { findings } = await tryDestination({
    url,
    isEmbedded: directoryOf(url) === statePaths(context.env).repository,
    isNew,
    create: isNew,
    reach: async () => await reachOfSettings(settings, context),
    remembered,
    openRepository: configured
      ? async () => await checkOpening('repository', settings, remembered, context)
      : undefined,
    files: await sourcePaths(context),
    clock,
    signal,
  });
  return findings;
}

/**
 * Checks that the repository at a destination opens with the key that the settings name, and that it is the one that the
 * backups went to.
 * @param remembered id of that repository; undefined while it is not known
 * @throws {StateError} WRONG_PASSPHRASE when this machine has no key to it; {RepositoryError}
 */
export async function checkOpening(
  check: string,
  place: DestinationSettings,
  remembered: string | undefined,
  context: Context,
): Promise<Finding> {
  const shown = shownPlace(parseLocation(place.url));
  let secret: Secret | undefined;
  try {
    secret = await secretOfSettings(place, context);
  } catch (error) {
    if (!isForAgentOnly(place, error)) throw error;
    return warning(check, `${shown} was not opened: only the agent has its passphrase`, '');
  }
  if (secret === undefined && remembered === undefined) {
    // The first start makes the key, and the first backup the repository.
    const { state } = await lookAt(place, undefined, context);
    if (state === 'empty') return ok(check, `${shown} is available, not used yet`);
  }
  if (secret === undefined)
    throw new StateError('WRONG_PASSPHRASE', `The key to ${shown} is missing`, {
      hint: 'Restore it from a copy, or set the passphrase from the recovery kit in the settings of the destination.',
    });
  if (secret.kind === 'write-only')
    return problem(
      check,
      `The passphrase in the settings of ${shown} is a write-only key, which cannot read backups`,
      `The agent needs a key that can read. To back up with this key, run "${holdfast`backup`}" from a system timer.`,
    );
  try {
    const repository = await openAt({ location: place.url, how: 'named', settings: place }, secret, context);
    await repository.close();
    return remembered === undefined || repository.id === remembered
      ? ok(check, `${shown} opens (${shortId(repository.id)})`)
      : notThatOne(check, shown, repository.id, remembered);
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    if (remembered === undefined) {
      if (error.code === 'NO_REPOSITORY') await requireRoom(place, context);
      throw error;
    }
    if (error.code === 'NO_REPOSITORY') return noLongerThere(check, shown, remembered);
    const other = error.code === 'WRONG_PASSPHRASE' ? await otherThan(remembered, place, context) : undefined;
    if (other === undefined) throw error;
    return notThatOne(check, shown, other, remembered);
  }
}

/**
 * Where there is no repository yet, the first backup makes it, unless the place holds something else.
 * @throws {RepositoryError} for such a place
 */
async function requireRoom(place: DestinationSettings, context: Context): Promise<void> {
  const { signal } = context;
  let destination: Destination;
  try {
    destination = await openDestination(place.url, await reachOfSettings(place, context), signal);
  } catch (error) {
    // Why it cannot be opened is known already.
    if (error instanceof HoldfastError) return;
    throw error;
  }
  try {
    await requireFree(destination, signal);
  } finally {
    await destination.close();
  }
}

/** The id of the repository there, if it is none that goes by this one. Its passphrase says nothing then. */
async function otherThan(
  remembered: string,
  place: DestinationSettings,
  context: Context,
): Promise<string | undefined> {
  const { signal } = context;
  const destination = await openDestination(place.url, await reachOfSettings(place, context), signal);
  try {
    const ids = (await readKeyFiles(destination, signal)).slots.map(({ repository }) =>
      repository.toString('hex'),
    );
    return ids.includes(remembered) ? undefined : ids[0];
  } finally {
    await destination.close();
  }
}

function notThatOne(check: string, shown: string, found: string, remembered: string): Finding {
  return problem(
    check,
    `The repository at ${shown} (${shortId(found)}) is not the one that holds your backups (${shortId(remembered)})`,
    'Connect or mount the right disk. Nothing is backed up to this one.',
  );
}

/** Nothing is at the place of the repository that holds the backups. */
export function noLongerThere(check: string, shown: string, remembered: string): Finding {
  return problem(
    check,
    `The repository that holds your backups (${shortId(remembered)}) is not at ${shown}`,
    'Connect or mount its disk. Do not create another repository there.',
  );
}

/**
 * True for a secret that comes from a systemd credential or a variable of the environment: the agent may have it
 * although this process does not.
 */
function isForAgentOnly({ passphrase }: DestinationSettings, error: unknown): boolean {
  return (
    error instanceof HoldfastError &&
    error.code === 'SECRET_UNAVAILABLE' &&
    passphrase !== null &&
    ('credential' in passphrase || 'env' in passphrase)
  );
}
