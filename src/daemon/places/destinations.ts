/** Resolves the name or URL of a destination to a place, and a place to all that is needed to open its repository. */
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { RequestError, StateError } from '../../base/errors.ts';
import { resolveAccess } from '../../config/access.ts';
import { findDestination } from '../../config/effective-settings.ts';
import { resolveSecret, type SecretContext } from '../../config/secret.ts';
import type {
  AccessSettings,
  DestinationSettings,
  SecretReference,
  Settings,
} from '../../config/settings.ts';
import type { KnownRepository, RepositoryStore } from '../../db/repositories.ts';
import type { SettingStore } from '../../db/settings.ts';
import {
  directoryOf,
  findPlace,
  openUrl,
  parseLocation,
  placeUrl,
  shownPlace,
  withUser,
} from '../../destination/location.ts';
import { personOf } from '../../destination/open/open.ts';
import type { EngineDestination } from '../../engine/protocol.ts';
import { unmountedAt } from '../../system/unmounted.ts';
import { kitPassphrase, kitRecoveryCode } from './kit-secrets.ts';
import { createPresence } from './presence.ts';
import { rememberedAt } from './remembered-at.ts';

/** A destination of the settings, or one that a request named by its URL. */
export interface Place {
  /** The name in requests and settings; for a place that is not in the settings, the URL by which it is reached. */
  readonly name: string;
  /** Normalised: one spelling for each place. */
  readonly url: string;
  /** The form for opening it: an absolute path, or the URL with its connection options. */
  readonly location: string;
  /** The form for people: a path or a URL. */
  readonly shown: string;
  /** Undefined when it is not on this machine. */
  readonly directory: string | undefined;
  readonly passphrase: SecretReference | null;
  readonly access: AccessSettings | undefined;
  /** The settings say that it was added without a test. */
  readonly untested?: true;
}

export interface DestinationParts {
  readonly settings: () => Settings;
  readonly repositories: RepositoryStore;
  /** Notes of how places are reached. */
  readonly notes: Pick<SettingStore, 'get' | 'set'>;
  readonly stateDirectory: string;
  readonly secrets: SecretContext;
  /** The secret of the embedded repository. */
  readonly machineKey: () => Promise<Buffer>;
  readonly uploadLimit: () => number | null;
  readonly clock: Clock;
}

export interface Destinations {
  /**
   * Resolves a name of the settings, which takes precedence, or `default`, `cloud`, a path or a URL.
   * @throws {RequestError} INVALID_DESTINATION, SECRET_IN_URL
   */
  find(nameOrUrl: string): Place;
  /** The default destination, used when none is named. A destination with the name `default` does not change it. */
  standard(): Place;
  /** The destinations of the settings. */
  all(): readonly Place[];
  /**
   * Directories of this machine that backups are stored in: those of the settings, and others where a job found a
   * repository that is still there.
   */
  stores(): readonly string[];
  /** Also works for settings that are not in force. @throws {RequestError} INVALID_DESTINATION, SECRET_IN_URL */
  placeOf(settings: DestinationSettings): Place;
  /** Looks up the secret and access data of a place. @throws {ConfigError} {StateError} when they are unavailable */
  open(place: Place, signal: AbortSignal): Promise<EngineDestination>;
  /** Id of the repository that was seen there; undefined before the first backup. */
  repositoryId(place: Place): string | undefined;
  remember(place: Place, repositoryId: string, nowMs: number): void;
  /**
   * For a place that is not in the settings: how it was reached when a repository was seen there. Returns `url` for any
   * other place.
   */
  reachOf(url: string): string;
  /**
   * False when a repository was seen there but its directory is missing. Also false when none was seen yet, nothing is mounted
   * where its disk or share should be, and the directory does not exist: the repository would be made on the system disk.
   */
  isPresent(place: Place): boolean;
  /** Whether its directory was seen; always false for a place on another machine. */
  isSeen(place: Place): boolean;
}

/** Both must be there: a directory whose repository was deleted may hold other data, which is to be backed up. */
const PARTS_OF_REPOSITORY = ['keys', 'packs'];

