/**
 * How often signing in may fail: for each account, and in all. Of this instance alone, as it guards the instance's
 * processor and makes guessing hopeless either way. Each attempt takes its place before the password is looked at, so that
 * many at once are no way around it, and gives it back when it succeeds.
 */
import { tooMany, type Quota } from '../../api/rate-limits.ts';
import type { RequestLimit } from '../../api/limits.ts';
import type { Clock } from '../../base/clock.ts';
import type { PartnerLimits } from '../http/limits.ts';
import { takeFromLog } from '../store/sliding-log.ts';

export interface SignInLimit {
  /** @throws {ApiError} RATE_LIMIT_EXCEEDED */
  begin(attempt: SignInAttempt): BegunAttempt;
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
  succeeded(): void;
}

export function createSignInLimit(
  limits: Pick<PartnerLimits, 'failedSignIns'>,
  clock: Pick<Clock, 'now'>,
): SignInLimit {
  const { perAccount, total, codes } = limits.failedSignIns;
  const logs = new Map<string, readonly number[]>();

  return {
    begin({ account, browser, isCode = false }) {
      const now = clock.now();
      const name = account.toLowerCase();
      const wanted: readonly (readonly [string, RequestLimit])[] = [
        [browser === undefined ? `account ${name}` : `browser ${name} ${browser}`, perAccount],
        ...(isCode ? ([[`codes ${name}`, codes]] as const) : []),
        ...(browser === undefined ? ([['all', total]] as const) : []),
      ];
      const steps = wanted.map(([log, limit]) => {
        const step = takeFromLog(logs.get(log) ?? [], limit.requests, limit.windowMs, now);
        return { log, step, quota: { ...step.verdict, limit: limit.requests, windowMs: limit.windowMs } };
      });
      const refused = steps.map(({ quota }): Quota => quota).filter(({ accepted }) => !accepted);
      const [worst] = refused.toSorted((a, b) => b.retryAfterMs - a.retryAfterMs);
      if (worst !== undefined) throw tooMany('failed sign-ins', worst);
      for (const { log, step } of steps) logs.set(log, step.times);
      forgetOld(logs, now - Math.max(perAccount.windowMs, total.windowMs, codes.windowMs));
      return {
        succeeded: () => {
          for (const { log } of steps) logs.set(log, without(logs.get(log) ?? [], now));
        },
      };
    },
  };
}

function without(times: readonly number[], one: number): readonly number[] {
  const index = times.indexOf(one);
  return index === -1 ? times : times.toSpliced(index, 1);
}

/** There are never more logs than attempts that count. */
function forgetOld(logs: Map<string, readonly number[]>, since: number): void {
  for (const [name, times] of logs) if ((times.at(-1) ?? 0) <= since) logs.delete(name);
}
