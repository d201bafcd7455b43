/** Asks at the terminal for the passphrase of a repository that another computer, or an earlier installation, made. */
import { rm } from 'node:fs/promises';
import { HoldfastError } from '../../base/errors.ts';
import type { DestinationSettings, SecretReference } from '../../config/settings.ts';
import type { Finding } from '../../daemon/doctor/finding.ts';
import { keepSecret } from '../../daemon/places/kept-secret.ts';
import { parseLocation, shownPlace } from '../../destination/location.ts';
import type { Context } from '../command/context.ts';
import { statePaths } from '../command/state-directory.ts';
import { canPrompt, promptHidden } from '../terminal/prompt.ts';
import { type Insisting, requireUsable } from './usable-destination.ts';

/** How often the question is asked, as where a repository is opened. */
const ATTEMPTS = 3;

interface Usable {
  readonly concerns: readonly Finding[];
  /** What the settings are to name; undefined when what this computer has opens the repository. */
  readonly passphrase: SecretReference | undefined;
}

/**
 * Tries a place out. If a repository there only lacks its passphrase, it is asked for, and kept in a file of the state
 * directory.
 * @throws {DestinationError} {StateError} as `requireUsable`
 */
export async function usableOrAsked(
  place: DestinationSettings,
  insisting: Insisting,
  context: Context,
): Promise<Usable> {
  try {
    return {
      concerns: await requireUsable(place, insisting, context),
      passphrase: place.passphrase ?? undefined,
    };
  } catch (error) {
    if (place.passphrase !== null || !isLocked(error) || !canPrompt(context)) throw error;
  }
  const shown = shownPlace(parseLocation(place.url));
  const question = `There are backups in ${shown} already. Passphrase (or recovery code) for them: `;
  for (let attempt = 1; ; attempt += 1) {
    const typed = await promptHidden(question, context);
    const passphrase = await keepSecret(statePaths(context.env).directory, typed);
    try {
      return { concerns: await requireUsable({ ...place, passphrase }, insisting, context), passphrase };
    } catch (error) {
      await rm(passphrase.file, { force: true });
      if (!isLocked(error) || attempt === ATTEMPTS) throw error;
      context.stderr.write('Wrong passphrase. Try again.\n');
    }
  }
}

function isLocked(error: unknown): boolean {
  return error instanceof HoldfastError && error.code === 'WRONG_PASSPHRASE';
}