export function createDestinations(parts: DestinationParts): Destinations {
  const { notes, repositories, settings, stateDirectory } = parts;
  const embedded = join(stateDirectory, 'repository');
  const isThere = createPresence(parts.clock);

  const placeAt = ({ name, url: location, passphrase, access, untested }: DestinationSettings): Place => {
    const place = withUser(parseLocation(location), access?.webdav?.user);
    const directory = place.kind === 'local' ? place.directory : undefined;
    return {
      name,
      url: placeUrl(place),
      location: directory ?? location,
      shown: shownPlace(place),
      directory,
      passphrase,
      access,
      ...(untested === undefined ? {} : { untested }),
    };
  };
  let configured = settings().destinations;
  let places: readonly Place[] | undefined;
  const all = (): readonly Place[] => {
    const { destinations } = settings();
    if (places === undefined || destinations !== configured) places = destinations.map(placeAt);
    configured = destinations;
    return places;
  };

  const find = (wanted: string): Place => {
    const configured = all();
    const found = findDestination(settings(), wanted);
    const named = configured.find(({ name }) => name === found?.name);
    if (named !== undefined) return named;
    // The embedded repository, which is not listed before backups are in it.
    if (found !== undefined) return placeAt(found);
    if (wanted === 'cloud') throw noCloud();
    if (!/[/\\:]/.test(wanted)) throw unknownName(wanted, configured);
    const place = placeAt({ name: openUrl(parseLocation(wanted)), url: wanted, passphrase: null });
    return findPlace(place.url, configured, ({ url }) => url) ?? place;
  };
  const reachOf = (url: string): string => notes.get(reachKey(url)) ?? url;
  const remembered = (url: string): KnownRepository | undefined => rememberedAt(url, repositories, all());

  // A path that does not answer counts as there. All parts are asked for at once, so that their answers come sooner.
  const holdsRepository = (directory: string): boolean =>
    [directory, ...PARTS_OF_REPOSITORY.map((part) => join(directory, part))]
      .map((path) => isThere(path, true))
      .every(Boolean);
  const stores = (): readonly string[] => {
    const configured = all().flatMap(({ directory }) => directory ?? []);
    const others = repositories.all().flatMap(({ url }) => localDirectoryOf(url) ?? []);
    return [...new Set([...configured, ...others.filter(holdsRepository)])];
  };

  // Asked early, so that the answers of other machines are known sooner.
  for (const directory of stores()) isThere(directory);
  return {
    all,
    stores,
    reachOf,
    placeOf: placeAt,
    standard: () => find(settings().defaultDestination),
    find,
    async open(place, signal) {
      return {
        name: place.name,
        url: place.location,
        access: await resolveAccess(place.access, parts.secrets, signal),
        person: personOf(parts.secrets),
        secret: await secretOf(place, embedded, parts, signal),
        repositoryId: remembered(place.url)?.repositoryId ?? null,
        uploadLimit: parts.uploadLimit(),
      };
    },
    repositoryId: ({ url }) => remembered(url)?.repositoryId,
    remember({ name, url }, repositoryId, nowMs) {
      const isNamed = all().some((place) => place.name === name);
      if (!isNamed && name !== reachOf(url)) notes.set(reachKey(url), name === url ? undefined : name);
      if (repositoryId === '' || repositories.get(url) !== undefined) return;
      repositories.set({ url, repositoryId, since: remembered(url)?.since ?? nowMs });
    },
    isPresent: ({ url, directory, untested }) => {
      if (directory === undefined) return true;
      if (repositories.get(url) !== undefined) return isThere(directory);
      if (unmountedAt(directory) === undefined) return true;
      return isThere(untested === true ? join(directory, 'keys') : directory);
    },
    isSeen: ({ directory }) => directory !== undefined && isThere(directory),
  };
}

/** Undefined also for a URL that is no valid path on this system. */
function localDirectoryOf(url: string): string | undefined {
  if (!url.startsWith('file:')) return undefined;
  try {
    return directoryOf(url);
  } catch (error) {
    if (error instanceof RequestError) return undefined;
    throw error;
  }
}

function reachKey(url: string): string {
  return `reach ${url}`;
}

async function secretOf(
  place: Place,
  embedded: string,
  { machineKey, secrets, stateDirectory }: DestinationParts,
  signal: AbortSignal,
): Promise<EngineDestination['secret']> {
  if (place.passphrase !== null) {
    const secret = await resolveSecret(place.passphrase, secrets, signal);
    return { kind: 'passphrase', text: secret.reveal() };
  }
  if (place.directory === embedded)
    return { kind: 'machine', base64: (await machineKey()).toString('base64') };
  return await secretOfKit(stateDirectory, place);
}

/** The secret of the recovery kit, for repositories without a passphrase in the settings. */
async function secretOfKit(stateDirectory: string, place: Place): Promise<EngineDestination['secret']> {
  const path = join(stateDirectory, 'passphrase');
  const hint = `Set its passphrase in the settings of the destination, or write the one from the recovery kit to ${path} (mode 600).`;
  const unknown = (cause?: unknown): StateError =>
    new StateError('WRONG_PASSPHRASE', `Holdfast does not know the passphrase for ${place.name}`, {
      hint,
      cause,
    });
  try {
    const text = await kitPassphrase(stateDirectory);
    if (text === undefined) throw unknown();
    const recoveryCode = await kitRecoveryCode(stateDirectory);
    return { kind: 'passphrase', text, ...(recoveryCode === undefined ? {} : { recoveryCode }) };
  } catch (cause) {
    throw cause instanceof StateError && cause.code === 'WRONG_PASSPHRASE' ? cause : unknown(cause);
  }
}

function unknownName(name: string, configured: readonly Place[]): RequestError {
  return new RequestError('INVALID_DESTINATION', `There is no destination ${name}`, {
    hint: `Use one of ${configured.map((place) => place.name).join(', ')}, a path or a URL.`,
    details: { destination: name },
  });
}

function noCloud(): RequestError {
  return new RequestError('INVALID_DESTINATION', 'No remote destination is configured', {
    hint: 'Name a configured destination, a path or a URL.',
    details: { destination: 'cloud' },
  });
}

/** Whether the place is on another machine. */
export function isFar({ directory }: Place): boolean {
  return directory === undefined;
}

/**
 * Undefined for a destination that was removed from the settings while a job for it waited. Such a job fails when it is prepared.
 */
export function placeOf(destinations: Pick<Destinations, 'find'>, name: string): Place | undefined {
  try {
    return destinations.find(name);
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return undefined;
  }
}

/**
 * Places by repository id: the destinations of the settings, the default one first, then other places where jobs found
 * a repository. The latter were named by their URLs or have been removed from the settings since.
 */
export function knownPlaces(
  destinations: Pick<Destinations, 'all' | 'find' | 'reachOf' | 'repositoryId' | 'standard'>,
  repositories: Pick<RepositoryStore, 'all'>,
): ReadonlyMap<string, Place> {
  const known = new Map<string, Place>();
  const add = (place: Place | undefined): void => {
    const id = place === undefined ? undefined : destinations.repositoryId(place);
    // A repository that was moved counts as being where the settings say.
    if (place !== undefined && id !== undefined && !known.has(id)) known.set(id, place);
  };
  add(destinations.standard());
  for (const place of destinations.all()) add(place);
  for (const { url } of repositories.all()) add(placeOf(destinations, destinations.reachOf(url)));
  return known;
}
