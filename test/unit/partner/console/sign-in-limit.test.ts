import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiError } from '../../../../src/api/wire/api-error.ts';
import {
  createSignInLimit,
  type SignInAttempt,
  type SignInLimit,
} from '../../../../src/partner/console/sign-in-limit.ts';
import { PARTNER_LIMITS } from '../../../../src/partner/request/limits.ts';
import { STORE_KINDS, storeSite, type StoreSite } from '../../../support/partner-store-site.ts';

type Attempt = Omit<SignInAttempt, 'address'> & Partial<Pick<SignInAttempt, 'address'>>;

let addresses = 0;
/** Each attempt comes from elsewhere, where a test does not say from where. */
function nextAddress(): string {
  addresses += 1;
  return `198.51.${addresses >> 8}.${addresses & 0xff}`;
}

describe.each(STORE_KINDS)('signing in with a store on %s', (kind) => {
  let site: StoreSite;
  let limit: SignInLimit;
  beforeEach(async () => {
    site = await storeSite(kind);
    limit = createSignInLimit(PARTNER_LIMITS, (await site.open()).signIns);
  });
  afterEach(async () => await site.remove());

  /** Whether it was let through; it fails then. */
  const fails = async (attempt: Attempt): Promise<boolean> => {
    try {
      await limit.begin({ address: nextAddress(), ...attempt });
      return true;
    } catch (error) {
      expect(error).toBeInstanceOf(ApiError);
      expect(error).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' });
      return false;
    }
  };
  const letThrough = async (count: number, attempt: (index: number) => Attempt): Promise<number> => {
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

  it('may fail sixty times a minute in all, of accounts of which something failed already', async () => {
    const again = (index: number): Attempt => ({ account: `partner ${index % 50}` });
    expect(await letThrough(50, again)).toBe(50);
    expect(await letThrough(50, again)).toBe(10);
    site.clock.jump(60_000);
    expect(await letThrough(50, again)).toBe(50);
  });

  it('may fail twenty times a minute from one place in the network, in all instances', async () => {
    const invented = (address: string) => (index: number) => ({ account: `x${index}@example.org`, address });
    expect(await letThrough(70, invented('203.0.113.7'))).toBe(20);
    expect(await letThrough(30, (index) => invented(`2001:db8:1:2::${index + 1}`)(index))).toBe(20);
    expect(await fails({ account: 'ana', address: '203.0.113.8' })).toBe(true);
    site.clock.jump(60_000);
    expect(await fails({ account: 'y', address: '203.0.113.7' })).toBe(true);
  });

  it('of an account of which nothing failed is let through, however many others fail', async () => {
    expect(await letThrough(200, (index) => ({ account: `x${index}@example.org` }))).toBe(200);
    expect(await fails({ account: 'ana' })).toBe(true);
    expect(await fails({ account: 'ana' })).toBe(false);
    expect(await letThrough(500, (index) => ({ account: `y${index}@example.org` }))).toBeLessThan(500);
  });

  it('says when to try again', async () => {
    for (let count = 0; count < 10; count += 1) await limit.begin({ account: 'ana', address: nextAddress() });
    site.clock.jump(12_300);
    await expect(limit.begin({ account: 'ana', address: nextAddress() })).rejects.toThrow(
      expect.objectContaining({ headers: { 'retry-after': '48' } }),
    );
  });

  it('takes the place before the outcome is known, and gives it back when it succeeds', async () => {
    const begun = await Promise.all(
      Array.from({ length: 10 }, async () => await limit.begin({ account: 'ana', address: nextAddress() })),
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
    const code = (index: number): Attempt => ({ account: 'ana', browser: `${index}`, isCode: true });
    expect(await letThrough(30, code)).toBe(15);
    site.clock.jump(3_599_999);
    expect(await fails(code(0))).toBe(false);
    site.clock.jump(1);
    expect(await fails(code(0))).toBe(true);
  });
});
