/**
 * How often signing in may fail: for each account, from each place in the network, and in all. It makes guessing hopeless,
 * however many instances there are, and guards their processors. Whoever uses up what there is for all keeps nobody out of
 * whose account nothing failed: those have another, wider limit. Each attempt takes its place before the password is looked at, so that many at once are no
 * way around it, and gives it back when it succeeds.
 */
import type { RequestLimit } from '../../api/wire/limits.ts';
import { tooMany } from '../../api/access/rate-limits.ts';
import type { PartnerLimits } from '../request/limits.ts';
import { networkOf } from '../request/network.ts';
import type { AttemptLimit, AttemptVerdict, SignInLog } from '../store/sign-in-log.ts';

export interface SignInLimit {
  /** @throws {ApiError} RATE_LIMIT_EXCEEDED */
  begin(attempt: SignInAttempt): Promise<BegunAttempt>;
}

export interface SignInAttempt {
  /** An address as it was typed, or the id of an account. */
  readonly account: string;
  /** Where it comes from, as a balancer that is trusted says. */
  readonly address: string;
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
  const { perAccount, perNetwork, total, first, codes } = limits.failedSignIns;

  return {
    async begin({ account, address, browser, isCode = false }) {
      const name = account.toLowerCase();
      const ofCodes = isCode ? [limitOf('codes', [name], codes)] : [];
      const take = async (...others: readonly AttemptLimit[]): Promise<AttemptVerdict> =>
        await log.take([...others, ...ofCodes]);
      const ofNetwork = limitOf('network', [networkOf(address)], perNetwork);
      let verdict: AttemptVerdict;
      if (browser === undefined) {
        verdict = await take(limitOf('all', [], total), ofNetwork, limitOf('account', [name], perAccount));
        if (verdict.kind === 'refused' && verdict.by.kind === 'all') {
          const isFirst = limitOf('account', [name], { ...perAccount, requests: 1 });
          const other = await take(limitOf('first', [], first), ofNetwork, isFirst);
          if (other.kind === 'taken') verdict = other;
        }
      } else verdict = await take(limitOf('browser', [name, browser], perAccount));
      if (verdict.kind === 'refused') throw tooMany('failed sign-ins', verdict.by);
      const { places } = verdict;
      return { succeeded: async () => await log.giveBack(places) };
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
