/** Checks whether a passphrase or recovery code that somebody typed opens the repository at a destination. */
import { RepositoryError } from '../../base/errors.ts';
import { resolveAccess } from '../../config/access.ts';
import type { SecretContext } from '../../config/secret.ts';
import { openDestination, personOf } from '../../destination/open/open.ts';
import { openKeyring, readKeyFiles } from '../../repository/slots/key-files.ts';
import { secretOf } from '../../repository/slots/typed-secret.ts';
import type { Destinations } from '../places/destinations.ts';
import { isWrong, type PassphraseGuesses } from './passphrase-guesses.ts';

export interface PassphraseCheckParts {
  readonly destinations: Pick<Destinations, 'find'>;
  readonly secrets: SecretContext;
  readonly guesses: PassphraseGuesses;
  /** Repositories of tests are made with a weaker key derivation. */
  readonly weakCost: boolean;
}

export type PassphraseVerdict =
  | { readonly opens: boolean }
  /** Too many guesses were wrong. */
  | { readonly retryAfterMs: number };

export class PassphraseCheck {
  readonly #parts: PassphraseCheckParts;

  constructor(parts: PassphraseCheckParts) {
    this.#parts = parts;
  }

  /**
   * Tries the passphrase. What was typed is in no error and in no log.
   * @throws {RequestError} INVALID_DESTINATION
   * @throws {RepositoryError} NO_REPOSITORY, and errors from reading the key slots
   */
  async try(nameOrUrl: string, typed: string, signal: AbortSignal): Promise<PassphraseVerdict> {
    const { guesses } = this.#parts;
    try {
      const guessed = await guesses.try(async () => await this.#open(nameOrUrl, typed, signal), signal);
      return 'opened' in guessed ? { opens: true } : guessed;
    } catch (error) {
      if (isWrong(error)) return { opens: false };
      throw error;
    }
  }

  async #open(nameOrUrl: string, typed: string, signal: AbortSignal): Promise<void> {
    const { destinations, secrets, weakCost } = this.#parts;
    const place = destinations.find(nameOrUrl);
    const access = await resolveAccess(place.access, secrets, signal);
    const destination = await openDestination(place.location, { access, person: personOf(secrets) }, signal);
    try {
      const files = await readKeyFiles(destination, signal);
      if (files.slots.length + files.damaged.length === 0) throw noRepository(place.shown);
      await openKeyring(destination, files, secretOf(typed), { allowWeakCost: weakCost }, signal);
    } finally {
      await destination.close();
    }
  }
}

function noRepository(shown: string): RepositoryError {
  return new RepositoryError('NO_REPOSITORY', `There is no repository at ${shown} yet`, {
    hint: 'The first backup makes it.',
  });
}
