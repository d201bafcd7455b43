/**
 * How often signing in may fail: for each account, and in all. It makes guessing hopeless, however many instances there are,
 * and guards their processors. Each attempt takes its place before the password is looked at, so that many at once are no
 * way around it, and gives it back when it succeeds.
 */
import type { RequestLimit } from '../../api/limits.ts';
import { tooMany } from '../../api/rate-limits.ts';
import type { PartnerLimits } from '../http/limits.ts';
import type { AttemptLimit, SignInLog } from '../store/sign-in-log.ts';

export interface SignInLimit {
  /** @throws {ApiError} RATE_LIMIT_EXCEEDED */
  begin(attempt: SignInAttempt): Promise<BegunAttempt>;
}

export interface SignInAttempt {
  /** An address as it was typed, or the id of an account. */
  readonly account: string;
  /** The cookie of a browser in which that account has signed in: others' failures do not keep it out. */
  readonly browser?: string | undefined;
  /** The password is known to be right: what is guessed at is a code of six digits. */
  readonly isCode?: boolean;
}

export interface BegunAttempt {
  succeeded(): Promise<void>;
}

export function createSignInLimit(
  limits: Pick<PartnerLimits, 'failedSignIns'>,
  log: Pick<SignInLog, 'take' | 'giveBack'>,
): SignInLimit {
  const { perAccount, total, codes } = limits.failedSignIns;

  return {
    async begin({ account, browser, isCode = false }) {
      const name = account.toLowerCase();
      const verdict = await log.take([
        ...(browser === undefined
          ? [limitOf('all', [], total), limitOf('account', [name], perAccount)]
          : [limitOf('browser', [name, browser], perAccount)]),
        ...(isCode ? [limitOf('codes', [name], codes)] : []),
      ]);
      if (verdict.kind === 'refused') throw tooMany('failed sign-ins', verdict.by);
      return { succeeded: async () => await log.giveBack(verdict.places) };
    },
  };
}

function limitOf(
  kind: AttemptLimit['kind'],
  of: AttemptLimit['of'],
  { requests, windowMs }: RequestLimit,
): AttemptLimit {
  return { kind, of, limit: requests, windowMs };
}
