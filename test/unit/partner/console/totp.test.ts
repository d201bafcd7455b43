import { describe, expect, it } from 'vitest';
import { newTotpSecret, totpCode, totpStep, totpUri } from '../../../../src/partner/console/totp.ts';

/** `12345678901234567890`, of appendix B of RFC 6238. */
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

describe('codes of a second factor', () => {
  it.each([
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
    [20_000_000_000, '353130'],
  ])('are those of RFC 6238 at %i s', (seconds, code) => {
    expect(totpCode(SECRET, Math.floor(seconds / 30))).toBe(code);
    expect(totpStep(SECRET, code, seconds * 1_000)).toBe(Math.floor(seconds / 30));
  });

  it('are good one step before and after their own, and no longer', () => {
    const code = totpCode(SECRET, 1_000);
    const steps = [998, 999, 1_000, 1_001, 1_002].map((step) => totpStep(SECRET, code, step * 30_000));
    expect(steps).toEqual([undefined, 1_000, 1_000, 1_000, undefined]);
  });

  it('may be typed with spaces; anything else is none', () => {
    expect(totpStep(SECRET, ' 287 082 ', 59_000)).toBe(1);
    for (const text of ['', '28708', '2870820', '28708x', '٢٨٧٠٨٢']) {
      expect(totpStep(SECRET, text, 59_000)).toBeUndefined();
    }
  });

  it('have secrets of 160 bits, in a link that apps take', () => {
    const secret = newTotpSecret();
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    expect(newTotpSecret()).not.toBe(secret);
    expect(totpUri(secret, 'ana@example.org')).toBe(
      `otpauth://totp/Holdfast%20Partner%3Aana%40example.org?secret=${secret}&issuer=Holdfast%20Partner`,
    );
  });
});
