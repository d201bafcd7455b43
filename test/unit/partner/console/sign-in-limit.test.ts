import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiError } from '../../../../src/api/api-error.ts';
import {
  createSignInLimit,
  type SignInAttempt,
  type SignInLimit,
} from '../../../../src/partner/console/sign-in-limit.ts';
import { PARTNER_LIMITS } from '../../../../src/partner/http/limits.ts';
import { STORE_KINDS, storeSite, type StoreSite } from '../../../support/partner-store-site.ts';

describe.each(STORE_KINDS)('signing in with a store on %s', (kind) => {
  let site: StoreSite;
  let limit: SignInLimit;
  beforeEach(async () => {
    site = await storeSite(kind);
    limit = createSignInLimit(PARTNER_LIMITS, (await site.open()).signIns);
  });
  afterEach(async () => await site.remove());

  /** Whether it was let through; it fails then. */
  const fails = async (attempt: SignInAttempt): Promise<boolean> => {
    try {
      await limit.begin(attempt);
      return true;
    } catch (error) {
      expect(error).toBeInstanceOf(ApiError);
      expect(error).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' });
      return false;
    }
  };
  const letThrough = async (count: number, attempt: (index: number) => SignInAttempt): Promise<number> => {
    let through = 0;
    for (let index = 0; index < count; index += 1) if (await fails(attempt(index))) through += 1;
    return through;
  };

  it('may fail ten times a minute for each account, whatever the case of its letters', async () => {
    expect(await letThrough(20, (index) => ({ account: index % 2 === 0 ? 'ana' : 'ANA' }))).toBe(10);
    expect(await fails({ account: 'ben' })).toBe(true);
    site.clock.jump(59_999);
    expect(await fails({ account: 'ana' })).toBe(false);
    site.clock.jump(1);
    expect(await fails({ account: 'ana' })).toBe(true);
  });

  it('may fail sixty times a minute in all', async () => {
    expect(await letThrough(100, (index) => ({ account: `partner ${index}` }))).toBe(60);
    site.clock.jump(60_000);
    expect(await letThrough(100, (index) => ({ account: `partner ${index}` }))).toBe(60);
  });

  it('says when to try again', async () => {
    for (let count = 0; count < 10; count += 1) await limit.begin({ account: 'ana' });
    site.clock.jump(12_300);
    await expect(limit.begin({ account: 'ana' })).rejects.toThrow(
      expect.objectContaining({ headers: { 'retry-after': '48' } }),
    );
  });

  it('takes the place before the outcome is known, and gives it back when it succeeds', async () => {
    const begun = await Promise.all(
      Array.from({ length: 10 }, async () => await limit.begin({ account: 'ana' })),
    );
    expect(await fails({ account: 'ana' })).toBe(false);
    await begun[0]?.succeeded();
    expect(await fails({ account: 'ana' })).toBe(true);
    expect(await fails({ account: 'ana' })).toBe(false);
  });

  it('is not closed by the failures of others in a browser in which the account has signed in', async () => {
    await letThrough(20, () => ({ account: 'ana' }));
    await letThrough(100, (index) => ({ account: `partner ${index}` }));
    expect(await letThrough(20, () => ({ account: 'ana', browser: 'hers' }))).toBe(10);
    expect(await fails({ account: 'ana', browser: 'another one of hers' })).toBe(true);
  });

  it('may fail fifteen times an hour by a code, from wherever', async () => {
    const code = (index: number): SignInAttempt => ({ account: 'ana', browser: `${index}`, isCode: true });
    expect(await letThrough(30, code)).toBe(15);
    site.clock.jump(3_599_999);
    expect(await fails(code(0))).toBe(false);
    site.clock.jump(1);
    expect(await fails(code(0))).toBe(true);
  });
});
