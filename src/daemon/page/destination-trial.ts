/** Tries out a destination for the page: one of the settings, or one that is not saved yet. */
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { RequestError } from '../../base/errors.ts';
import { formatDuration } from '../../base/units.ts';
import { resolveAccess } from '../../config/access.ts';
import { buildSettings } from '../../config/effective-settings.ts';
import type { FilledConfig } from '../../config/schema.ts';
import type { SecretContext } from '../../config/secret.ts';
import type { SettingsContext } from '../../config/settings-context.ts';
import type { DestinationSettings } from '../../config/settings.ts';
import { checkAgainstSchema } from '../../config/validate.ts';
import { openDestination, type OpenOptions, personOf } from '../../destination/open/open.ts';
import { openRepository } from '../../repository/opening.ts';
import { secretHanded } from '../../repository/slots/typed-secret.ts';
import { type Finding, ok, problem } from '../doctor/finding.ts';
import { type Trial, type TrialReport, tryDestination } from '../doctor/try-destination.ts';
import type { Destinations, Place } from '../places/destinations.ts';
import type { PassphraseGuesses } from './passphrase-check.ts';

export interface DestinationTrialParts {
  readonly destinations: Pick<Destinations, 'open' | 'placeOf' | 'repositoryId'>;
  readonly secrets: SecretContext;
  readonly clock: Clock;
  readonly stateDirectory: string;
  readonly weakCost: boolean;
  /** Passphrases typed here count towards the limit of wrong guesses, too. */
  readonly guesses: PassphraseGuesses;
}

/**
 * Tries the destination. An existing repository is opened with the same secret as for a backup: its passphrase, or else
 * the agent's.
 */
export async function tryForPage(
  settings: DestinationSettings,
  files: readonly string[],
  parts: DestinationTrialParts & Pick<Trial, 'isNew'>,
  signal: AbortSignal,
): Promise<TrialReport> {
  const { destinations, secrets, clock, stateDirectory } = parts;
  const place = destinations.placeOf(settings);
  const reach = async (): Promise<OpenOptions> => ({
    access: await resolveAccess(place.access, secrets, signal),
    person: personOf(secrets),
  });
  return await tryDestination({
    url: place.location,
    isEmbedded: place.directory === join(stateDirectory, 'repository'),
    isNew: parts.isNew,
    reach,
    remembered: destinations.repositoryId(place) || undefined,
    openRepository: async () => await openThere(place, parts, signal),
    files,
    clock,
    signal,
  });
}

async function openThere(place: Place, parts: DestinationTrialParts, signal: AbortSignal): Promise<Finding> {
  const guessed = await parts.guesses.try(async () => await openedId(place, parts, signal), signal);
  if ('opened' in guessed)
    return ok('repository', `${place.shown} opens (${guessed.opened.slice(0, SHORT_ID)})`);
  return problem(
    'repository',
    'Too many wrong passphrases were tried',
    `Try again in ${formatDuration(guessed.retryAfterMs)}.`,
  );
}

/** Opens the repository, closes it again, and returns its id. */
async function openedId(
  place: Place,
  { destinations, clock, stateDirectory, weakCost }: DestinationTrialParts,
  signal: AbortSignal,
): Promise<string> {
  const { access, person, secret, url } = await destinations.open(place, signal);
  const destination = await openDestination(url, { access, person }, signal);
  const repository = await openRepository(
    destination,
    secretHanded(secret),
    { clock, stateDirectory, allowWeakCost: weakCost },
    signal,
  ).catch(async (error: unknown) => {
    await destination.close();
    throw error;
  });
  await repository.close();
  return repository.id;
}

/** Characters of a repository id that are enough to recognise it. */
const SHORT_ID = 8;

/**
 * Builds a destination that is not saved yet, in the form that it would have in the settings.
 * @throws {RequestError} INVALID_DESTINATION, SECRET_IN_URL for faults that the schema does not cover
 */
export function destinationAsSaved(
  name: string,
  destination: FilledConfig['destinations'][string],
  context: SettingsContext,
): DestinationSettings {
  const { value } = checkAgainstSchema({ destinations: { [name]: destination }, defaultDestination: name });
  const built = value === undefined ? undefined : buildSettings(value, context);
  const settings = built?.settings?.destinations.find((one) => one.name === name);
  if (settings !== undefined) return settings;
  const [fault] = built?.faults ?? [];
  throw new RequestError(
    fault?.code === 'SECRET_IN_URL' ? 'SECRET_IN_URL' : 'INVALID_DESTINATION',
    fault?.message ?? 'The destination cannot be used',
    { hint: fault?.hint ?? 'Check its settings.', details: { field: 'destination' } },
  );
}
