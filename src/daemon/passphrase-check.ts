/** Whether a passphrase or recovery code, as somebody typed it, opens the repository at a destination. */
import type { Clock } from '../base/clock.ts';
import { RepositoryError } from '../base/errors.ts';
import { createTurns } from '../base/turns.ts';
import { resolveAccess } from '../config/access.ts';
import type { SecretContext } from '../config/secret.ts';
import { openDestination, personOf } from '../destination/open.ts';
import { openKeyring, readKeyFiles } from '../repository/key-files.ts';
import { secretOf } from '../repository/typed-secret.ts';
import type { Destinations } from './destinations.ts';

export interface PassphraseCheckParts {
  readonly destinations: Pick<Destinations, 'find'>;
  readonly secrets: SecretContext;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Repositories of tests are made at less cost. */
  readonly weakCost: boolean;
}

/** Of those that were wrong, in one minute. */
export const MOST_WRONG = { count: 10, windowMs: 60_000 } as const;

export type PassphraseVerdict =
  | { readonly opens: boolean }
  /** Too many were wrong. */
  | { readonly retryAfterMs: number };

export class PassphraseCheck {
  readonly #parts: PassphraseCheckParts;
  /** Each takes 256 MiB while it is stretched. */
  readonly #turns = createTurns(1);
  /** By the monotonic clock. */
  #wrongAt: readonly number[] = [];

  constructor(parts: PassphraseCheckParts) {
    this.#parts = parts;
  }

  /**
   * What was typed is in no error and in no log.
   * @throws {RequestError} INVALID_DESTINATION
   * @throws {RepositoryError} NO_REPOSITORY, and whatever keeps the key slots from being read
   */
  async try(nameOrUrl: string, typed: string, signal: AbortSignal): Promise<PassphraseVerdict> {
    using turn = await this.#turns.take(signal);
    void turn;
    const { clock } = this.#parts;
    const recent = this.#wrongAt.filter((at) => clock.monotonic() - at < MOST_WRONG.windowMs);
    this.#wrongAt = recent;
    const [first] = recent;
    if (first !== undefined && recent.length >= MOST_WRONG.count)
      return { retryAfterMs: first + MOST_WRONG.windowMs - clock.monotonic() };
    const opens = await this.#opens(nameOrUrl, typed, signal);
    if (!opens) this.#wrongAt = [...recent, clock.monotonic()];
    return { opens };
  }

  async #opens(nameOrUrl: string, typed: string, signal: AbortSignal): Promise<boolean> {
    const { destinations, secrets, weakCost } = this.#parts;
    const place = destinations.find(nameOrUrl);
    const access = await resolveAccess(place.access, secrets, signal);
    const destination = await openDestination(place.location, { access, person: personOf(secrets) }, signal);
    try {
      const files = await readKeyFiles(destination, signal);
      if (files.slots.length + files.damaged.length === 0) throw noRepository(place.shown);
      await openKeyring(destination, files, secretOf(typed), { allowWeakCost: weakCost }, signal);
      return true;
    } catch (error) {
      if (error instanceof RepositoryError && error.code === 'WRONG_PASSPHRASE') return false;
      throw error;
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
