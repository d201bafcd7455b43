/** Limits how many wrong passphrases the page may try. Every attempt on the page goes through here. */
import type { Clock } from '../../base/clock.ts';
import { RepositoryError } from '../../base/errors.ts';
import { createTurns } from '../../base/turns.ts';

/** Wrong attempts allowed in a window of one minute. */
export const MOST_WRONG = { count: 10, windowMs: 60_000 } as const;

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
export function isWrong(error: unknown): boolean {
  return error instanceof RepositoryError && error.code === 'WRONG_PASSPHRASE';
}
