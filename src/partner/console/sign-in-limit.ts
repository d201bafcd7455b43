/**
 * Limits failed sign-ins: for each account, from each network, and in total. This makes guessing hopeless, regardless
 * of the number of instances, and protects their processors. Using up the total does not lock out accounts without
 * failures, which have another, wider limit. Each attempt takes its place before the password is checked, so that
 * concurrent attempts cannot bypass the limit, and gives it back when it succeeds.
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
  /** An e-mail address as it was typed, or the id of an account. */
  readonly account: string;
  /** The address of the client, as reported by a trusted balancer. */
  readonly address: string;
  /**
   * The cookie of a browser in which the account has signed in before. Such attempts have their own limit, so that
   * failures of others do not lock them out.
   */
  readonly browser?: string | undefined;
  /** Whether the password is known to be correct, so that only the code of six digits remains to be guessed. */
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
