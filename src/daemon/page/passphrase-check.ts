/** Checks whether a passphrase or recovery code that somebody typed opens the repository at a destination, and limits how many wrong ones the page may try. */
import type { Clock } from '../../base/clock.ts';
import { RepositoryError } from '../../base/errors.ts';
import { createTurns } from '../../base/turns.ts';
import { resolveAccess } from '../../config/access.ts';
import type { SecretContext } from '../../config/secret.ts';
import { openDestination, personOf } from '../../destination/open/open.ts';
import { openKeyring, readKeyFiles } from '../../repository/slots/key-files.ts';
import { secretOf } from '../../repository/slots/typed-secret.ts';
import type { Destinations } from '../places/destinations.ts';

/** Wrong attempts allowed in a window of one minute. */
const MOST_WRONG = { count: 10, windowMs: 60_000 } as const;

export type Guessed<T> =
  | { readonly opened: T }
  /** Too many guesses were wrong. */
  | { readonly retryAfterMs: number };

export interface PassphraseGuesses {
  /**
   * Calls `open`, unless too many guesses were wrong. Only one call runs at a time, as stretching a passphrase takes 256 MiB.
   * @throws whatever `open` throws; WRONG_PASSPHRASE counts as a wrong guess
   */
  try<T>(open: () => Promise<T>, signal: AbortSignal): Promise<Guessed<T>>;
}

export function createPassphraseGuesses(clock: Pick<Clock, 'monotonic'>): PassphraseGuesses {
  const turns = createTurns(1);
  let wrongAt: readonly number[] = [];
  return {
    async try(open, signal) {
      using turn = await turns.take(signal);
      void turn;
      wrongAt = wrongAt.filter((at) => clock.monotonic() - at < MOST_WRONG.windowMs);
      const [first] = wrongAt;
      if (first !== undefined && wrongAt.length >= MOST_WRONG.count)
        return { retryAfterMs: first + MOST_WRONG.windowMs - clock.monotonic() };
      try {
        return { opened: await open() };
      } catch (error) {
        if (isWrong(error)) wrongAt = [...wrongAt, clock.monotonic()];
        throw error;
      }
    },
  };
}

/** Whether the error means that the passphrase does not open the repository. */
function isWrong(error: unknown): boolean {
  return error instanceof RepositoryError && error.code === 'WRONG_PASSPHRASE';
}

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
    hint: 'The first backup creates it.',
  });
}
