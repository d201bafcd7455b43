/** Trying out a destination for the page: one of the settings, or one that is not saved yet. */
import { join } from 'node:path';
import { resolveAccess } from '../config/access.ts';
import type { SecretContext } from '../config/secret.ts';
import type { DestinationSettings } from '../config/settings.ts';
import type { Clock } from '../base/clock.ts';
import { openDestination, personOf, type OpenOptions } from '../destination/open.ts';
import { openRepository } from '../repository/repository.ts';
import type { Destinations, Place } from './destinations.ts';
import { ok, type Finding } from './doctor/finding.ts';
import { tryDestination, type TrialReport } from './try-destination.ts';

export interface DestinationTrialParts {
  readonly destinations: Pick<Destinations, 'open' | 'placeOf'>;
  readonly secrets: SecretContext;
  readonly clock: Clock;
  readonly stateDirectory: string;
  readonly weakCost: boolean;
}

/** `isSaved`: what opens a repository there is known; else it is when the destination names its passphrase. */
export async function tryForPage(
  settings: DestinationSettings,
  isSaved: boolean,
  parts: DestinationTrialParts,
  signal: AbortSignal,
): Promise<TrialReport> {
  const { destinations, secrets, clock, stateDirectory } = parts;
  const place = destinations.placeOf(settings);
  const reach = async (): Promise<OpenOptions> => ({
    access: await resolveAccess(place.access, secrets, signal),
    person: personOf(secrets),
  });
  const isKnown = isSaved || place.passphrase !== null;
  return await tryDestination({
    url: place.location,
    isEmbedded: place.directory === join(stateDirectory, 'repository'),
    reach,
    openRepository: isKnown ? async () => await openThere(place, parts, signal) : undefined,
    clock,
    signal,
  });
}

async function openThere(
  place: Place,
  { destinations, clock, stateDirectory, weakCost }: DestinationTrialParts,
  signal: AbortSignal,
): Promise<Finding> {
  const { access, person, secret, url } = await destinations.open(place, signal);
  const destination = await openDestination(url, { access, person }, signal);
  const repository = await openRepository(
    destination,
    secret.kind === 'machine'
      ? { kind: 'machine', secret: Buffer.from(secret.base64, 'base64') }
      : { kind: 'passphrase', text: secret.text },
    { clock, stateDirectory, allowWeakCost: weakCost },
    signal,
  ).catch(async (error: unknown) => {
    await destination.close();
    throw error;
  });
  try {
    return ok('repository', `${place.shown} opens (${repository.id.slice(0, SHORT_ID)})`);
  } finally {
    await repository.close();
  }
}

/** Characters of an id that tell repositories apart. */
const SHORT_ID = 8;
