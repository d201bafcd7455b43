import { beforeEach, describe, expect, it } from 'vitest';
import { ApiError } from '../../../../src/api/api-error.ts';
import {
  createSignInLimit,
  type SignInAttempt,
  type SignInLimit,
} from '../../../../src/partner/console/sign-in-limit.ts';
import { PARTNER_LIMITS } from '../../../../src/partner/http/limits.ts';
import { type ManualClock, manualClock } from '../../../support/manual-clock.ts';

describe('signing in', () => {
  let clock: ManualClock;
  let limit: SignInLimit;
  beforeEach(() => {
    clock = manualClock();
    limit = createSignInLimit(PARTNER_LIMITS, clock);
  });

  /** Whether it was let through; it fails then. */
  const fails = (attempt: SignInAttempt): boolean => {
    try {
      limit.begin(attempt);
      return true;
    } catch (error) {
      expect(error).toBeInstanceOf(ApiError);
      expect(error).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' });
      return false;
    }
  };
  const letThrough = (count: number, attempt: (index: number) => SignInAttempt): number =>
    Array.from({ length: count }, (_, index) => fails(attempt(index))).filter(Boolean).length;

  it('may fail ten times a minute for each account, whatever the case of its letters', () => {
    expect(letThrough(20, (index) => ({ account: index % 2 === 0 ? 'ana' : 'ANA' }))).toBe(10);
    expect(fails({ account: 'ben' })).toBe(true);
    clock.jump(59_999);
    expect(fails({ account: 'ana' })).toBe(false);
    clock.jump(1);
    expect(fails({ account: 'ana' })).toBe(true);
  });

  it('may fail sixty times a minute in all', () => {
    expect(letThrough(100, (index) => ({ account: `partner ${index}` }))).toBe(60);
    clock.jump(60_000);
    expect(letThrough(100, (index) => ({ account: `partner ${index}` }))).toBe(60);
  });

  it('says when to try again', () => {
    for (let count = 0; count < 10; count += 1) limit.begin({ account: 'ana' });
    clock.jump(12_300);
    expect(() => limit.begin({ account: 'ana' })).toThrow(
      expect.objectContaining({ headers: { 'retry-after': '48' } }),
    );
  });

  it('takes the place before the outcome is known, and gives it back when it succeeds', () => {
    const begun = Array.from({ length: 10 }, () => limit.begin({ account: 'ana' }));
    expect(fails({ account: 'ana' })).toBe(false);
    begun[0]?.succeeded();
    expect(fails({ account: 'ana' })).toBe(true);
    expect(fails({ account: 'ana' })).toBe(false);
  });

  it('is not closed by the failures of others in a browser in which the account has signed in', () => {
    letThrough(20, () => ({ account: 'ana' }));
    letThrough(100, (index) => ({ account: `partner ${index}` }));
    expect(letThrough(20, () => ({ account: 'ana', browser: 'hers' }))).toBe(10);
    expect(fails({ account: 'ana', browser: 'another one of hers' })).toBe(true);
  });

  it('may fail fifteen times an hour by a code, from wherever', () => {
    const code = (index: number): SignInAttempt => ({ account: 'ana', browser: `${index}`, isCode: true });
    expect(letThrough(30, code)).toBe(15);
    clock.jump(3_599_999);
    expect(fails(code(0))).toBe(false);
    clock.jump(1);
    expect(fails(code(0))).toBe(true);
  });
});
